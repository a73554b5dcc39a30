"""How people put what is worth remembering: a rule for each way of saying it."""

from __future__ import annotations

from .corrections import CORRECTIONS
from .progress import CHOICES, WHERE_IT_STANDS
from .wording import START, TO_YOU, VERBS, rule

_NOT_ORDERS_AFTER_ALWAYS = (
    r"(?!(?:been|a|an|the|nice|good|great|happy|glad|works?|worked|on|wanted|had|has|have|is|are|"
    r"was|were|seems?|fails?|failed|happens?|there|here|so|in|at|to|fun|someone|something|full|"
    r"ready|available|open|welcome|important|better|best|worth|tempting|possible|true)\b)"
    r"(?!\w+(?<!ne)(?<!fe)(?<!mb)(?<!ce)(?<!spe)ed\b)(?!\w+ing\b)"
)


_FACTS = (
    rule(
        "fact",
        "remember mind forget note reference information fyi",
        rf"{START}(?:please |also |just )*(?:remember|(?:keep|bear) in mind|don't forget|"
        r"(?:make a |take )?note|fyi|for (?:future reference|your information)|just so you know)"
        r"(?: that\b|[:,](?: that)?) (?P<it>\S)",
    ),
    rule(
        "fact",
        "remember forget",
        rf"{START}(?:please |also |just )*(?:remember|don't forget) (?P<it>(?:my|our|i|i'm|"
        rf"we) \S.*)",
    ),
)
_OVER = r"(?:(?:over|away) )?(?:from [^.,;!?]{1,40} )?"
_DECISIONS = (
    rule(
        "decision",
        "decided agreed settled chose chosen picked opted resolved voted",
        r"(?:^|\b(?:so|and|but|that|since|because|as)[, ]+|[,;:.] |\b\w+ing,? |\w+ly,? |"
        r"discussion,? "
        r"|meeting,? |yesterday,? |today,? |end,? )(?P<it>(?:we|i|the team|our team|the board|"
        r"the group)"
        r"(?:'ve| have|'d)?"
        r"(?: (?:just|now|finally|all|already|both|also|then|ultimately|eventually|today|"
        r"jointly))*"
        r" (?:decided|agreed|settled|chose|chosen|picked|opted|resolved|voted)"
        r" (?!(?:yet|later|tomorrow)\b)\S)",
    ),
    rule(
        "decision",
        "let's",
        rf"{START}(?:please |ok(?:ay)?,? |yes,? |then )*(?P<it>let's "
        r"(?!\w+(?: \w+)? (?:this|that|it|these|those)(?: \w+)?[.!]*$)"
        r"(?:go (?:with|for|ahead with)|use|stick (?:with|to)|switch to|move to|adopt|"
        r"keep (?!\w+ing\b|it up\b|in touch\b|going\b)|drop|"
        r"settle (?:on|for)|standardi[sz]e on|call it|name it|target|pin|store|choose|pick|"
        r"avoid|not (?:use|support|do)|do without|postpone|cancel|schedule|host|build on|"
        r"base|rename|support|limit|cap|set|fix .{1,30} at|put)\b)",
        standing=True,
    ),
    rule(
        "decision",
        "we'll we're will are i'll i'm",
        r"(?:^|[,;:.] |\b(?:so|and|but|then) |"
        r"^(?:for|in|on) (?:(?:the|our|this|my) )?\w{1,30} )"
        r"(?P<it>(?:i(?:'m| am|'ll| will) (?:now |"
        r"definitely )*"
        rf"(?:going with|go with|switch(?:ing)? {_OVER}to|migrat(?:e|ing) {_OVER}to|"
        r"drop(?:ping)?)\b|"
        r"we(?:'re| are|'ll| will)(?: going to)?"
        r"(?: (?:now|just|all|definitely|officially|therefore))* (?:not )?"
        rf"(?:going with|go with|going for|be using|switch(?:ing)? {_OVER}to|"
        rf"mov(?:e|ing) {_OVER}to|migrat(?:e|ing) {_OVER}to|adopt(?:ing)?|"
        r"stick(?:ing)? (?:with|to)|"
        r"keep(?:ing)? (?:the|our|using|it (?!up\b))|drop(?:ping)?|standardi[sz](?:e|ing) on|"
        r"stay(?:ing)? (?:with|on)|settl(?:e|ing) (?:on|for)|replac(?:e|ing)|"
        r"use|support(?:ing)?|host(?:ing)?|launch(?:ing)? (?:with|in|on))\b))",
    ),
    rule(
        "decision",
        "stay stick keep go",
        r"(?:^|[,;:.] |\b(?:so|and|but|then|actually|well|okay|ok) )"
        r"(?P<it>we (?:stay|stick|go) (?:with|to) \S.*\b(?:after all|for now|from now on|instead))",
    ),
    rule(
        "decision",
        "decision decided agreed verdict conclusion resolution going",
        r"^(?:(?:the |our |my )?(?:final )?(?:decision|decided|agreed|verdict|conclusion|"
        r"resolution)"
        r"\s*(?::|\u2013|\u2014|-| is(?: to)?| was(?: to)?) |(?=going (?:with|for) ))(?P<it>\S)",
    ),
    rule(
        "decision",
        "decided settled agreed opted",
        rf"{START}(?:finally |just |now |also )*(?P<it>(?:decided (?:to|on|for|against)|"
        r"settled on|agreed (?:to|on)|opted for) (?!(?:it|that|this|them)\b)\S)",
    ),
    rule(
        "decision",
        "decided settled agreed",
        r"\bit(?:'s| is| was| has been) (?:decided|settled|agreed)(?: that)?[:,]? (?P<it>\S)",
    ),
)
_A_LANGUAGE = (
    r"(?:(?:british|american|plain|simple) )?(?:english|german|french|spanish|italian|portuguese"
    r"|dutch|polish|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish|swedish|danish"
    r"|norwegian|finnish|greek|hebrew|czech|ukrainian|vietnamese|latin|catalan)"
)
_FOR_A_TIME = r"(?:until|till|for|this|next|from|during) [^,.;!?]{1,40}"
_PREFERENCES = (
    rule(
        "preference",
        "answer reply respond talk speak",
        rf"^(?:(?:please|and|also|ok|so),? )*(?P<it>(?:{_FOR_A_TIME},? )?(?:please )?"
        r"(?:answer|reply|respond|talk|speak)(?: to me| back| only)? "
        rf"in {_A_LANGUAGE}(?:,? please)?(?: {_FOR_A_TIME})?[.!]*$)",
    ),
    rule(
        "preference",
        "always",
        rf"{START}(?P<it>{TO_YOU}always {_NOT_ORDERS_AFTER_ALWAYS}\w+ \S)",
        standing=True,
    ),
    rule(
        "preference",
        "prefer rather",
        r"(?:^|[,;:.] |\b(?:but|and|so|because|since|general|code|"
        r"\u00a4) )(?P<it>(?:in general,? |(?:in|for) [\w+#.]{1,20},? )?"
        r"(?:personally,? )?i(?:'d| would)?(?: (?:really|much|generally|usually|strongly|"
        r"personally|"
        r"still|always|definitely|tend to|do|very much))* (?:prefer|rather) \S)",
        standing=True,
    ),
    rule(
        "preference",
        "prefer",
        rf"{START}(?P<it>(?:(?:in|for|with) [\w+#. ]{{1,30}}, )?(?:please |always )*prefer \S)",
        standing=True,
    ),
    rule(
        "preference",
        "preference preferred favourite favorite",
        r"\bmy (?:(?:personal|strong|general) )?(?:preference|preferred [\w -]{1,30}?|"
        r"favou?rite [\w -]{1,40}?)(?: by far)? (?:is|are)\b (?!not clear)\S",
    ),
    rule(
        "preference",
        "now forward future henceforth",
        r"\b(?:from (?:now|here|today) on(?:wards?| out)?|going forward|moving forward|henceforth|"
        rf"in (?:the )?future)\b,?:? (?P<it>(?:please |only |all |every |you |i want |i'd like |"
        rf"(?:{VERBS})\b).*)",
        standing=True,
    ),
    rule(
        "preference",
        "now forward henceforth",
        rf"^(?P<it>(?:please )?(?:{VERBS})\b.*\b(?:from (?:now|here) on(?:wards)?|going forward|"
        r"henceforth)\b)",
    ),
    rule(
        "preference",
        "default general rule whenever every each time when any all if",
        r"^(?:(?:please|and|also),? )*(?P<it>(?:by default|in general|as a (?:general )?rule"
        r"(?: of thumb)?|(?:when|if) you (?:write|answer|reply|add|create|use|explain|review|name|"
        r"change|"
        r"generate|refer|need|show|give|make|format|commit|test|suggest|are unsure|touch|open|"
        r"cite|"
        r"quote|plan|book|translate|summari[sz]e)\b.{0,80}?|"
        rf"for (?:all|every|any) .{{1,40}}?), (?:please |always |only )*(?:{VERBS})\b .*)",
        standing=True,
    ),
    rule(
        "preference",
        "whenever every each time anytime",
        r"^(?:(?:please|and|also),? )*(?P<it>(?:whenever|(?:every|each|any) ?time) (?:you|i|we)\b"
        r".{1,80}?, (?!(?:i|we|it|you|he|she|they|the|this|that|there|my|our|a|an|nothing|"
        r"everything|something|and|but|or|so|no|not|let me)\b)\w+ \S.*)",
        standing=True,
    ),
    rule(
        "preference",
        "whenever every each time",
        rf"^(?:(?:please|and|also),? )*(?P<it>(?:{VERBS})\b.{{2,120}} (?:whenever you|(?:every|"
        rf"each)"
        r" time (?:you|i|we)|(?:before|after) (?:every|each)|in every|for every)\b.*)",
        standing=True,
    ),
    rule(
        "preference",
        "like love hate stand dislike want",
        r"(?:^|[,;:.] |\b(?:but|and|so) )(?P<it>i (?:really |do |just )?(?:"
        r"(?:like|love) (?:it (?:when|if)|my \w+|when you|having|your \w+ to)|"
        r"(?:don't|do not) (?:like|want) (?:it when|when|you to|to see|your|any|having)|"
        r"(?:hate|dislike|can't stand|cannot stand)(?: it when| when)?) \S)",
        standing=True,
    ),
    rule(
        "preference",
        "want like need",
        r"^(?P<it>(?:please,? )?i(?:'d| would)? (?:want|like|need) (?:you to .{3,100}"
        r"\b(?:before|whenever|each|every|when|after|always|first)\b|(?:all )?(?:your |the )?"
        r"(?:answers?|replies|responses|explanations|summaries|messages|comments|reports?) "
        r"(?:to be|in|as|without|with|short|brief)\b).*)",
        standing=True,
    ),
    rule(
        "preference",
        "keep make write give",
        rf"{START}(?P<it>(?:please )?(?:keep|make|write|give(?: me)?) (?:your |all |the )?"
        r"(?:answers?|replies|responses|explanations?|summar(?:y|ies)|commit messages?|messages|"
        r"comments|names|functions|tone) (?:\w+ )?(?:short|shorter|brief|concise|formal|informal|"
        r"simple|in \w+|as \w+|under \d+|to (?:one|two|three|a)|free of|small)\b.*)",
        standing=True,
    ),
    rule(
        "preference",
        "call address",
        rf"{START}(?P<it>(?:please )?(?:call me|address me as) "
        r"(?!later|back|when|tomorrow|at|on|if|crazy|out|in)\w)",
    ),
)
OF_USER = (*_FACTS, *_DECISIONS, *CORRECTIONS, *_PREFERENCES, *WHERE_IT_STANDS)
OF_ASSISTANT = (*CHOICES, *WHERE_IT_STANDS)
TRIED = frozenset(word for way in (*OF_USER, *OF_ASSISTANT) for word in way.words)

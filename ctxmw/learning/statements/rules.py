"""How people put what is worth remembering: a rule for each way of saying it."""

from __future__ import annotations

from .progress import CHOICES, WHERE_IT_STANDS
from .wording import rule

# Where a clause can begin, and what may stand before an instruction.
_START = r"(?:^|[,;:.!\u2013\u2014] |- |(?:^|, )(?:and|so|then) |\bbut )"
_TO_YOU = (
    r"(?:please |also |just |again,? |ok(?:ay)?,? |"
    r"(?:you|we) (?:should|must|have to|need to) |make sure (?:to |you |that you )|"
    r"be sure to |remember to |i(?:'d| would) (?:like|want) you to |i (?:want|need) you to |"
    r"from now on,? |going forward,? |in (?:the )?future,? )*"
)
_VERBS = (
    r"use|give|write|keep|put|add|show|answer|reply|respond|explain|run|make|ask|tell|name|call|"
    r"format|include|check|return|prefer|start|end|list|mark|tag|document|test|log|wrap|sort|"
    r"round|convert|translate|cite|mention|send|open|close|update|commit|push|create|generate|"
    r"choose|pick|limit|stick|follow|let (?!me\b|us\b)|set|treat|assume|store|save|leave|say|go|"
    r"take|do|begin|"
    r"summari[sz]e|read|look|define|declare|import|export|throw|raise|catch|validate|escape|book|"
    r"order|speak|talk|address|change|move|rename|remove|delete|replace|switch|split|skip|drop|"
    r"point|print|render|draw|build|deploy|merge|rebase|squash|pin|lock|cache|measure|count|order|"
    r"compare|sign|state|spell|quote|link|attach|cc|plan|schedule|remind|warn|highlight|"
    r"capitali[sz]e"
)
_NOT_ORDERS = (
    r"(?!(?:worry|bother|just|make me|waste|muck|know|think|forget|mind|get|have|want|need|care|"
    r"like|be|see|feel|remember|"
    r"understand|panic|hesitate|laugh|sweat|give up|you|we|they|i|it|even|really|expect|hear|find|"
    r"stress|rush|take it|tell me|ask me|look at me|go anywhere|seem|work|matter|believe)\b)"
    r"(?!\w+ (?:it|this|that|them|so)?[.!]*$)"
)
_NOT_ORDERS_AFTER_NEVER = (
    r"(?!(?:mind|again|had|have|has|seen|heard|been|knew|thought|ever|a|an|the|once|before|too|"
    r"really|quite|got|happened|works?|worked|said|gonna|felt|saw|met|did|fails?|failed|ends?|"
    r"in|on|at|to)\b)(?!\w+(?<!ne)(?<!fe)(?<!mb)(?<!ce)(?<!spe)ed\b)(?!\w+ing\b)"
)
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
        rf"{_START}(?:please |also |just )*(?:remember|(?:keep|bear) in mind|don't forget|"
        r"(?:make a |take )?note|fyi|for (?:future reference|your information)|just so you know)"
        r"(?: that\b|[:,](?: that)?) (?P<it>\S)",
    ),
    rule(
        "fact",
        "remember forget",
        rf"{_START}(?:please |also |just )*(?:remember|don't forget) (?P<it>(?:my|our|i|i'm|"
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
        rf"{_START}(?:please |ok(?:ay)?,? |yes,? |then )*(?P<it>let's "
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
        "decided settled agreed",
        r"\bit(?:'s| is| was| has been) (?:decided|settled|agreed)(?: that)?[:,]? (?P<it>\S)",
    ),
)
_DENIAL = (
    r"(?:wrong|incorrect|not quite|(?:that|this)(?:'s| is) (?:wrong|incorrect|not (?:right|"
    r"correct|"
    r"true|it|how we \w+(?: it)?(?: here)?|what i (?:meant|asked(?: for)?|wanted|said))))"
)
_CORRECTIONS = (
    rule(
        "correction",
        "never",
        rf"{_START}(?P<it>{_TO_YOU}never {_NOT_ORDERS_AFTER_NEVER}\w+ \S)",
        standing=True,
    ),
    rule(
        "correction",
        "we never",
        rf"{_START}(?P<it>we never (?:{_VERBS})\b)",
        standing=True,
    ),
    rule(
        "correction",
        "don't dont not",
        rf"{_START}(?P<it>{_TO_YOU}(?:do not|don't|dont|not to) (?:ever )?{_NOT_ORDERS}\w)",
        standing=True,
    ),
    rule(
        "correction",
        "shouldn't mustn't must should",
        rf"{_START}(?P<it>(?:you|we) (?:shouldn't|mustn't|must not|should not) \w+ \S)",
        standing=True,
    ),
    rule(
        "correction",
        "stop quit",
        rf"{_START}(?P<it>{_TO_YOU}(?:stop|quit) (?!being\b)\w+ing \S)",
        standing=True,
    ),
    rule("correction", "avoid", rf"{_START}(?P<it>{_TO_YOU}avoid \w+)", standing=True),
    rule(
        "correction",
        "no nope nah wrong incorrect right correct not",
        rf"^(?:no(?:,? no)*|nope|nah|{_DENIAL})[,.:;!\u2013\u2014 -]+(?!point\b)"
        rf"(?P<it>(?:please )?(?:(?:{_VERBS}|never|always|don't|it(?:'s| is| should)|i meant|"
        r"we (?:use|do|have|call|raise|keep|are|run|write|put|always|never|want|need|deploy|"
        r"store)|"
        r"they(?:'re| are)|he(?:'s| is)|she(?:'s| is)|there (?:is|are)|"
        r"you (?:should|must|need|have to))\b|"
        r"(?:the|our|my|its|his|her|their|that|this)\b.{1,60}"
        r"\b(?:is|are|was|were|should|has|have|lives?|runs?|goes|starts?|ends?|takes?|needs?|"
        r"happens?|expires?|comes?)\b)(?! (?:fine|good|ok|okay|all|great|it|perfect)\b)"
        r"(?!(?:that|this|it)'s (?:all|fine|good|ok|okay|great|it|perfect)\b).*)",
        contradicts=True,
    ),
    rule(
        "correction",
        "wrong incorrect right correct",
        rf"^{_DENIAL}[,.:;!\u2013\u2014 -]+(?P<it>(?:the|our|my|it|its|he|she|they|we|there|you)\b"
        r"(?: \S+){2,}.*)",
    ),
    rule(
        "correction",
        "wrong incorrect",
        r"\b(?:wrong|incorrect)\b[^,;:.]{0,60}[,;:.] "
        r"(?P<it>(?:it|that|this) should (?:be|have)\b.*)",
    ),
    rule(
        "correction",
        "not",
        rf"(?:^|[,;:.] )(?P<it>(?:please |actually,? |again,? )*(?:(?:{_VERBS})\b|it(?:'s| is)\b|"
        r"we (?:use|have|are|run|call|want|do|say|measure|count|ship|sell)\b|i (?:meant|said|"
        r"asked)\b|"
        r"(?:it|that|this) should be\b|(?:the|our|my) [\w\u00a4 -]{1,30}? (?:is|are|should be|was|"
        r"were|\w{2,}s)\b|"
        r"(?:he|she|they)(?:'s|'re| is| are)\b).{1,120}, (?:and )?not (?!only\b|just\b|yet\b|"
        r"sure\b|"
        r"even\b|a problem\b|bad\b|that\b)\S.*)",
    ),
    rule(
        "correction",
        "instead rather",
        rf"{_START}(?P<it>{_TO_YOU}(?:{_VERBS}) \S.{{0,120}}(?:instead(?: of\b.*|[.!]*$)|"
        r"rather than \S.*))",
        standing=True,
    ),
    rule(
        "correction",
        "told asked",
        r"\bi(?:'ve| have)?(?: already| just)? (?:told you|asked you)(?: (?:before|twice|"
        r"already))?"
        r" (?:that |to |not to )(?P<it>\S)",
    ),
    rule(
        "correction", "meant", r"^(?:no,? |sorry,? )*i (?:actually )?meant (?!to\b|well\b|it\b)\S"
    ),
    rule(
        "correction",
        "said mentioned told",
        r"^(?:like|as) i(?:'ve| have)?(?: already)? (?:said|mentioned|told you)(?: \w+){0,2}[,:] "
        r"(?P<it>\S)",
    ),
    rule("correction", "again", rf"^again[:,] (?P<it>(?:no |{_VERBS})\b.*)"),
    rule(
        "correction",
        "keep kept again still",
        r"\byou (?:(?:keep|kept) \w+ing|again \w+ed|(?:still|again) (?:forgot|forget|used?|put|"
        r"left))"
        r" \S",
    ),
    rule(
        "correction",
        "actually",
        r"^actually,? (?P<it>(?:we (?:use|have|run|are on|call)|it(?:'s| is)|use|"
        r"(?:the|our|my) [\w\u00a4 -]{1,40}? (?:is|are)) .*)",
    ),
)
_PREFERENCES = (
    rule(
        "preference",
        "always",
        rf"{_START}(?P<it>{_TO_YOU}always {_NOT_ORDERS_AFTER_ALWAYS}\w+ \S)",
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
        rf"{_START}(?P<it>(?:(?:in|for|with) [\w+#. ]{{1,30}}, )?(?:please |always )*prefer \S)",
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
        rf"(?:{_VERBS})\b).*)",
        standing=True,
    ),
    rule(
        "preference",
        "now forward henceforth",
        rf"^(?P<it>(?:please )?(?:{_VERBS})\b.*\b(?:from (?:now|here) on(?:wards)?|going forward|"
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
        rf"for (?:all|every|any) .{{1,40}}?), (?:please |always |only )*(?:{_VERBS})\b .*)",
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
        rf"^(?:(?:please|and|also),? )*(?P<it>(?:{_VERBS})\b.{{2,120}} (?:whenever you|(?:every|"
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
        rf"{_START}(?P<it>(?:please )?(?:keep|make|write|give(?: me)?) (?:your |all |the )?"
        r"(?:answers?|replies|responses|explanations?|summar(?:y|ies)|commit messages?|messages|"
        r"comments|names|functions|tone) (?:\w+ )?(?:short|shorter|brief|concise|formal|informal|"
        r"simple|in \w+|as \w+|under \d+|to (?:one|two|three|a)|free of|small)\b.*)",
        standing=True,
    ),
    rule(
        "preference",
        "call address",
        rf"{_START}(?P<it>(?:please )?(?:call me|address me as) "
        r"(?!later|back|when|tomorrow|at|on|if|crazy|out|in)\w)",
    ),
)
OF_USER = (*_FACTS, *_DECISIONS, *_CORRECTIONS, *_PREFERENCES, *WHERE_IT_STANDS)
OF_ASSISTANT = (*CHOICES, *WHERE_IT_STANDS)
TRIED = frozenset(word for way in (*OF_USER, *OF_ASSISTANT) for word in way.words)

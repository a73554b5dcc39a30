"""How people put where the work stands: what is done, what blocks it, what comes next."""

from __future__ import annotations

from .wording import rule

_WORK = (
    r"implemented|added|fixed|shipped|merged|deployed|released|refactored|migrated|finished|"
    r"completed|rewrote|rewritten|moved|renamed|removed|deleted|updated|upgraded|created|built|"
    r"wrote|written|documented|configured|installed|published|pushed|committed|closed|resolved|"
    r"replaced|converted|extracted|cleaned up|optimi[sz]ed|integrated|wired|enabled|disabled|"
    r"corrected|patched|reverted|rolled (?:out|back)|launched|sent|booked|ordered|submitted|"
    r"signed|scheduled|paid|ported|simplified|introduced|registered|drafted|prepared|"
    r"confirmed|switched|connected|archived|filed|delivered|handed (?:over|in)|tested|"
    r"verified|rebuilt|cleared|hooked up|sorted out|wrapped up|got .{1,40} (?:working|running)"
)
_WORK_OR_ORDER = r"set up|split|cut over"
"""Could as well be told to do."""
_NOT_BEFORE = (
    r"^(?!(?:if|when|once|after|before|since|because|until|as soon as|unless|although)\b)"
    r"(?!.*\b(?:but|yet|fails?|failing|broke|wrong)\b)"
)
_WORK_WORDS = (
    "done finished completed shipped fixed implemented added merged deployed released "
    "refactored"
    " migrated rewrote moved renamed removed deleted updated upgraded created built wrote"
    " documented configured installed published pushed committed closed resolved replaced"
    " converted extracted cleaned optimized optimised integrated wired enabled disabled "
    "corrected"
    " patched reverted rolled launched sent booked ordered submitted signed scheduled paid set"
    " ported simplified introduced registered drafted prepared confirmed switched connected"
    " archived filed delivered handed split tested verified hooked cut sorted wrapped got "
    "written"
    " rewritten"
)
WHERE_IT_STANDS = (
    rule(
        "blocked",
        "blocked stuck blocker blockers blocking blocks",
        r"^(?!.*\b(?:not|no longer|n't|isn't|aren't|whether|never)\b.{0,12}(?:blocked|stuck|block))"
        r"(?:(?:current |main |only )?block(?:er|ers|ed)(?: (?:by|on))?\s*(?::|\u2013|\u2014|-| is)"
        r" (?P<it>\S)|.*\b(?:i'm|i am|we're|we are|is|are|currently|still|remains?|been|work)"
        r"(?: (?:still|currently|now|completely|totally|also))* (?:blocked|stuck)"
        r" (?:by|on|with|until|because|at|in|since|waiting)\b|.*\bis (?:still )?blocking\b \S|"
        r".*\bblocking (?:us|me|everything)\b|"
        r".*\bblocks (?:us|me|the|our|everything)\b)",
    ),
    rule(
        "blocked",
        "can't cannot unable couldn't not",
        r"\b(?:i|we)(?:'m| am| are|'re)? (?:still )?(?:can't|cannot|can not|unable to|couldn't|"
        r"not able to) (?:\w+ )?(?:continue|proceed|go on|go ahead|move|start|finish|deploy|test|"
        r"run|"
        r"merge|release|ship|push|build|verify|complete|publish|work|do|send|book|order|launch)\b"
        r".*\b(?:until|before|because|without|as long as|since|unless|due to)\b",
    ),
    rule(
        "blocked",
        "waiting",
        r"(?:^|[,;:.] |\b(?:and|but|so) )(?P<it>(?:(?:i'm|we're|i am|we are) (?:still |currently |"
        r"all )*|"
        r"still |currently )waiting (?:for|on) \S.*)",
    ),
    rule(
        "next",
        "next",
        r"^(?:so |and |then )*(?:(?:the |my |our )?next (?:steps?|tasks?|up|action|"
        r"(?:thing )?on (?:the|my|our) (?:list|plate)|thing)(?: (?:is|are|will be|"
        r"for me is)(?: to)?)?\s*(?::|,|\u2013|\u2014|"
        r"(?<=is)|"
        r"(?<=are)|(?<=to)|(?<=be)) ?(?P<it>\S.*)|"
        r"next,? (?:we|i)(?:'ll| will| need| have|'m going| am going|'re going| should| must|"
        r"'d)\b)",
    ),
    rule(
        "next",
        "todo do follow remaining open left remains still missing",
        r"^(?:todo|to[ -]do|follow[- ]?up|remaining|remains|still (?:to do|open|missing|left)|"
        r"left to do|open (?:items?|points?|tasks?)|what(?:'s| is)? (?:remains|left)(?: to do)?)"
        r"\s*(?::|\u2013|\u2014| -| is| are) (?P<it>\S.*)",
    ),
    rule(
        "next",
        "still",
        r"(?:^|[,;:.] |\b(?:and|but|so|then|now) )(?P<it>(?:we|i)(?:'ve)? still "
        r"(?:need(?: to)?|must|gotta|owe|(?:have|want|got) to) (?!(?:no|some) (?:idea|time)\b|"
        r"a (?:problem|lot)\b|lots\b"
        r"|problems\b|issues\b|the (?:same )?(?:problem|issue|error|bug)\b|errors?\b|"
        r"questions?\b)\S"
        r".*|(?:the|our|my|this|that)\b[^,;]{1,60} still needs? (?:to be|an?|some) \S.*)",
    ),
    rule(
        "next",
        "tomorrow week monday tuesday wednesday thursday friday afterwards later sprint weekend "
        "next",
        r"^(?!.*\b(?:will be|closed|off|holiday|next time|(?:see|call|show|tell|talk to|"
        r"let) you)\b)(?:.*\b(?:tomorrow|next (?:week|"
        r"sprint|monday|"
        r"tuesday|wednesday|thursday|friday)|on (?:monday|tuesday|wednesday|thursday|friday)|"
        r"afterwards|later today|this weekend)\b.*\b(?:i'll|i will|we'll|we will|i'm going to|"
        r"we're going to|(?:i|we) (?:need|have|want|plan) to)\b|(?=.*\b(?:i'll|i will|we'll|"
        r"we will|"
        r"i'm going to|we're going to|(?:i|we) (?:need|have|plan) to)\b.*\b(?:tomorrow|"
        r"next (?:week|"
        r"sprint|monday|tuesday|wednesday|thursday|friday)?|on (?:monday|tuesday|wednesday|thursday"
        r"|friday)|afterwards|later today|this weekend)\b))",
    ),
    rule(
        "done",
        _WORK_WORDS,
        rf"{_NOT_BEFORE}(?:(?:all )?done: (?P<it>\S.*)|"
        rf"(?:(?:also|just|finally|successfully|now),? )*(?:{_WORK})(?![\w-]| (?:by|width|size|"
        r"point|price|rate|length|value|values|to|with|in|on|from|hours?|time)\b) \S.*)",
        report=True,
    ),
    rule(
        "done",
        _WORK_WORDS,
        rf"{_NOT_BEFORE}(?:.*[,;:.] |(?:.*\b)?(?:and|so|then|today|yesterday|finally|morning|"
        r"done) )?(?:i|we)(?:'ve| have)?"
        r"(?: (?:just|now|already|also|finally|successfully|both|then|recently|all))* "
        rf"(?:{_WORK}|{_WORK_OR_ORDER})"
        r"(?! (?:that|if|up with|to|on|in|out|back|away|home|for|by)\b) \S.*",
    ),
    rule(
        "done",
        "is are has have been pass passes passed passing",
        r"^(?!(?:if|when|once|after|before|since|because|until|as soon as|unless|while)\b)"
        r"(?!.*\b(?:not|never|yet|until|once|if|will|should|must|needs?|almost|nearly|half|isn't|"
        r"aren't|hasn't|haven't|nothing|no|but|when|to be|unless|whether)\b)"
        r"(?:(?:the|our|my|all|that|this|everything|both|version|[a-z\u00a4][\w\u00a4.-]*)"
        r"(?: [\w\u00a4.,'/-]+){0,8}? (?:is|are) (?:now |finally |all |both |up and )*(?:done|"
        r"finished|"
        r"completed?|implemented|merged|deployed|fixed|live|shipped|in production|running again|"
        r"released|resolved|in place|up and running|booked|signed|submitted)\b|"
        rf"(?:the|our|my|all|that|this|everything|both)(?: [\w\u00a4.,'/-]+){{1,8}}? (?:has|have) "
        rf"(?:now |finally |all |just )*been (?:{_WORK})\b|"
        r".*\ball (?:\d+ |the |of the |unit |our )*tests (?:now |are |have )*pass(?:ed|ing)?\b)",
    ),
)
CHOICES = (
    rule(
        "decided",
        "decided chose opted went going settled picked decision",
        r"^(?!(?:if|once|when|before)\b)(?:.*[,;:.] |(?:so|and|here|therefore|instead) )?(?:(?:i|"
        r"we)"
        r"(?:'ve| have)? (?:therefore |instead |deliberately |also )*(?:decided|chose|opted|"
        r"went with|settled|picked)\b|(?:i'm|we're) going with\b|"
        r"(?:design )?decision: (?P<it>)) ?\S",
    ),
)

"""How people forbid something, and how they put something right."""

from __future__ import annotations

from .wording import START, TO_YOU, VERBS, rule

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
_DENIAL = (
    r"(?:wrong|incorrect|not quite|(?:that|this)(?:'s| is) (?:wrong|incorrect|not (?:right|"
    r"correct|"
    r"true|it|how we \w+(?: it)?(?: here)?|what i (?:meant|asked(?: for)?|wanted|said))))"
)
CORRECTIONS = (
    rule(
        "correction",
        "never",
        rf"{START}(?P<it>{TO_YOU}never {_NOT_ORDERS_AFTER_NEVER}\w+ \S)",
        standing=True,
    ),
    rule(
        "correction",
        "we never",
        rf"{START}(?P<it>we never (?:{VERBS})\b)",
        standing=True,
    ),
    rule(
        "correction",
        "don't dont not",
        rf"{START}(?P<it>{TO_YOU}(?:do not|don't|dont|not to) (?:ever )?{_NOT_ORDERS}\w)",
        standing=True,
    ),
    rule(
        "correction",
        "shouldn't mustn't must should",
        rf"{START}(?P<it>(?:you|we) (?:shouldn't|mustn't|must not|should not) \w+ \S)",
        standing=True,
    ),
    rule(
        "correction",
        "stop quit",
        rf"{START}(?P<it>{TO_YOU}(?:stop|quit) (?!being\b)\w+ing \S)",
        standing=True,
    ),
    rule("correction", "avoid", rf"{START}(?P<it>{TO_YOU}avoid \w+)", standing=True),
    rule(
        "correction",
        "no nope nah wrong incorrect right correct not",
        rf"^(?:no(?:,? no)*|nope|nah|{_DENIAL})[,.:;!\u2013\u2014 -]+(?!point\b)"
        rf"(?P<it>(?:please )?(?:(?:{VERBS}|never|always|don't|it(?:'s| is| should)|i meant|"
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
        rf"(?:^|[,;:.] )(?P<it>(?:please |actually,? |again,? )*(?:(?:{VERBS})\b|it(?:'s| is)\b|"
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
        rf"{START}(?P<it>{TO_YOU}(?:{VERBS}) \S.{{0,120}}(?:instead(?: of\b.*|[.!]*$)|"
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
    rule("correction", "again", rf"^again[:,] (?P<it>(?:no |{VERBS})\b.*)"),
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

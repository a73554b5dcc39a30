"""Which sentences state nothing: questions, suppositions, stories, and other people's words."""

from __future__ import annotations

import re


def is_no_statement(plain: str, words: frozenset[str]) -> bool:
    """Say whether a sentence asks, supposes, tells a story, or gives somebody else's words."""
    if plain.rstrip(" \"')*").endswith("?") or ASKS.match(plain):
        return True
    if UNREAL.search(plain) or _LONG_AGO.search(plain):
        return True
    return not words.isdisjoint(_REPORTING) and bool(
        _REPORTED.search(plain) and not _TOLD_BY_ME.search(plain)
    )


def is_supposed(plain: str) -> bool:
    """Say whether something is only supposed; what was so, but is otherwise now, is not."""
    if not SUPPOSED.search(plain):
        return False
    before = _USED_TO.search(plain)
    told = before and _BUT_NOW.search(plain, before.end())
    return not told or bool(SUPPOSED.search(_USED_TO.sub("", plain)))


ASKS = re.compile(
    r"""(?:(?:and|so|but|ok|okay|hey|also|well|hm+|wait|then)[, ]+)*
    (?: (?:should|can|could|would|does|did|is|are|was|were|has|have|had|will|which|who|whom
        |whose|where|why|how|may|shall|am|isn't|aren't|doesn't|didn't|won't|wouldn't|shouldn't
        |couldn't|haven't|hasn't|wasn't|weren't|any(?:one|body)?)(?![\w'])
      | what(?![ ](?:remains|is[ ]left|i[ ]meant|matters)\b|[\w'])
      | do[ ](?!not\b) | when[ ](?:do|does|did|is|are|will|should|can)\b | don't[ ](?:you|we
      |they)\b
    )""",
    re.VERBOSE,
)
UNREAL = re.compile(
    r"""\b(?: what[ ]if|suppos(?:e|ing)|imagine|pretend|hypothetical\w*|let's[ ]say|in[ ]theory
        |theoretical\w*|if[ ](?:we|i|you|they)[ ](?:had|were)|would[ ](?:be|have|need|mean|make)
        |might|maybe|perhaps|possibly|could|wonder(?:ing)?|thinking[ ](?:about|of)
        |consider(?:ing|ed)?|not[ ]sure|unsure|i[ ]guess|probably|for[ ](?:example|instance)|e\.g
        |one[ ](?:could|should|would)|whether|tempted|debating|leaning
        |i[ ](?:think|believe)[ ](?:we|i)[ ]should|in[ ]an?[ ](?:ideal|perfect)[ ]world )\b""",
    re.VERBOSE,
)
_REPORTED = re.compile(
    r"""\baccording[ ]to\b
      | \b(?:message|sign|comment|text|label|error|line|docs?|banner)[ ]reads\b
      | \bquot(?:ed|ing)\b
      | (?<!\bi[ ])(?<!\bwe[ ])(?<!\bnever[ ])(?<!\balways[ ])(?<!\bplease[ ])(?<!\bdon't[ ])
        (?<!\bnot[ ])\b(?:said|says?|told|tells?|wrote|claim(?:s|ed)?
        |recommend(?:s|ed)?|suggest(?:s|ed)?|complain(?:s|ed)?|warn(?:s|ed)?|insist(?:s|ed)?
        |argue[sd]?|advise[sd]?|preach(?:es|ed)?)\b""",
    re.VERBOSE,
)
_TOLD_BY_ME = re.compile(r"\b(?:i|we)(?:'ve| have)? (?:already |just )?(?:said|told|mentioned)\b")
_LONG_AGO = re.compile(
    r"""\b(?: last[ ](?:year|month|summer|winter|decade|century)|(?:years?|months?|decades?)[ ]ago
        |back[ ](?:then|when|in)|used[ ]to|(?:my|our)[ ](?:old|previous|former|last)[ ]\w+
        |in[ ]my[ ](?:old|previous)|once[ ]upon|when[ ]i[ ]was
        |in[ ](?:the|a|this|that)[ ](?:film|movie|book|novel|story|game|series|show|episode|dream)
        |a[ ](?:story|poem|song|joke|novel|tale)\b )""",
    re.VERBOSE,
)
FOR_NOW = re.compile(
    r"""\b(?: just[ ]this[ ]once|this[ ]time|for[ ](?:now|the[ ]moment|today|once)|right[ ]now
        |temporar\w+|only[ ](?:here|once|today|this)|today|tonight|yet|meanwhile
        |(?:in|for)[ ]this[ ](?:one|file|function|test|case|pr|line|task|example|snippet|demo
        |branch
          |commit|question|message|ticket|experiment|run|step|part|letter|mail|e-?mail|text|draft
          |slide|post|essay|document|page|paragraph|section|table|list|chapter|report|article
          |story|chat|thread|answer|reply|summary) )\b""",
    re.VERBOSE,
)
_REPORTING = frozenset(
    "according quote quoted quoting said say says told tell tells reads wrote claim claims claimed"
    " recommend recommends recommended suggest suggests suggested complain complains complained"
    " warn warns warned insist insists insisted argue argues argued advise advises advised preach"
    " preaches preached".split()
)
SUPPOSED = re.compile(
    r"""\b(?: what[ ]if|suppos(?:e|ing)|imagine|pretend|hypothetical\w*|let's[ ]say|in[ ]theory
        |if[ ](?:we|i|you|they)[ ](?:had|were|was)|maybe|perhaps|i[ ]guess|wonder(?:ing)?
        |thinking[ ](?:about|of)|not[ ]sure|unsure|tempted|debating|according[ ]to
        |used[ ]to[ ](?!it\b)
        |when[ ]i[ ]was|back[ ]then|in[ ]an?[ ](?:ideal|perfect)[ ]world )\b""",
    re.VERBOSE,
)
_USED_TO = re.compile(r"\bused to\b")
_BUT_NOW = re.compile(r"\b(?:but|now|these days|nowadays|so)\b")

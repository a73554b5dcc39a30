"""A statement, cut out of its sentence: without what leads up to it, and with its case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...text.prose import Sentence
from .stating_nothing import SUPPOSED
from .wording import Stated


@dataclass(frozen=True, slots=True)
class Statement:
    """Something stated, in the words it was stated in, without what leads up to it."""

    kind: Stated
    text: str
    said: str
    """The whole sentence."""
    part: str = ""
    """What of the sentence says it, where that says other things as well."""


def whole_sentence(said: str) -> str:
    """Return a sentence as it stands alone, without what leads up to it."""
    lead = _LEAD.match(said.lower())
    return capital(said[lead.end() if lead else 0 :].strip(_TRAILING))


def cut_out(sentence: Sentence, found: tuple[Stated, int, int]) -> Statement | None:
    """Return the part of a sentence that states something; None where it is only supposed."""
    kind, start, end = found
    text = sentence.text
    if SUPPOSED.search(sentence.plain):
        return None
    stated = text[start:end].strip(_TRAILING)
    return Statement(kind, capital(stated), text) if len(stated.split()) > 1 else None


def said_from(sentence: Sentence, found: re.Match[str]) -> str:
    """Return what is stated, or nothing when there is too little of it."""
    start = found.start("it") if "it" in found.re.groupindex and found["it"] is not None else 0
    if start and (case := _CASE.search(sentence.plain, 0, start)):
        # "At work, call me Mr. Smith" says nothing of other places.
        start = case.start("case")
    lead = _LEAD.match(sentence.plain, start)
    text = sentence.text[lead.end() if lead else start :].strip(_TRAILING)
    return capital(text) if len(text.split()) > 1 else ""


_TRAILING = " ,;:-\u2013\u2014"
_LEAD = re.compile(
    r"""(?:(?:ok|okay|yes|yeah|yep|no(?=[,.;:!])|nope|nah|please|and|but|so
        |also|then|again|thanks|thank[ ]you|great|good|nice|well|actually|hey|hi|alright|right
        |sure|cool|perfect|fine
        |one[ ]more[ ]thing
        |btw|by[ ]the[ ]way|fyi|correction|sorry)\b[,.:;!\u2013\u2014-]*[ ]+)+""",
    re.VERBOSE,
)


_CASE = re.compile(
    r"(?:^|[.;:!] |^(?:and|but|so|ok|okay),? )(?P<case>(?:at|in|on|when(?:ever)?|if|for|with|during"
    r"|while|before|after|around|among)\b"
    r"(?! (?:the )?(?:future|fact|general|short|case|moment|addition|second thoughts?|all|once|now"
    r"|that|the record)\b)[^,]{2,60}, (?:please )?)$"
)


def capital(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]

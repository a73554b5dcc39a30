"""Statements of one sentence taken apart: "I live in Porto and work as a nurse" says two things.

Each part must tell something by itself, with the subject it shares; what is one thought ("mac and
cheese", "X because of Y and Z") stays whole, and so does whatever is in doubt. What changes later
then takes the place of its own part only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..everyday.about_self import told_of_self
from ..everyday.clauses import is_adverb
from ..everyday.events import VERBS
from ..everyday.lexicon import ATTITUDES, HABITS, LEANINGS, STATES
from ..everyday.requests import standing_request
from .wording import Stated


@dataclass(frozen=True, slots=True)
class SaidPart:
    """One thing that is stated: as it stands alone, and as it was said."""

    kind: Stated
    text: str
    said: str


def parts_of(kind: Stated, text: str, *, added: int = 0) -> list[SaidPart]:
    """Return what a statement says, one thing each; a statement of one thing as it is.

    `added` is how much of the text was put in front of what was said.
    """
    bound = _REASON.search(text)
    joints = _JOINT.finditer(text, 0, bound.start() if bound else len(text))
    for joint in () if _QUOTES.search(text) else joints:
        first, rest = text[: joint.start()], text[joint.end() :]
        subject = _subject_for(first, rest)
        if subject is None:
            continue
        one, other = _kind_of(first), _kind_of(subject + rest)
        if one and other and not _goes_with((first, one), (rest, other), subject):
            left = SaidPart(one, _sentence(first), first[added:])
            return [left, *parts_of(other, _sentence(subject + rest), added=len(subject))]
    return [SaidPart(kind, text, text[added:])]


_JOINT = re.compile(
    r",? (?:and|but) (?:also )?(?=\w)|; (?=\w)|, (?=(?:I|I'm|I\u2019m|I've|my|we|we're|our)\b)",
)
# What comes behind one of these may belong to it.
_REASON = re.compile(
    r"\b(?:because|since|that|who|which|whose|so|when|whenever|while|if|unless|although|though|"
    r"where|until|due to|even|whether|as well as|both|either|neither|than|between|instead|with)\b",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"`\u201c\u201d]|(?<!\w)'[^']{1,60}'(?!\w)")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|them|they|their|this|that|these|those|there|too|so|either|one|ones|same|such|"
    r"instead|neither|otherwise|he|she|his|her|him)\b",
    re.IGNORECASE,
)
_WEIGHS = re.compile(
    r"\b(?:prefer\w*|rather|only|not|instead|always|never|avoid|try|tend|stick)\b", re.IGNORECASE
)
_DENIES = re.compile(
    r"n['\u2019]t\b|\b(?:not|never|no|cannot|avoid|stop|without|no longer)\b", re.IGNORECASE
)
_OWN = re.compile(r"(?:I|I['\u2019](?:m|ve)|my|we|we['\u2019](?:re|ve)|our)\b", re.IGNORECASE)
_IS = re.compile(r"(?:I['\u2019]m|I am|We['\u2019]re|We are)\b", re.IGNORECASE)
_IS_OR_HAS = re.compile(rf"{_IS.pattern}|(?:I|We)(?:['\u2019]ve| have)\b", re.IGNORECASE)
_WHO = re.compile(r"(?:I|We)(?=['\u2019 ])", re.IGNORECASE)
_TAKES = re.compile(
    rf"(?:(?:{'|'.join(sorted(STATES))})(?=[.,!]*$|,? (?:to|since|for|by|from|and|but)\b)"
    rf"|(?:{'|'.join(sorted(LEANINGS))}) (?:of|to|about|in|on|with|at|for|by|from)\b"
    r"|an? (?!bit|lot|little|few)\w|from [A-Z]|\d{1,2}(?: years old)?[.,!]*$)",
)


def _subject_for(first: str, rest: str) -> str | None:
    """Return what must stand before the rest so that it stands alone; None when it cannot."""
    if _POINTS_BACK.search(rest):
        return None
    if _OWN.match(rest):
        return ""
    if standing_request(rest.lower()) and standing_request(first.lower()):
        return "" if not _DENIES.search(first) or _DENIES.search(rest) else None
    who = _WHO.match(first)
    # "I don't eat meat and drink milk" may say no to both.
    if who is None or _DENIES.search(first):
        return None
    words = rest.lower().split()
    verb = next((word.strip(".,!") for word in words if not is_adverb(word)), "")
    if verb in _SAID_OF_ONESELF and len(words) > 1:
        return f"{who[0]} "
    # A preposition may reach over the "and": "a fan of jazz and a cappella".
    reaches = re.match(r"an? ", rest) and re.search(r" (?:of|in|at|for|to|on|about) ", first)
    being = _IS.match(first)
    return f"{being[0]} " if being and _TAKES.match(rest) and not reaches else None


_SAID_OF_ONESELF = (HABITS | VERBS | ATTITUDES | {"speak", "have", "don't", "can't"}) - {
    "like", "value", "fear", "support", "come", "was", "were", "treasure", "champion",
}  # fmt: skip


def _kind_of(text: str) -> Stated | None:
    plain = text.lower()
    told = told_of_self(text, plain)
    if told is not None:
        # The whole of it must tell it, and not a clause at its end.
        return told[0] if told[1] == 0 else None
    asked = standing_request(plain)
    return asked[0] if asked and not _OWN.match(text) else None


def _goes_with(one: tuple[str, Stated], other: tuple[str, Stated], subject: str) -> bool:
    """Say whether a liking goes with what is told before: "dislike flying and prefer trains".

    So does what follows from what somebody is or has: "allergic to wool and avoid woolens".
    """
    (first, before), (rest, liking) = one, other
    if liking == "fact" or _IS.match(rest):
        return False
    if before == "fact":
        return bool(_WEIGHS.search(rest) and _IS_OR_HAS.match(first))
    return bool(subject or _WEIGHS.search(rest)) and bool(subject or _OWN.match(rest))


def _sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:].rstrip(" ,;")
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."

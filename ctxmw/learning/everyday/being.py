"""What people are and have: a calling, a faith, an illness, a family, told by noun or adjective."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clauses import Told, is_adverb, points_back
from .events import EVENT
from .lexicon import DOING, FLEETING, LEANINGS, POSSESSED, STATES


def told_of_being(text: str, plain: str, words: Sequence[str], *, ours: bool) -> Told | None:
    """Return what "I am ..." tells of the speaker; `ours` says that it is "we are ..."."""
    after = [word for word in words if not is_adverb(word) or word == "only"]
    negated = after[:1] == ["not"]
    after = after[negated:]
    if not after:
        return None
    if any(word in STATES for word in after[: 2 if ours else 3]) and not after[0].endswith("ing"):
        return "fact"
    if _EXPECTS.search(plain):
        return "fact"
    if ours:
        return "fact" if after[0] in ("a", "an") and _US.search(plain) else None
    if _AGE.search(plain) or _is_name(text):
        return "fact"
    return _of_leaning(plain, after, negated=negated) or _of_place_or_calling(plain, after)


def _of_leaning(plain: str, after: Sequence[str], *, negated: bool) -> Told | None:
    head, following = after[0], after[1] if len(after) > 1 else ""
    if head in ("into", "against") and following and not points_back(after[1:]):
        return "preference"
    if head == "interested" and _STARTING.search(plain):
        return None
    if following == "to" and head not in _TO and not negated:
        return None
    if head in LEANINGS and following in _LINKS and not points_back(after[2:]):
        return "fact" if head == "based" else "preference"
    return "preference" if head.endswith("-conscious") or following == "person" else None


def _of_place_or_calling(plain: str, after: Sequence[str]) -> Told | None:
    head, following = after[0], after[1] if len(after) > 1 else ""
    if head in ("a", "an", "the"):
        return _of_calling(after)
    if head in ("on", "in", "from", "originally", "hard", "more"):
        return _of_place(plain)
    lasting = head in DOING and following not in ("", "on") and not points_back(after[1:])
    lasting = lasting or bool(_LOOKED_FOR.search(plain))
    return "fact" if lasting else None


_EXPECTS = re.compile(
    r"\bexpecting (?:(?:our|my|an?|another) )?(?:\w+ )?(?:child|baby|twins|kid|son|daughter|girl|boy)\b"
    r"|\b(?:hoping|planning|trying) to (?:retire|emigrate|live \w|become an?|get pregnant"
    r"|have (?:a baby|children|kids)|lose \w+ (?:kilos|kg|pounds)|quit \w+ing)"
)
_LOOKED_FOR = re.compile(
    r"\b(?:looking for|hunting for|searching for|saving up for|saving for) an? (?:[\w-]+ ){0,2}"
    r"(?:job|flat|house|apartment|home|place to (?:live|rent)|room|roommate|flatmate|nanny|car"
    r"|apprenticeship|internship)\b"
)
_STARTING = re.compile(
    r"\binterested in (?:(?:starting|exploring|trying|buying|finding|getting|hearing|knowing|"
    r"joining|"
    r"visiting|taking|seeing|learning (?:more|about|how))\b|your|some\b)"
)
_US = re.compile(r"\b(?:team|family|couple|company|startup|household) of\b")
_TO = frozenset(
    "averse sensitive opposed committed dedicated devoted used prone accustomed drawn attached"
    " loyal"
    " allergic addicted faithful susceptible vulnerable indifferent".split()
)
_LINKS = frozenset("of to about in on with at for by against from around".split())
_AGE = re.compile(
    r"\bi(?:'m| am) \d{1,2}(?: years old| y/?o)?(?:[.,!]*$| and (?!\d))|\b\d{1,2} years old\b"
)


def _of_calling(words: Sequence[str]) -> Told | None:
    kind = words[1] if len(words) > 1 else ""
    if kind in ("", "bit", "little", "few", "lot", "moment", "mess"):
        return None
    return "preference" if _LIKING & set(words[:7]) else "fact"


_LIKING = frozenset(
    "fan lover believer advocate person supporter opponent enthusiast foodie".split()
)
_PLACE = re.compile(
    r"\b(?:on (?:a|an|the) (?:[\w-]+ )*(?:diet|pill|waiting list|spectrum)|on (?:medication|"
    r"antidepressants|insulin|"
    r"disability|parental leave|maternity leave)|in (?:a wheelchair|recovery|therapy|remission|my "
    r"(?:teens|twenties|thirties|forties|fifties|sixties|seventies))|in (?:favou?r of)|"
    r"(?:originally )?from \w+|hard of hearing|more of an? |against \w+|based in)\b"
)


def _of_place(plain: str) -> Told | None:
    found = _PLACE.search(plain)
    if not found:
        return None
    return "preference" if re.match(r"more|against|in fav|on a", found[0]) else "fact"


def _is_name(text: str) -> bool:
    """Say whether somebody tells their name: "I'm Priya"."""
    found = _NAME.match(text)
    return found is not None and not found[1].isupper()


_NAME = re.compile(r"(?:I'm|I am) ([A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+){0,2})(?=[.,!]|$)")


def told_of_having(plain: str, words: Sequence[str], *, ours: bool) -> Told | None:
    """Return what "I have ..." tells of the speaker; `ours` says that it is "we have ..."."""
    after = [word for word in words if not is_adverb(word)]
    if not after:
        return None
    if EVENT.search(plain) and not _NOT_YET.search(plain):
        return "fact"
    if after[0] == "been":
        return "fact" if _BEEN.search(plain) else None
    if after[0].endswith("ed") or after[0] in _PARTICIPLES:
        return None
    if after[0] == "no":
        return "preference" if _HAVE_NO.search(plain) else None
    noun = _first_noun(after)
    if ours and noun not in _SHARED:
        return None
    if noun is None:
        return "fact" if _AILS.search(plain) else None
    return "preference" if noun in _LIKING_NOUNS else "fact"


_NOT_YET = re.compile(r"\b(?:have|'ve) (?:not|never|to)\b|\byet\b")
_SHARED = frozenset(
    "son sons daughter daughters kid kids child children baby twins dog dogs cat cats pet pets"
    " parrot rabbit rabbits horse horses chickens puppy kitten garden house apartment flat"
    " farm".split()
)
_BEEN = re.compile(r"\bbeen (?:an?|\w+(?:ing|an))\b.*\b(?:for|since)\b|sober|married|divorced")
_HAVE_NO = re.compile(
    r"\bno (?:\w+ )?(?:interest|patience|time|desire|taste|tolerance|use|appetite|stomach)\b"
    r".* (?:in|for|to)\b"
)
_AILS = re.compile(
    r"\b(?:respiratory|breathing|joint|knee|back|skin|health|heart|digestive|stomach|sensory|"
    r"mobility|"
    r"hearing|vision|sleep|mental health|anger|balance|kidney|thyroid|blood pressure|chronic) "
    r"(?:issues|problems|pain|conditions?|troubles?)\b|\bhigh blood pressure\b|\bchronic \w+\b"
)
_PARTICIPLES = frozenset(
    "told set got chosen heard read seen done made written put found had".split()
)
_LIKING_NOUNS = frozenset(
    "aversion preference dislike hatred distaste passion interest objection bias weakness policy"
    " patience love penchant taste tooth appetite affinity reservations qualms habit".split()
)


def _first_noun(words: Sequence[str]) -> str | None:
    """Return the noun of what one has, when it is one for long."""
    for word in words[:8]:
        if word in FLEETING or word in ("to", "you", "it", "that", "this", ",", ";"):
            return None
        if word in POSSESSED:
            return word
    return None

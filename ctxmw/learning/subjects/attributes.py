"""What of a person a statement tells: their car, their diet, their home, their work, a goal.

A person holds one value of most of these at a time. Who says that something changed, and names a
thing of the same kind, replaces what was said of it: "Coffee is what I prefer now" after "I'm a tea
person". Whose it is must be the same, and so must the case: who uses Vim on servers may use another
editor for a project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...text.terms import content_terms
from .endings import adds, plain_words, says_it_changed
from .forms import KIN
from .kinds import (
    HELD_ALONE,
    NEEDS_NO_WORD,
    OF_REQUESTS,
    PREFERRED,
    YES_OR_NO,
    named_kinds,
    words_of_kinds,
)

_ME = frozenset("i we me us".split())
_NO = frozenset(
    "not never no hate avoid dislike skip without refuse loathe detest quit stopped off fear afraid"
    " scared stop against except zero".split()
)
_TURNS_ROUND = frozenset("over overcame conquered lost".split())
"""Who is over the fear of something says yes to it."""
_PREFERS = frozenset(
    "prefer prefers favourite favorite person mostly only mainly exclusively fan go-to rather"
    " always instead nothing all best lover".split()
)
_DAYS = frozenset(
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays monday tuesday wednesday"
    " thursday friday saturday sunday weekends weekdays morning mornings evening evenings lunch"
    " night nights breakfast dinner".split()
)
_CASES = frozenset("for at on in during when with before after while".split())
_APART = frozenset("work company second other spare old office home's school".split())
_ENDS_CASE = frozenset(", ; : . ! and so because but now instead again for at on since".split())


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a statement tells of whom, as far as words for it are known."""

    owner: str = ""
    """Whose it is: "" for the speaker, else "wife" or "brother sam"."""
    things: frozenset[tuple[str, str, bool]] = frozenset()
    """What it names: the kind, the word, and whether it says yes to its kind."""
    aspects: frozenset[str] = frozenset()
    """What of a life it tells: "home", "work"."""
    case: frozenset[str] = frozenset()
    """Stems of what it is limited to."""
    goal: frozenset[str] = frozenset()
    """Stems of what is looked for, saved for, or trained for."""
    reached: frozenset[str] = frozenset()
    """Stems of what was found, or bought, or is done."""
    prefers: bool = False
    """Whether it prefers what it names to others of its kind."""
    changes: bool = False
    """Whether it says that something is otherwise than before."""
    adds: bool = False
    """Whether it says that it comes beside something else."""
    terms: frozenset[str] = frozenset()
    """Stems of all its words."""

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(kind for kind, _, _ in self.things)

    @property
    def may_change(self) -> bool:
        """Whether something that is known may have to go for it, though nothing says so."""
        return bool(self.reached or self.kinds & NEEDS_NO_WORD)

    def is_beside(self, other: Attributes) -> bool:
        """Say whether it is somebody else's, or for another case."""
        apart = self.case and other.case and not self.case & other.case
        return self.owner != other.owner or bool(apart)


NOTHING_TOLD = Attributes()


def attributes_of(text: str) -> Attributes:
    """Return what a statement tells of whom."""
    words = plain_words(text)
    things = frozenset(_things(words))
    return Attributes(
        owner=_owner(words),
        things=things,
        aspects=frozenset(_aspects(text, words)),
        case=frozenset(_case(words)),
        goal=frozenset(_goal(words, _SEEKS)),
        reached=frozenset(_goal(words, _REACHED)),
        prefers=not _PREFERS.isdisjoint(words),
        changes=says_it_changed(words),
        adds=adds(words),
        terms=frozenset(content_terms(text)),
    )


def changed_attribute(new: Attributes, old: Attributes) -> str:
    """Return why what is told of somebody takes the place of what was; "" when it does not."""
    if new.owner != old.owner:
        return ""
    if old.goal and new.reached & old.goal:
        return "says that it is done"
    if any(_turned(new, old, NEEDS_NO_WORD)):
        return "says something else of the same"
    if not new.changes or (new.case and old.case and not new.case & old.case):
        return ""
    if new.aspects & old.aspects:
        return "says that it changed"
    return "names another of its kind" if any(_turned(new, old, new.kinds)) else ""


def may_differ(new: Attributes, old: Attributes) -> bool:
    """Say whether two statements name different things where mostly one is had, or preferred.

    Nothing says that anything changed, so both hold; which was said later is worth knowing.
    """
    if new.adds or new.is_beside(old):
        return False
    return bool(new.aspects & old.aspects) or any(_turned(new, old, new.kinds))


def _turned(new: Attributes, old: Attributes, of: frozenset[str]) -> Iterator[bool]:
    for kind in new.kinds & old.kinds & of:
        ours = {(word, yes) for of, word, yes in new.things if of == kind}
        theirs = {(word, yes) for of, word, yes in old.things if of == kind}
        if kind in YES_OR_NO:
            yield {yes for _, yes in ours}.isdisjoint(yes for _, yes in theirs)
        elif kind in HELD_ALONE or (kind in PREFERRED and new.prefers and old.prefers):
            now, then = ({word for word, yes in one if yes} for one in (ours, theirs))
            # What is said for some cases leaves alone what holds for all of them.
            limited = bool(new.case - old.terms) and not old.case
            yield bool(now - then) and not limited


def _owner(words: Sequence[str]) -> str:
    """Return whose it is: what a relative does is not the speaker's."""
    for at, word in enumerate(words):
        if word in _ME:
            return _for_whom(words)
        if word in ("my", "our"):
            rest = list(words[at + 1 : at + 4])
            own = next((place for place, one in enumerate(rest) if one in KIN), None)
            if own is not None and words[at + own + 2 : at + own + 4] != ["and", "i"]:
                follows = words[at + own + 3 : at + own + 5]
                return "" if follows == ["and", "i"] else rest[own]
            if rest and rest[0].removesuffix("'s") in KIN:
                return rest[0].removesuffix("'s")
            return _for_whom(words)
        if word in ("she", "he", "they"):
            return "" if {"me", "us"} & set(words) else "others"
    return ""


def _for_whom(words: Sequence[str]) -> str:
    for at, word in enumerate(words[:-2]):
        if word == "for" and words[at + 1] in ("my", "our") and words[at + 2] in KIN:
            return words[at + 2]
    return ""


def _things(words: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    for kind, word, at, yes in named_kinds(words):
        if kind in NEEDS_NO_WORD and not _OF_STATUS & set(words):
            continue
        clause = _clause(words, at)
        if kind in HELD_ALONE and not _NOT_HAD.isdisjoint(clause):
            continue
        no = not _NO.isdisjoint(clause) and _TURNS_ROUND.isdisjoint(clause)
        yield kind, word, yes is not no


_NOT_HAD = frozenset(
    "rented borrowed tried trying test tested saw seen see want wants wish considering consider"
    " looking thinking dream dreaming repaired fixed washed parked visited heard read about"
    " recommend compare comparing".split()
)
"""Who rents a car for a day has it no longer than that."""
_OF_STATUS = frozenset("am are got get been being have".split())


def _clause(words: Sequence[str], at: int) -> Sequence[str]:
    """Return the words around a place up to the next commas."""
    start = next((one for one in range(at - 1, -1, -1) if words[one] in _BREAKS), -1)
    end = next((one for one in range(at, len(words)) if words[one] in _BREAKS), len(words))
    return words[start + 1 : end]


_BREAKS = frozenset(", ; : ! but so and because".split())


def _case(words: Sequence[str]) -> Iterator[str]:
    """Yield the stems of what a statement is limited to: "for the project", "on Mondays"."""
    named_at = {at for _, _, at, _ in named_kinds(words)}
    for at, word in enumerate(words):
        if word in _DAYS and at not in named_at:
            yield word.removesuffix("s")
        if word in _APART and at and words[at - 1] in ("my", "our", "the"):
            yield word
        if word in _CASES and at and words[at - 1] != "traded":
            end = at + 1
            while end < min(len(words), at + 5) and words[end] not in _ENDS_CASE:
                end += 1
            named = words[at + 1 : end]
            if word in ("in", "with", "when", "after", "before") and _DAYS.isdisjoint(named):
                continue
            if not named_kinds(named) and _NO_CASE.isdisjoint(named):
                yield from content_terms(" ".join(named))


_NO_CASE = frozenset(
    "reason good me us now sure instance example while year years month months week weeks hour"
    " hours minutes day days all once ages long everything everyone life fun average top one two"
    " three four five six seven eight nine ten eleven twelve".split()
)
"""Words of what is said of time, or of everything."""

_SEEKS = (
    ("looking", "for"), ("searching", "for"), ("hunting", "for"), ("saving", "for"),
    ("saving", "up", "for"), ("training", "for"), ("preparing", "for"), ("planning",),
    ("applying", "for"), ("waiting", "for"), ("want", "to", "buy"), ("hoping", "for"),
    ("trying", "to", "find"), ("working", "on"), ("shopping", "for"),
)  # fmt: skip
_REACHED = (
    ("found",), ("bought",), ("signed", "for"), ("signed",), ("got", "the"), ("got", "a"),
    ("finished",), ("completed",), ("ran", "the"), ("passed",), ("gave", "up", "on"),
    ("called", "off"), ("cancelled",), ("done", "with"), ("moved", "into"), ("settled", "on"),
)  # fmt: skip


def _goal(words: Sequence[str], forms: Sequence[tuple[str, ...]]) -> Iterator[str]:
    said = set(words)
    for form in forms:
        if form[0] not in said:
            continue
        for at in range(len(words) - len(form)):
            if tuple(words[at : at + len(form)]) == form:
                rest = words[at + len(form) : at + len(form) + 5]
                end = next((n for n, one in enumerate(rest) if one in _GOAL_ENDS), len(rest))
                found = content_terms(" ".join(rest[:end]))
                yield from (term for term in found if term not in _NO_GOAL)


_NO_GOAL = frozenset(content_terms("something anything new thing one good great time way"))
_GOAL_ENDS = frozenset(", ; : . ! and so of to near in on because that which with".split())

_HOME = re.compile(
    r"\b(?:[Ii]|[Ww]e)(?:'ve| have|'m| am|'re| are)?(?: all| both| now| currently| still| just"
    r"| finally| been| recently)* (?:(?:live|living|rent|renting|based|settled)"
    r"(?: up| over| down| out)? (?:in (?!(?:an?|the|my|our)\b)|near |there|here)"
    r"|(?:moved|relocated|emigrated)(?: back| over| up| down)?(?: from [A-Z]\w+)? to [A-Z]"
    r"|bought a (?:place|house|flat) in [A-Z]|took (?:the|a) job in [A-Z])"
)
_JOBS = (
    "nurse teacher doctor engineer developer programmer lawyer chef cook student carpenter plumber"
    " electrician accountant architect designer writer journalist scientist researcher manager"
    " consultant analyst librarian pharmacist dentist vet paramedic firefighter pilot driver"
    " mechanic farmer baker barista waiter cashier salesman actor musician painter photographer"
    " translator editor freelancer entrepreneur founder intern apprentice professor lecturer tutor"
    " therapist psychologist technician"
)
_WORK = re.compile(
    r"(?:\b(?:i|i am|i'm|i've been|we)|\bi\b[\w ]{2,40} and)"
    r"(?: now| currently| still| just| also| since)* "
    r"(?:work(?:ing)? (?:as|at|for|in)\b|study(?:ing)? (?!for|spanish|french|german)|studying"
    r"|teach(?:ing)? (?!my|him|her|them|you|it)\w|training to (?:be|become)"
    r"|the (?:lead|head|manager) of|retired|unemployed"
    rf"|an? (?:\w+ )?(?:{_JOBS.replace(' ', '|')})\b|doing an? (?:degree|phd|apprenticeship))"
    r"|\b(?:i|i've|i have)(?: just| recently| finally)? (?:retired|graduated|joined|became"
    r"|changed (?:my|our) (?:major|subject|degree|job|career)|switched (?:majors|careers|jobs)"
    r"|dropped out|left (?:my job|nursing|teaching)|quit my job|got promoted|started (?:at|as)"
    r"|been (?:promoted|hired|laid off)|got (?:a new|the|a) job)"
    r"|\bmoved me to the\b|\bmy (?:new )?(?:job|employer|title|profession) is\b"
)
_BESIDE = re.compile(
    r"\b(?:volunteer\w*|part-time|on the side|besides|from home|at night|in the evenings?"
    r"|(?:at|on) (?:weekends?|saturdays|sundays))\b"
)


def _aspects(text: str, words: Sequence[str]) -> Iterator[str]:
    lower = text.lower()
    moved_to = {kind for kind in (one[0] for one in named_kinds(words)) if kind in HELD_ALONE}
    if _HOME.search(text) and not moved_to - {"car"}:
        yield "home"
    if _WORK.search(lower) and not _BESIDE.search(lower):
        yield "work"


def is_request(of: Attributes) -> bool:
    """Say whether it names what is asked of answers: it needs no "I" to be the speaker's."""
    return bool(of.kinds & OF_REQUESTS)


def words_to_look_up(of: Attributes) -> list[str]:
    """Return words by which others that tell the same of somebody are found."""
    told = [word for aspect in sorted(of.aspects) for word in _LOOKED_UP[aspect]]
    return [*told, *words_of_kinds(of.kinds if of.changes else of.kinds - PREFERRED)]


_LOOKED_UP = {
    "home": ("live", "living", "based", "rent", "moved"),
    "work": ("work", "study", "job", "student", "training", "lead", "employer", *_JOBS.split()),
}

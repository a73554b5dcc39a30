"""What is asked: a query as far as it can be read without a model, and which records may answer it.

Words, names, dates and kind are read from the query; types, scopes, times and what is in view
already are the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from ..runtime.deadline import Deadline
from ..text.cleaning import words
from ..text.lexicon import FRAME_WORDS, MONTHS, RELATED, SMALL_TALK, STOP_WORDS, WEEKDAYS
from ..text.patterns.late import late_pattern
from ..text.phrases import (
    ABOUT_YOU,
    ANSWER_SHAPES,
    ASKS,
    ASKS_BROADLY,
    ASKS_LATEST,
    FIRST_PERSON,
    QUOTED,
)
from ..text.terms import QUERY_CHARS, content_terms, stem, stems
from ..values.budget import Appetite
from ..values.items import Scope
from ..values.records import RECORD_TYPES
from ..values.situation import Situation
from .lexical.people import People

if TYPE_CHECKING:
    from .feedback import Sway
    from .lexical.index import Bools, LexicalIndex

_REQUEST = late_pattern(
    r"^\W{0,4}(?:(?:hi|hey|hello|ok|okay|please|now|then|also)[ ,]{1,3}){0,3}"
    r"(?:(?:can|could|would|will) you (?:please )?|help me (?:to )?|let's |"
    r"i(?: want|'d like| would like| need) (?:you )?to )?"
    r"(?P<verb>add|build|calculate|change|compose|compute|convert|create|describe|design|draft|"
    r"explain|find|fix|generate|implement|prepare|recommend|refactor|rewrite|show|suggest|translate|"
    r"update|write)\b",
    re.IGNORECASE,
)
"""What somebody wants done, with which other requests begin as well, whatever they are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, read."""

    terms: tuple[str, ...]
    """Stems of its words, without speakers' names and the words around its subject."""
    related: tuple[str, ...]
    """Stems of words that often stand for those."""
    phrases: tuple[tuple[str, ...], ...]
    """Stems of words that stand in quotes, phrase by phrase."""
    person: str | None
    """The one speaker it names."""
    names: frozenset[str]
    """Stems of what it writes with a capital within a sentence: "a party for Tomas"."""
    months: frozenset[Month]
    years: frozenset[int]
    days: tuple[date, ...]
    shape: str | None
    """What it asks for: "when", "number" or "where"."""
    broad: bool
    """Whether it asks for an overview or an order of events."""
    latest: bool
    """Whether it asks how things stand now."""
    subject: frozenset[str]
    """Those of its terms that are no small talk; empty for thanks, greetings and the like."""
    asks: bool
    """Whether it is put as a question or a request, and not only said."""
    to_you: bool
    """Whether it is about the one who answers, and not about who asks: "how old are you?"."""
    goes_on: bool
    """Whether it tells what somebody is at, and does not only ask what was said: "I'm back. Let's
    finish the plan."."""


def analyse(text: str, people: People, now: datetime) -> Question:
    """Read a query, in time linear in its length."""
    text = text[:QUERY_CHARS]
    said = words(text)
    named = people.named_in(frozenset(said))
    speakers = people.names()
    plain = [word for word in said if word not in STOP_WORDS and word not in speakers]
    request = _REQUEST.match(text)
    verb = request["verb"].lower() if request else ""
    kept = [word for word in plain if word not in FRAME_WORDS and word != verb] or plain
    terms = tuple(map(stem, kept))
    meant = list(zip(kept, terms, strict=True))
    capitals = {found.lower() for found in _CAPITAL.findall(text)}
    related = {stem(other) for word in kept for other in _related(word)} - set(terms)
    return Question(
        terms=terms,
        related=tuple(sorted(related)),
        phrases=_phrases(text),
        person=next(iter(named)) if len(named) == 1 else None,
        names=frozenset(term for word, term in meant if word in capitals),
        months=months_named(text, now),
        years=years_named(text),
        days=days_named(text, now),
        shape=_shape(text),
        broad=bool(ASKS_BROADLY.search(text)),
        latest=bool(ASKS_LATEST.search(text)),
        subject=frozenset(term for word, term in meant if word not in SMALL_TALK),
        asks=bool(ASKS.search(text)),
        to_you=bool(ABOUT_YOU.search(text)) and not FIRST_PERSON.search(text),
        goes_on=any(map(_tells_of_work, _SENTENCE_END.split(text))),
    )


_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,20}\b")


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    quoted = (next(filter(None, found), "") for found in QUOTED.findall(text))
    return tuple(terms for terms in (tuple(content_terms(words)) for words in quoted) if terms)


_A_STATEMENT = 3
"""Words of the shortest sentence that tells anything."""
_SENTENCE_END = late_pattern(r"(?<=[.!?])\s+|\n+")
_LETS = late_pattern(r"\blet['\u2019]?s\b", re.IGNORECASE)


def _tells_of_work(sentence: str) -> bool:
    """Say whether somebody speaks of themselves in a sentence, and asks nothing."""
    if sentence.rstrip().endswith("?") or len(sentence.split()) < _A_STATEMENT:
        return False
    return bool(FIRST_PERSON.search(sentence) or _LETS.search(sentence))


def _shape(text: str) -> str | None:
    shapes = ANSWER_SHAPES.items()
    return next((name for name, (asks, _) in shapes if asks.search(text)), None)


def _related(word: str) -> frozenset[str]:
    return RELATED.get(word) or RELATED.get(word.removesuffix("s"), frozenset())


Month = tuple[int, int | None]
"""A month and, where it is named or clear, its year."""

_SHORT = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_YEAR = r"(?:19|20)\d\d"
# "may" and "mar" are words, so those two count only with a capital.
_PLAIN = "|".join(f"{name}|{name[:3]}" for name in MONTHS if name not in ("may", "march"))
_MONTH = late_pattern(
    rf"\b(?P<last>last |this past )?(?:(?i:(?P<plain>{_PLAIN}))|(?P<capital>Mar|March|May))\b\.?"
    rf"(?:,? (?:of )?(?P<year>{_YEAR}))?"
)
_DAY = late_pattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_SHORT})[a-z]*"
    rf"|({_SHORT})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b)(?:,? ({_YEAR}))?"
    rf"|\b({_YEAR})-(\d\d)-(\d\d)\b",
    re.IGNORECASE,
)
_IN_YEAR = late_pattern(rf"\b(?:in|during|of) ({_YEAR})\b", re.IGNORECASE)
_LAST_WEEKDAY = late_pattern(rf"\b(?:last|on) ({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_LAST_MONTH = late_pattern(r"\blast month\b", re.IGNORECASE)
_RELATIVE_DAYS = (("day before yesterday", 2), ("yesterday", 1))


def months_named(text: str, now: datetime) -> frozenset[Month]:
    """Return the months a text names: "May 2023", "last May", "last month"."""
    return frozenset(_months(text, now))


def years_named(text: str) -> frozenset[int]:
    """Return the years a text names without a month: "in 2023"."""
    return frozenset(int(year) for year in _IN_YEAR.findall(text))


def days_named(text: str, now: datetime) -> tuple[date, ...]:
    """Return the days a text names: "7 May 2023", "2023-05-07", "yesterday", "last Monday"."""
    return tuple(dict.fromkeys(_days(text, now)))


def _months(text: str, now: datetime) -> Iterator[Month]:
    for match in _MONTH.finditer(text):
        number = _month_number(match["plain"] or match["capital"])
        if match["last"]:
            yield number, now.year - (number >= now.month)
        elif match["capital"] != "May" or match.start() > 0:  # "May I ..." begins a request
            yield number, int(match["year"]) if match["year"] else None
    if _LAST_MONTH.search(text):
        before = now.replace(day=1) - timedelta(days=1)
        yield before.month, before.year


def _days(text: str, now: datetime) -> Iterator[date]:
    for day, month, month2, day2, year, y, m, d in _DAY.findall(text):
        number = int(m) if m else _month_number(month or month2)
        years = [int(y or year)] if (y or year) else [now.year, now.year - 1]
        for chosen in years:
            yield from _valid(chosen, number, int(d or day or day2))
    lowered = text.lower()
    back = next((days for phrase, days in _RELATIVE_DAYS if phrase in lowered), None)
    if back is not None:
        yield now.date() - timedelta(days=back)
    for name in _LAST_WEEKDAY.findall(text):
        back = (now.weekday() - WEEKDAYS.index(name.lower()) - 1) % 7 + 1
        yield now.date() - timedelta(days=back)


def _month_number(name: str) -> int:
    start = name.lower()[:3]
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(start))


def _valid(year: int, month: int, day: int) -> list[date]:
    try:
        return [date(year, month, day)]
    except ValueError:
        return []


SEARCHED = tuple(RECORD_TYPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which records may be found."""

    types: tuple[str, ...] = SEARCHED
    scopes: tuple[str, ...] | None = None
    """None: those that hold in the situation's project and language. Empty: all."""
    since: datetime | None = None
    tags: tuple[str, ...] = ()
    """Words that it must have, all of them: what its metadata is known by."""
    past: bool = True
    """Whether what has run out may be found."""
    without: frozenset[str] = frozenset()
    """Refs that are in view already."""
    own: tuple[str, int] | None = None
    """The present conversation, and how many messages of it the caller sends along: when those are
    all there are, its turns are in view, and must not stand in the way of what is not."""
    worthwhile: bool = False
    """Whether records that stand alone and match much less than the best are left out."""
    alone: bool = False
    """Whether every record must match by itself, and not much less than the best."""
    lessons: bool = False
    """Whether what was learned from a turn is brought beside the turn that says it."""
    appetite: Appetite = "full"
    """How likely a hit must be evidence, for its tokens, to be worth them."""
    tokens: int = 2000
    """What there is to spend; little more than that is read from the store."""
    deadline: Deadline | None = None
    """Until when the answer is of use; None: however long it takes."""
    moved: Mapping[str, Sway] = field(default_factory=dict)
    """By how much what people said of records, and their use, moves them, by ref."""
    head: int | None = None
    """The position of the changes feed up to which records must be known; None: up to now."""


def rows_allowed(index: LexicalIndex, situation: Situation, wanted: Filter) -> Bools:
    """Say of every place whether it may be found, or is in view and may be the answer."""
    found: Bools = index.columns["alive"].all[:-1] > 0
    if wanted.types != SEARCHED:
        found &= _one_of(index, "type", wanted.types)
    scopes = _scopes(situation) if wanted.scopes is None else wanted.scopes
    if scopes:
        found &= _one_of(index, "scope", scopes)
    if wanted.since is not None:
        found &= index.columns["day"].all[:-1] >= wanted.since.toordinal()
    for tag in wanted.tags:
        found &= _holding(index, tag)
    if not wanted.past:
        found &= index.columns["until"].all[:-1] > situation.now.timestamp()
    if wanted.own is not None:
        session, sent = wanted.own
        (number,) = index.numbers("session", [session])
        own = (found & (index.columns["session"].all[:-1] == number)).nonzero()[0]
        if number >= 0 and len(own) <= sent:
            found[own] = False
    return found


def _one_of(index: LexicalIndex, what: str, names: Sequence[str]) -> Bools:
    column = index.columns[what].all[:-1]
    found = np.zeros(len(column), bool)
    for number in index.numbers(what, names):
        found |= column == number
    return found


def _holding(index: LexicalIndex, word: str) -> Bools:
    found = np.zeros(len(index), bool)
    for places, _ in index.postings(index.term_ids(stems([word]))):
        found[places] = True
    return found


def _scopes(situation: Situation) -> tuple[str, ...]:
    scopes = [Scope()]
    if situation.project:
        scopes.append(Scope("project", situation.project))
    if situation.language:
        scopes.append(Scope("language", situation.language))
    return tuple(map(str, scopes))

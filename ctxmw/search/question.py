"""What a query asks, as far as it can be told without a model: words, names, dates, kind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from ..text.cleaning import words
from ..text.lexicon import FRAME_WORDS, RELATED, SMALL_TALK, STOP_WORDS
from ..text.phrases import (
    ABOUT_YOU,
    ANSWER_SHAPES,
    ASKS,
    ASKS_BROADLY,
    ASKS_LATEST,
    FIRST_PERSON,
    QUOTED,
)
from ..text.terms import content_terms, stem
from .dates import Month, days_named, months_named, years_named
from .lexical.people import People

QUERY_CHARS = 4096
"""A query is read up to here."""


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


def analyse(text: str, people: People, now: datetime) -> Question:
    """Read a query, in time linear in its length."""
    text = text[:QUERY_CHARS]
    said = words(text)
    named = people.named_in(frozenset(said))
    speakers = people.names()
    plain = [word for word in said if word not in STOP_WORDS and word not in speakers]
    kept = [word for word in plain if word not in FRAME_WORDS] or plain
    terms = tuple(map(stem, kept))
    meant = zip(kept, terms, strict=True)
    related = {stem(other) for word in kept for other in _related(word)} - set(terms)
    return Question(
        terms=terms,
        related=tuple(sorted(related)),
        phrases=_phrases(text),
        person=next(iter(named)) if len(named) == 1 else None,
        months=months_named(text, now),
        years=years_named(text),
        days=days_named(text, now),
        shape=_shape(text),
        broad=bool(ASKS_BROADLY.search(text)),
        latest=bool(ASKS_LATEST.search(text)),
        subject=frozenset(term for word, term in meant if word not in SMALL_TALK),
        asks=bool(ASKS.search(text)),
        to_you=bool(ABOUT_YOU.search(text)) and not FIRST_PERSON.search(text),
    )


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    quoted = (next(filter(None, found), "") for found in QUOTED.findall(text))
    return tuple(terms for terms in (tuple(content_terms(words)) for words in quoted) if terms)


def _shape(text: str) -> str | None:
    shapes = ANSWER_SHAPES.items()
    return next((name for name, (asks, _) in shapes if asks.search(text)), None)


def _related(word: str) -> frozenset[str]:
    return RELATED.get(word) or RELATED.get(word.removesuffix("s"), frozenset())

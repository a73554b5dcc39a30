"""Which records a search may find: of which types and scopes, since when, and not in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from ..runtime.deadline import Deadline
from ..text.terms import stems
from ..values.budget import Appetite
from ..values.items import Scope
from ..values.records import RECORD_TYPES
from ..values.situation import Situation
from .lexical.index import Bools, LexicalIndex

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
    head: int | None = None
    """The position of the changes feed up to which records must be known; None: up to now."""


def rows_allowed(index: LexicalIndex, situation: Situation, wanted: Filter) -> Bools:
    """Say of every place whether it may be found, or is in view and may be the answer."""
    found: Bools = index.column("alive")[:-1] > 0
    if wanted.types != SEARCHED:
        found &= _one_of(index, "type", wanted.types)
    scopes = _scopes(situation) if wanted.scopes is None else wanted.scopes
    if scopes:
        found &= _one_of(index, "scope", scopes)
    if wanted.since is not None:
        found &= index.column("day")[:-1] >= wanted.since.toordinal()
    for tag in wanted.tags:
        found &= _holding(index, tag)
    if not wanted.past:
        found &= index.column("until")[:-1] > situation.now.timestamp()
    if wanted.own is not None:
        session, sent = wanted.own
        number = index.number("session", session)
        own = (found & (index.column("session")[:-1] == number)).nonzero()[0]
        if number >= 0 and len(own) <= sent:
            found[own] = False
    return found


def _one_of(index: LexicalIndex, what: str, names: Sequence[str]) -> Bools:
    column = index.column(what)[:-1]
    found = np.zeros(len(column), bool)
    for name in names:
        found |= column == index.number(what, name)
    return found


def _holding(index: LexicalIndex, word: str) -> Bools:
    found = np.zeros(len(index), bool)
    for term in index.term_ids(stems([word])):
        found[index.postings(term)[0]] = True
    return found


def _scopes(situation: Situation) -> tuple[str, ...]:
    scopes = [Scope()]
    if situation.project:
        scopes.append(Scope("project", situation.project))
    if situation.language:
        scopes.append(Scope("language", situation.language))
    return tuple(map(str, scopes))

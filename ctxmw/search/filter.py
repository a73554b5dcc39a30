"""Which records a search may find: of which types and scopes, since when, and not in view."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..runtime.deadline import Deadline
from ..values.records import RECORD_TYPES

SEARCHED = tuple(RECORD_TYPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which records may be found."""

    types: tuple[str, ...] = SEARCHED
    scopes: tuple[str, ...] | None = None
    """None: those that hold in the situation's project and language. Empty: all."""
    since: datetime | None = None
    without: frozenset[str] = frozenset()
    """Refs that are in view already."""
    own: tuple[str, int] | None = None
    """The present conversation, and how many messages of it the caller sends along: when those are
    all there are, its turns are in view, and must not stand in the way of what is not."""
    worthwhile: bool = False
    """Whether records that stand alone and match much less than the best are left out."""
    lessons: bool = False
    """Whether what was learned from a turn is brought beside the turn that says it."""
    tokens: int = 2000
    """What there is to spend; little more than that is read from the store."""
    deadline: Deadline | None = None
    """Until when the answer is of use; None: however long it takes."""
    head: int | None = None
    """The position of the changes feed up to which records must be known; None: up to now."""

"""What earlier conversations left: notes on where the work stands, summaries, observations."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ...protocols import Row, Store
from ...runtime.faults import Faults
from ...store.feed import Feed
from ...text.cleaning import digest
from ...values.items import Item, Scope
from ...values.records import (
    Derived,
    Memory,
    Note,
    Observation,
    Record,
    SessionSummary,
    Turn,
    load,
)
from ...values.scoring import Weights
from ...values.situation import Situation
from .memories import memory_item
from .shelf import Shelf, Shortlist

_LANES = {"done": "done", "decided": "decided", "blocked": "open", "next": "open"}


class Sessions:
    """Notes, summaries and observations of every conversation but the present one."""

    name = "sessions"

    def __init__(
        self, store: Store, faults: Faults | None = None, feed: Feed | None = None
    ) -> None:
        types = ("note", "summary", "observation")
        self._shelf = Shelf(store, types, row_item, faults=faults, feed=feed)

    def items(self, situation: Situation, /) -> tuple[Item, ...]:
        """Return what other conversations left behind."""
        return tuple(
            item
            for item in self._shelf.items(situation.user)
            if item.session != situation.session and item.trust == "trusted"
        )

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best of it that is in scope."""
        return self._shelf.best(situation, weights, most)


def row_item(row: Row) -> Item:
    """Return the record of a row as an item."""
    return record_item(load(row))


def record_item(record: Record) -> Item:
    """Return any record as an item."""
    match record:
        case Memory():
            return memory_item(record)
        case Note():
            return _item(record, kind=record.kind, lane=_LANES[record.kind], section="notes")
        case SessionSummary():
            return _item(record, kind="summary", lane="index", section="sessions")
        case Observation():
            return _item(record, kind=record.kind, lane="index", section="sessions")
        case Turn():
            return _item(record, kind="turn", lane="turn", section="sessions")
    raise TypeError(f"{record.type} records are not shown")


def _item(record: Record, *, kind: str, lane: str, section: str) -> Item:
    text = record.says()
    return Item(
        ref=record.ref,
        kind=kind,
        text=text,
        lane=lane,
        section=section,
        label=_label(record),
        title=record.title if isinstance(record, Observation) else "",
        scope=Scope.parse(record.scope),
        at=record.at,
        session=record.session,
        trust=record.trust,
        source=record.source,
        version=record.version if isinstance(record, Turn) else digest(text)[:16],
        group=_group(record) if isinstance(record, Turn) else "",
        group_title=_day(record),
        order=record.sequence if isinstance(record, Turn) else (),
        origins=record.derived_from if isinstance(record, Derived) else (),
    )


def _label(record: Record) -> str:
    match record:
        case Note() | Observation():
            return record.kind
        case SessionSummary():
            return _group(record)
        case Turn():
            return record.speaker or record.role
    return ""


def _group(record: Record) -> str:
    return f"{_day(record)} {record.session}".rstrip()


def _day(record: Record) -> str:
    """Return the day of a record; what is answered after midnight was asked the day before."""
    at = record.since if isinstance(record, Turn) else record.at
    return sys.intern(at.date().isoformat())  # most items at hand are of a few days

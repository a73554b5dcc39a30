"""Records as items: how what is stored goes through the pipeline."""

from __future__ import annotations

import sys

from ..protocols import Row
from ..text.cleaning import digest, one_line
from .items import Item, Scope
from .records import (
    INSTRUCTING,
    LASTING,
    Derived,
    Memory,
    Note,
    Observation,
    Record,
    SessionSummary,
    Turn,
    load,
)

WAS = 80
"""Characters that are shown of what a memory took the place of."""
_LANES = {"done": "done", "decided": "decided", "blocked": "open", "next": "open"}


def row_item(row: Row) -> Item:
    """Return the record of a row as an item."""
    return record_item(load(row))


def record_item(record: Record) -> Item:
    """Return any record as an item."""
    match record:
        case Memory():
            return memory_item(record, record.session)
        case Note():
            return _item(record, kind=record.kind, lane=_LANES[record.kind], section="notes")
        case SessionSummary():
            return _item(record, kind="summary", lane="index", section="sessions")
        case Observation():
            return _item(record, kind=record.kind, lane="index", section="sessions")
        case Turn():
            return _item(record, kind="turn", lane="turn", section="sessions")
    raise TypeError(f"{record.type} records are not shown")


def memory_item(memory: Memory, session: str) -> Item:
    """Return a memory as an item of a conversation, or of none."""
    scope = Scope.parse(memory.scope)
    universal_decision = scope.kind == "universal" and memory.kind == "decision"
    return Item(
        ref=memory.ref,
        kind=memory.kind,
        text=_text_of(memory),
        lane=scope.kind,
        section="decisions" if universal_decision else scope.kind,
        label="Avoid" if memory.kind == "anti_pattern" else "",
        scope=scope,
        at=memory.at,
        session=session,
        seen=memory.seen,
        ages=memory.kind not in LASTING,
        instructs=memory.kind in INSTRUCTING,
        trust=memory.trust,
        source=memory.source,
        version=digest(memory.text, memory.was)[:16],
        origins=memory.derived_from,
    )


def _text_of(memory: Memory) -> str:
    return f"{memory.text} (was: {one_line(memory.was, WAS)})" if memory.was else memory.text


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

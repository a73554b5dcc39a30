"""What waits to be said: entries that tools, hooks and other processes leave for the next call.

An entry is claimed with a lease while a call is prepared and committed to that call's record when
an answer comes. A process killed in between may show it again; nothing is lost. What does not fit
stays until it expires.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import Field

from ..errors import InvalidValue
from ..protocols import Find, Row, Store
from ..store.journal import Journal
from ..text.cleaning import digest
from ..text.secrets.redaction import redact, redact_name, redact_values
from ..values.argument_checks import check_text
from ..values.items import PRIORITIES, Item, Priority
from ..values.records import Moment, Record, load_all

LEASE = timedelta(minutes=5)
"""How long a call may take before its entries are offered to the next one."""
LIFETIME = timedelta(days=1)
"""How long an entry waits unless told otherwise."""


class Entry(Record):
    """Something to tell the model once, in the next call of one conversation."""

    type: ClassVar[str] = "entry"
    prefix: ClassVar[str] = "e"

    name: str
    """Unique within its source; the same source and name again replaces the text."""
    text: str = Field(min_length=1)
    priority: Priority = "normal"
    metadata: dict[str, Any] = Field(default_factory=dict)
    expires: Moment
    turn: str = ""
    """The turn that claimed it last."""
    lease: Moment | None = None
    committed: str = ""
    """The record of the call that showed it."""
    order: int = 0
    """Counts the entries of one moment, so that they keep their order."""
    replaced: bool = False
    """A newer one of its source and name came while a call was showing it."""

    def _columns(self) -> dict[str, Any]:
        return {"key": entry_key(self.source, self.name), "live": not self.committed}

    def is_free(self, turn: str, now: datetime) -> bool:
        """Say whether a call of this turn may show it."""
        if self.replaced or now >= self.expires:
            return False
        return self.turn in ("", turn) or self.lease is None or now >= self.lease

    def item(self) -> Item:
        """Return the entry as an item of a turn's part."""
        return Item(
            ref=self.ref,
            kind="notice",
            text=self.text,
            lane="turn",
            section="notices",
            label=self.source,
            at=self.at,
            session=self.session,
            include="agent",
            priority=self.priority,
            trust=self.trust,
            source=self.source,
            version=digest(self.text)[:16],
            score=1.0,
            reasons=(("pending", 1.0),),
            order=(self.at, self.order),
        )


def entry_key(source: str, name: str) -> str:
    """Return what two entries of the same source and name share."""
    return digest(source, name)[:32]


def waiting(journal: Journal, user: str, session: str) -> list[Entry]:
    """Return everything that no answer has committed yet, claimed or not."""
    asked = Find(types=(Entry.type,), sessions=(session,), newest_first=False)
    return journal.read(journal.store.query(user, asked), Entry)


def free(entries: Iterable[Entry], turn: str, now: datetime) -> list[Entry]:
    """Return which of them a call of this turn may show: by priority, then oldest first."""
    found = [entry for entry in entries if entry.is_free(turn, now)]
    return sorted(
        found, key=lambda entry: (PRIORITIES.index(entry.priority), entry.at, entry.order)
    )


def claimed(
    store: Store, user: str, entries: Mapping[str, str], turn: str, now: datetime
) -> list[Row]:
    """Return the rows that claim these entries (version by ref) for a turn.

    One whose text was replaced meanwhile is left alone: its new text waits for the next call.
    """
    return [
        entry.model_copy(update={"turn": turn, "lease": now + LEASE}).row()
        for entry in _read(store, user, entries)
        if not entry.committed and entry.item().version == entries[entry.ref]
    ]


def committed(store: Store, user: str, entries: Mapping[str, str], record: str) -> list[Row]:
    """Return the rows that commit these entries to a record, unless another one has them."""
    return [
        entry.model_copy(update={"committed": record, "lease": None}).row()
        for entry in _read(store, user, entries)
        if not entry.committed and entry.item().version == entries[entry.ref]
    ]


def released(store: Store, user: str, entries: Iterable[str], turn: str) -> list[Row]:
    """Return the rows that give up a turn's claim, so that the next call may show them."""
    return [
        entry.model_copy(update={"lease": None}).row()
        for entry in _read(store, user, entries)
        if not entry.committed and entry.turn == turn
    ]


def checked_entry(
    source: str, name: str, content: str, priority: Priority, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what an entry holds, without secrets; raise when it cannot be kept."""
    if priority not in PRIORITIES:
        raise InvalidValue(f"unknown priority {priority!r}. Allowed: {', '.join(PRIORITIES)}.")
    return {
        "source": redact_name(check_text(source, "an entry's source")),
        "name": redact_name(check_text(name, "an entry's id")),
        "text": redact(check_text(content, "an entry's content")).text,
        "priority": priority,
        "metadata": _plain(metadata),
    }


def _plain(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        return dict(redact_values(json.loads(json.dumps(dict(metadata or {})))))
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"metadata must be a dict that JSON can hold: {error}.") from None


def _read(store: Store, user: str, refs: Iterable[str]) -> Sequence[Entry]:
    asked = sorted(refs)
    rows = store.get(user, asked) if asked else ()
    return load_all(rows, Entry)

"""Records that a person wants in every conversation, and those that never come by themselves.

What a conversation was told of a record (`add`, `remove`) wins over this.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Literal

from ..protocols import Row, Store
from ..store.journal import Journal
from ..text.cleaning import digest
from ..values.records import Record, load_as

PINS = "pins"
Pinning = Literal["shown", "kept_out"]


class Pins(Record):
    """A user's pins."""

    type: ClassVar[str] = "pins"

    shown: tuple[str, ...] = ()
    """Refs of what is in every conversation."""
    kept_out: tuple[str, ...] = ()
    """Refs of what comes when somebody asks for it, and else not."""

    @property
    def stamp(self) -> str:
        """Changes when they do; "" where there are none."""
        return digest(*self.shown, "|", *self.kept_out)[:16] if self.shown or self.kept_out else ""

    def foreign(self) -> str:
        """Return nothing: it is refs alone."""
        return ""

    def without(self, refs: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return both lists without these."""
        both = {"shown": self.shown, "kept_out": self.kept_out}
        return {name: tuple(ref for ref in own if ref not in refs) for name, own in both.items()}


def pins_in(rows: Collection[Row]) -> Pins | None:
    """Return the pins among these rows."""
    return next((load_as(row, Pins) for row in rows if row.type == Pins.type), None)


def pins_of(store: Store, user: str) -> Pins | None:
    """Return a user's pins; None where nothing was ever pinned."""
    return pins_in(store.get(user, [PINS]))


def put_pin(journal: Journal, user: str, ref: str, to: Pinning | None) -> None:
    """Have a record be shown, kept out, or neither."""
    with journal.store.atomic(user):
        own = pins_of(journal.store, user) or Pins(user=user, ref=PINS, at=journal.clock())
        lists: dict[str, Any] = own.without({ref})
        if to is not None:
            lists[to] = (*lists[to], ref)
        changed = own.model_copy(update={**lists, "at": journal.clock()})
        journal.store.put([changed.row()])


def pass_on_pins(store: Store, user: str, replaced: Collection[str], ref: str) -> None:
    """Have what takes the place of records be pinned as they were. In a transaction."""
    own = pins_of(store, user)
    if own is None or not {*own.shown, *own.kept_out} & set(replaced):
        return
    lists: dict[str, Any] = own.without(replaced)
    for name, before in (("shown", own.shown), ("kept_out", own.kept_out)):
        if not set(before).isdisjoint(replaced):
            lists[name] = (*lists[name], ref)
    store.put([own.model_copy(update=lists).row()])

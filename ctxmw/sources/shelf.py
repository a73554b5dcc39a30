"""A user's records of some types, kept at hand as items and brought up to date by the changes feed.

Reading thousands of records for every prompt would cost more than choosing among them. The feed
tells what another thread or process wrote since, so a shelf is never behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from ..items import Item
from ..protocols import Find, Row, Store
from ..recent import Recent

USERS = 128
"""How many users' records are kept at hand."""


class Shelf:
    """Items of every live row of these types, per user."""

    def __init__(
        self, store: Store, types: tuple[str, ...], item_of: Callable[[Row], Item]
    ) -> None:
        self._store = store
        self._types = types
        self._item_of = item_of
        self._users: Recent[str, _Kept] = Recent(USERS)

    def items(self, user: str) -> tuple[Item, ...]:
        """Return the user's items, as of now."""
        kept = self._users.get_or_make(user, _Kept)
        with kept.lock:
            self._refresh(user, kept)
            return kept.listed

    def _refresh(self, user: str, kept: _Kept) -> None:
        head = self._store.head(user)
        if head == kept.seq:
            return
        if kept.seq == 0:
            rows = self._store.query(user, Find(types=self._types))
        else:
            changes = self._store.changes(user, kept.seq, self._types)
            for change in changes:
                kept.items.pop(change.ref, None)
            rows = self._store.get(user, [change.ref for change in changes if not change.gone])
        kept.items |= {row.ref: self._item_of(row) for row in rows if row.live}
        kept.listed = tuple(kept.items.values())
        # Read before the rows were: what came in between is read again, and never missed.
        kept.seq = head


@dataclass
class _Kept:
    seq: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    listed: tuple[Item, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)

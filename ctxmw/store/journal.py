"""Where records are written, and what changed lately, as this process has read it.

Many conversations of a user follow the same changes feed, each from where it stood at its last
call, and so do search, code and the stable block: it is read once for everybody who asks. Only what
is committed is kept here.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from ..protocols import Change, Clock, Row, Store
from ..runtime.lru import LruCache
from ..values.items import MakeRef, short_refs
from ..values.records import AnyRecord, load_as

if TYPE_CHECKING:
    from ..runtime.telemetry import Faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What it takes to write a record, and to read one that may be damaged."""

    store: Store
    clock: Clock
    random: Random
    faults: Faults

    def new(self, cls: type[AnyRecord], user: str, **values: Any) -> AnyRecord:
        """Return a new record of the user's, of this moment unless `at` is given; not stored yet.

        To be called inside `store.atomic`: its ref is one that the user has not got.
        """
        if "at" not in values:
            values["at"] = self.clock()
        return cls(user=user, ref=self.refs(user)(cls.prefix), **values)

    def refs(self, user: str) -> MakeRef:
        """Return a maker of refs for several new records; use it inside `store.atomic`."""
        return short_refs(self.store, user, self.random)

    def read(self, rows: Iterable[Row], cls: type[AnyRecord]) -> list[AnyRecord]:
        """Return the records of these rows; those that cannot be read are set aside."""
        return self.faults.read(rows, lambda row: load_as(row, cls))


KEPT = 1_000
"""How many changes of one user are kept at hand ..."""
USERS, TOGETHER = 64, 2_000
"""... of how many users, and how many changes of all of them."""


class Feed:
    """The latest changes of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._users: LruCache[str, _Latest] = LruCache(
            USERS, room=TOGETHER, weigh=lambda latest: len(latest.changes)
        )

    def changes(self, user: str, since: int, types: Collection[str], head: int) -> list[Change]:
        """Return what `Store.changes` would, at least up to this position of the feed."""
        # What is read inside a transaction may be undone, and its positions given out again.
        if not types or self.store.in_atomic():
            return self.store.changes(user, since, tuple(types))
        latest = self._users.get_or_make(user, partial(_Latest, since=head, head=head))
        with latest.lock:
            if head > latest.head:
                latest.take_in(self.store.changes(user, latest.head), head)
                self._users.put(user, latest)  # which weighs it again
            if since >= latest.since:
                return latest.after(since, types)
        return self.store.changes(user, since, tuple(types))


@dataclass(slots=True)
class _Latest:
    """A user's changes between two positions of the feed."""

    since: int
    head: int
    changes: dict[str, Change] = field(default_factory=dict)
    """By ref, in the order of the feed."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take_in(self, changes: Sequence[Change], head: int) -> None:
        for change in changes:
            self.changes.pop(change.ref, None)
            self.changes[change.ref] = change
        # Others may have written since the head was looked at.
        self.head = max(head, changes[-1].seq) if changes else head
        while len(self.changes) > KEPT:
            oldest = self.changes.pop(next(iter(self.changes)))
            self.since = oldest.seq

    def after(self, since: int, types: Collection[str]) -> list[Change]:
        found: list[Change] = []
        for change in reversed(self.changes.values()):
            if change.seq <= since:
                break
            if change.type in types:
                found.append(change)
        return found[::-1]

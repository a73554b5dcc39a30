"""What changed lately, as this process has read it: once for everybody who asks.

Many conversations of a user follow the same changes feed, each from where it stood at its last
call, and so do search, code and the stable block. Only what is committed is kept here.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..protocols import Change, Store
from ..runtime.lru import LruCache

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

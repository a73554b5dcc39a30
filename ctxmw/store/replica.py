"""Replicas: what is made of each user's rows, kept in memory and brought up to date by the feed.

The changes feed tells what any thread or process wrote, so a replica is never behind. What was read
inside a transaction may be undone, and its positions in the feed given out again: a replica that
followed it there is made anew.

Snapshots of some are kept in the store, so that the next process need not read every row.
Forgetting takes them along, for they hold words; then they are made anew.
"""

from __future__ import annotations

import logging
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import StoreError
from ..protocols import Row, Store
from ..runtime.lru import LruCache
from ..runtime.packing import Reads, Unpacked, packed, unpacked
from .journal import Feed
from .rows import batches

if TYPE_CHECKING:
    from numpy.typing import NDArray


WORTH_KEEPING = 1000
"""Of fewer records a projection is made faster than it is mended, or read from a snapshot."""
_DEAD = 4
"""A projection is made anew when a quarter of it is gone."""
_BATCH = 2000


class Projection(ABC):
    """What is made of one user's rows, such as an index. One thread uses it at a time."""

    def __init__(self) -> None:
        self.unread: set[str] = set()
        """Refs of rows that could not be read, and are not in it."""

    @property
    def dead(self) -> int:
        """How many of its places hold what is gone."""
        return 0

    @abstractmethod
    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        """Read these rows, anew if they are known, and let go of those that are gone.

        What fails halfway is done again from the beginning.
        """

    def __len__(self) -> int:
        """Return how many places it has."""
        return 0


P = TypeVar("P", bound=Projection)


@dataclass(slots=True, eq=False)
class Kept(Generic[P]):
    """One user's projection, as of a position of the changes feed."""

    user: str
    value: P
    seq: int = 0
    """How far the feed was followed."""
    generation: int = -1
    """Which beginning of all replicas it belongs to; -1: it has not begun."""
    unsaved: int = 0
    """Changes that are not in the snapshot."""
    tentative: bool = False
    """Whether it holds what was read inside a transaction, and may be undone."""
    lock: threading.RLock = field(default_factory=threading.RLock)


class Replica(Generic[P]):
    """The projections of a store's users. Any thread may use it."""

    def __init__(
        self,
        feed: Feed,
        types: Sequence[str],
        make: Callable[[str], P],
        *,
        users: int = sys.maxsize,
        places: int = sys.maxsize,
    ) -> None:
        """Project rows of these types; `make` makes the projection of a user who has none.

        No more than so many `users` are kept in memory, and of their projections no more than have
        so many `places`.
        """
        self._feed = feed
        self._store: Store = feed.store
        self._types = types
        self._make = make
        self._users: LruCache[str, Kept[P]] = LruCache(
            users, room=places, weigh=lambda kept: len(kept.value)
        )
        self._generation = 0

    @contextmanager
    def use(self, user: str, head: int | None = None) -> Iterator[P]:
        """Yield the user's projection, as of now or of this position of the changes feed."""
        kept = self.kept(user)
        with kept.lock:
            is_new = True
            try:
                is_new = self._refresh(kept, head)
                yield kept.value
            finally:
                if kept.tentative:
                    self._begin_anew(kept)
                if is_new:
                    self._users.put(user, kept)  # which weighs it again: it has grown
        self._after_use(kept)

    @contextmanager
    def at_hand(self, user: str, patience: float = 0.0) -> Iterator[Kept[P] | None]:
        """Yield what is kept of the user as it was last used; None when there is nothing.

        Nothing is read, and nobody is waited for longer than that: whoever is writing may ask.
        """
        kept = self._users.get(user)
        if kept is None or not kept.lock.acquire(timeout=patience):
            yield None
            return
        try:
            yield kept if kept.generation == self._generation else None
        finally:
            kept.lock.release()

    def kept(self, user: str) -> Kept[P]:
        """Return what is kept of the user, as it was last used; nothing is read."""
        return self._users.get_or_make(user, lambda: Kept(user, self._make(user)))

    def follow(self, user: str, most: int) -> None:
        """Take in what was just written, unless it is more than that.

        Only if the projection is at hand and nobody is using it: who uses it next finds it done.
        """
        if self._store.in_atomic():
            return
        with self.at_hand(user) as kept:
            if kept is None:
                return
            head = self._store.head(user)
            if head - kept.seq <= most:
                self._refresh(kept, head)

    def behind(self, user: str, head: int | None = None) -> int:
        """Return how many positions of the feed are still to be followed."""
        kept = self._users.get(user)
        return (self._store.head(user) if head is None else head) - (kept.seq if kept else 0)

    def every(self) -> list[Kept[P]]:
        """Return what is kept of all users, those first who were used longest ago."""
        return self._users.values()

    def idle(self, but: str) -> Iterator[Kept[P]]:
        """Yield what is kept of other users and not in use, each locked meanwhile."""
        for kept in self.every():
            if kept.user != but and kept.lock.acquire(blocking=False):
                try:
                    yield kept
                finally:
                    kept.lock.release()

    def let_go(self, user: str) -> None:
        """Hold nothing of the user: it is made anew when it is used."""
        kept = self.kept(user)
        with kept.lock:
            self._begin_anew(kept)

    def distrust(self) -> None:
        """Make everything anew, each user's when it is used."""
        self._generation += 1

    def _after_use(self, kept: Kept[P]) -> None:
        """Do what can wait until nobody uses it."""

    def _begin_anew(self, kept: Kept[P]) -> None:
        kept.value, kept.generation = self._make(kept.user), -1
        kept.seq, kept.unsaved, kept.tentative = 0, 0, False

    def _begin(self, kept: Kept[P]) -> None:
        """Make it anew, to follow the feed from its beginning."""
        self._begin_anew(kept)

    def _refresh(self, kept: Kept[P], head: int | None) -> bool:
        """Take in what is new, and say whether anything may be."""
        generation = self._generation
        head = self._store.head(kept.user) if head is None else head
        if kept.generation == generation and head <= kept.seq:
            return False
        if kept.generation != generation:
            self._begin(kept)
        kept.tentative = self._store.in_atomic()
        self._catch_up(kept, head)
        if kept.value.dead * _DEAD > max(len(kept.value), WORTH_KEEPING):
            kept.value, kept.seq = self._make(kept.user), 0
            self._catch_up(kept, head)
        kept.generation = generation
        return True

    def _catch_up(self, kept: Kept[P], head: int) -> None:
        changes = self._feed.changes(kept.user, kept.seq, self._types, head)
        written = [change.ref for change in changes if not change.gone]
        kept.value.take_in(written, [change.ref for change in changes if change.gone])
        kept.unsaved += len(changes)
        # The position was read before the rows were: what came in between is read again, and never
        # missed.
        kept.seq = max(kept.seq, head)


def rows_of(store: Store, user: str, refs: Sequence[str]) -> Iterator[list[Row]]:
    """Yield the rows of these refs that exist, some at a time."""
    for some in batches(refs, _BATCH):
        yield store.get(user, some)


log = logging.getLogger("ctxmw")

_OFTEN, _MOST = 500, 20_000
"""A snapshot may be behind by an eighth of all records, but not by more than the next process reads
within a second or two; nor is one made for fewer changes than that."""
_WHOLE = "*"
_LARGEST = 900_000_000
"""Bytes; no store takes more than a gigabyte at once."""


class SavedProjection(Projection):
    """A projection of which snapshots are kept."""

    @abstractmethod
    def dump(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        """Return it as arrays, and what JSON can keep."""

    @abstractmethod
    def load(self, snapshot: Unpacked) -> None:
        """Become what `dump` gave."""


S = TypeVar("S", bound=SavedProjection)


class SavedReplica(Replica[S]):
    """A replica that begins with the snapshot of another process, and leaves one."""

    def __init__(
        self,
        feed: Feed,
        types: Sequence[str],
        make: Callable[[str], S],
        *,
        space: tuple[str, str],
        worth: int | None = None,
        **most: int,
    ) -> None:
        """Project rows as `Replica` does, and keep no more `users` and `places` in memory.

        `space` is where snapshots are kept, and where an older version kept them. Of projections
        that have less than `worth` places none is kept.
        """
        super().__init__(feed, types, make, **most)
        self._space, self._older = space
        self._worth = WORTH_KEEPING if worth is None else worth

    def _after_use(self, kept: Kept[S]) -> None:
        with kept.lock:
            snapshot = self._snapshot_due(kept)
        # Not while it is locked: who writes now may be waiting for it.
        if snapshot and self._save(kept.user, *snapshot):
            kept.unsaved = 0

    def _begin(self, kept: Kept[S]) -> None:
        super()._begin(kept)

        def load(file: Reads) -> tuple[int, list[str]]:
            snapshot = unpacked(file)
            kept.value.load(snapshot)
            return int(snapshot.about["seq"]), snapshot.about.get("unread", [])

        try:
            found = self._store.read_blob(kept.user, self._space, load)
        except (ValueError, KeyError, TypeError) as fault:
            log.warning("the snapshot of an index cannot be read and is made anew: %r", fault)
            super()._begin(kept)
            return
        if found is not None:
            kept.seq, unread = found
            # Another version of ctxmw may have made the snapshot: this one may read more.
            kept.value.take_in(unread, ())

    def _catch_up(self, kept: Kept[S], head: int) -> None:
        dead = kept.value.dead
        super()._catch_up(kept, head)
        # Forgetting takes the snapshot along.
        if kept.value.dead > dead and not self._store.blob_refs(kept.user, self._space):
            kept.unsaved = len(kept.value)

    def _snapshot_due(self, kept: Kept[S]) -> tuple[bytes, int] | None:
        if kept.unsaved < min(_OFTEN, self._worth):
            return None
        size = len(kept.value)
        if size < self._worth or kept.unsaved < min(size // 8, _MOST):
            return None
        if self._store.in_atomic():
            return None  # which may be undone, and the snapshot with it
        # Where others keep writing it may not be kept: then it is tried again, but not every time.
        kept.unsaved //= 2
        arrays, about = kept.value.dump()
        unread = sorted(kept.value.unread)
        return packed({"seq": kept.seq, "unread": unread, **about}, arrays), kept.seq

    def _save(self, user: str, snapshot: bytes, seq: int) -> bool:
        """Keep what was stored at a position of the feed; say whether it was kept.

        It is not when something was written since.
        """
        if len(snapshot) > _LARGEST:
            return False
        try:
            with self._store.atomic(user):
                # Only of exactly what is stored: the feed goes on from its position.
                if self._store.head(user) != seq:
                    return False
                self._store.drop_blobs(user, self._older)
                self._store.put_blobs(user, self._space, {_WHOLE: snapshot})
        except StoreError as error:
            # Whoever only searches on a full disk has an answer all the same.
            log.debug("the snapshot of an index was not kept: %s", error)
            return False
        return True

"""Snapshots of replicas, kept in the store, so that the next process need not read every row.

Forgetting takes them along, for they hold words; then they are made anew.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import StoreError
from ..runtime.packing import Reads, Unpacked, packed, unpacked
from .feed import Feed
from .replica import WORTH_KEEPING, Kept, Projection, Replica

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        **most: int,
    ) -> None:
        """Project rows as `Replica` does, and keep no more `users` and `places` in memory.

        `space` is where snapshots are kept, and where an older version kept them.
        """
        super().__init__(feed, types, make, **most)
        self._space, self._older = space

    @contextmanager
    def use(self, user: str, head: int | None = None) -> Iterator[S]:
        """Yield the user's projection; afterwards keep a snapshot of it, when one is due."""
        with super().use(user, head) as value:
            yield value
        kept = self.kept(user)
        with kept.lock:
            snapshot = self._snapshot_due(kept)
        # Not while it is locked: who writes now may be waiting for it.
        if snapshot and self._save(user, *snapshot):
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
        size = len(kept.value)
        if size < WORTH_KEEPING or kept.unsaved < min(max(_OFTEN, size // 8), _MOST):
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

"""Snapshots of what is made from all of a user's rows, kept in the store for the next process.

Forgetting takes them along, for they hold words; then they are made anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from ..errors import StoreError
from ..protocols import Store
from ..runtime.packing import Reads

log = logging.getLogger("ctxmw")

T = TypeVar("T")

WORTH_KEEPING = 1000
"""Of fewer records it is made faster than it is read."""
_OFTEN, _MOST = 500, 20_000
"""A snapshot may be behind by an eighth of all records, but not by more than the next process reads
within a second or two; nor is one made for fewer changes than that."""
_WHOLE = "*"
_LARGEST = 900_000_000
"""Bytes; no store takes more than a gigabyte at once."""


class Snapshots:
    """The snapshots of one kind; `older` is where an older version kept them."""

    def __init__(self, store: Store, space: str, older: str) -> None:
        self._store = store
        self._space = space
        self._older = older

    def read(self, user: str, take: Callable[[Reads], T]) -> T | None:
        """Return what is taken from the user's snapshot, if there is one."""
        return self._store.read_blob(user, self._space, take)

    def is_due(self, size: int, unsaved: int) -> bool:
        """Say whether one of so many records should be kept, after so many changes."""
        enough = min(max(_OFTEN, size // 8), _MOST)
        return size >= WORTH_KEEPING and unsaved >= enough

    def is_lost(self, user: str) -> bool:
        """Say whether there is none of this user."""
        return not self._store.blob_refs(user, self._space)

    def save(self, user: str, snapshot: bytes, seq: int) -> bool:
        """Keep what was stored at a position of the feed; say whether it was kept.

        It is not when something was written since. Not to be called inside a transaction, nor by
        who holds a lock that writers wait for.
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

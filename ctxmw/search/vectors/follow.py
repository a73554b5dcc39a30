"""Keeps a vector index in line with the vectors in the store.

Per user, the changes feed tells what to look at. At the beginning, and whenever the index has
failed, records, vectors and index are compared as a whole: what the index lacks it is given, what
it has too much is taken away. Nothing is believed that the store does not say.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from ...errors import CtxmwError, StoreError
from ...protocols import Change, Store, VectorIndex
from ...values.records import RECORD_TYPES
from .refusals import Refusal

if TYPE_CHECKING:
    from ...protocols import FloatArray

TYPES = tuple(RECORD_TYPES)
LOADED = 1_000
"""Vectors read from the store at a time."""
VectorsByRef = dict[str, "FloatArray | None"]
"""Vectors by ref; None for one that was refused."""
T = TypeVar("T")


@runtime_checkable
class InMemory(Protocol):
    """An index whose vectors take memory, and that can do without a user's for a while."""

    def bytes(self) -> int: ...

    def unload(self, user: str, /) -> None: ...


@dataclass(slots=True, eq=False)
class Followed:
    """How far the changes of one user were followed."""

    user: str
    generation: int = -1
    """Which comparison of the whole it rests on; -1: none."""
    position: int = 0
    """In the changes feed."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Refs that have no vector yet, the oldest first."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """Refs whose vector made no sense."""
    step: int = 0
    """How many texts the embedder is given at a time; fewer while one of them is too much."""
    size: int = 0
    """How many numbers the user's vectors have; 0: not known."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    embedding: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one thread that embeds for this user; others may search meanwhile."""

    def forget(self) -> None:
        """Begin again with the next call."""
        self.generation, self.position, self.size = -1, 0, 0
        self.waiting, self.refused = {}, {}

    def without_vector(self, now: float) -> list[str]:
        """Return the refs to embed, the newest first: those that wait, and those to try again."""
        again = [ref for ref, refusal in self.refused.items() if refusal.is_due(now)]
        return [*reversed(self.waiting), *again]


class Following:
    """One index over the vectors of one embedder."""

    def __init__(self, store: Store, index: VectorIndex, name: str, limit_bytes: int) -> None:
        self.index = index
        self.space = space_of(name)
        self._store = store
        self._name = name
        self._limit_bytes = limit_bytes
        self._users: OrderedDict[str, Followed] = OrderedDict()
        self._lock = threading.Lock()
        self._generation = 0

    def of(self, user: str) -> Followed:
        """Return how far this user is followed; the user is now the one used last."""
        with self._lock:
            followed = self._users.setdefault(user, Followed(user))
            self._users.move_to_end(user)
            return followed

    def in_line(self, followed: Followed, action: Callable[[], T]) -> T:
        """Bring the index in line with the store, then act on it.

        When the index fails, all is compared and tried once more: it may have lost something, or
        may have begun anew.
        """
        with followed.lock:
            inside = self._store.in_atomic()
            try:
                return self._attempt(followed, action)
            except StoreError:
                return self._attempt(followed, action)
            finally:
                if inside:  # what it is in line with now may be undone
                    followed.forget()

    def load(self, followed: Followed, refs: Sequence[str]) -> VectorsByRef:
        """Give the index what the store has for these refs, and return that."""
        found = self._stored(followed, refs)
        vectors = {ref: vector for ref, vector in found.items() if vector is not None}
        gone = [ref for ref in refs if ref not in vectors]
        self.index.update(self.owner(followed.user), vectors, gone)
        return found

    def clear(self, user: str, name: str) -> None:
        """Take everything out of the index that came from an embedder of this name."""
        owner = owner_of(user, name)
        if held := sorted(self.index.refs(owner)):
            self.index.update(owner, {}, held)

    def owner(self, user: str) -> str:
        """Return whom the index knows as the user."""
        return owner_of(user, self._name)

    def make_room(self, used: Followed) -> None:
        """Unload users until the index keeps to its limit, the one used last not among them."""
        if not isinstance(self.index, InMemory) or self.index.bytes() <= self._limit_bytes:
            return
        with self._lock:
            loaded = [each for each in self._users.values() if each.generation >= 0]
        for followed in loaded:
            if self.index.bytes() <= self._limit_bytes:
                return
            # Whoever is being asked about now is not the one to go.
            if followed is not used and followed.lock.acquire(blocking=False):
                self.index.unload(self.owner(followed.user))
                followed.forget()
                followed.lock.release()

    def _attempt(self, followed: Followed, action: Callable[[], T]) -> T:
        try:
            self._follow(followed)
            return action()
        except StoreError:
            self._generation += 1
            raise
        except CtxmwError:
            raise
        except Exception as error:  # an index may be anybody's, and raise anything
            self._generation += 1
            raise StoreError(
                f"the vector index {self.index.name!r:.60} failed: {error!r:.200}. Search goes on "
                "by words alone, and nothing is lost: the vectors are in the store."
            ) from error

    def _follow(self, followed: Followed) -> None:
        generation, head = self._generation, self._store.head(followed.user)
        if followed.generation != generation:
            self._compare(followed)
        elif followed.position != head:
            since = followed.position
            self._catch_up(followed, self._store.changes(followed.user, since, TYPES))
        followed.generation, followed.position = generation, head

    def _compare(self, followed: Followed) -> None:
        user, owner = followed.user, self.owner(followed.user)
        changes = self._store.changes(user, 0, TYPES)
        kept = set(self._store.blob_refs(user, self.space))
        held = self.index.refs(owner)
        if surplus := sorted(held - kept):
            self.index.update(owner, {}, surplus)
        present = [change.ref for change in changes if not change.gone]
        followed.waiting = dict.fromkeys(ref for ref in present if ref not in kept)
        followed.size, followed.refused = 0, {}
        for refs in batches((ref for ref in kept if ref not in held), LOADED):
            found = self.load(followed, refs)
            followed.waiting.update(dict.fromkeys(ref for ref in refs if ref not in found))
        if held and not followed.size:
            self._stored(followed, list(islice(kept, LOADED)))

    def _catch_up(self, followed: Followed, changes: Sequence[Change]) -> None:
        gone = [change.ref for change in changes if change.gone]
        for refs in batches((change.ref for change in changes if not change.gone), LOADED):
            found = self.load(followed, refs)
            followed.waiting.update(dict.fromkeys(ref for ref in refs if ref not in found))
        for ref in gone:
            followed.waiting.pop(ref, None)
            followed.refused.pop(ref, None)
        if gone:
            self.index.update(self.owner(followed.user), {}, gone)

    def _stored(self, followed: Followed, refs: Sequence[str]) -> VectorsByRef:
        found: VectorsByRef = {}
        for ref, blob in self._store.get_blobs(followed.user, self.space, refs).items():
            refusal = Refusal.of(blob)
            if refusal is not None:
                found[ref], followed.refused[ref] = None, refusal
                continue
            if is_damaged(blob):
                continue  # as good as none: it is made again
            found[ref] = np.frombuffer(blob, "<f4")
            followed.refused.pop(ref, None)
            followed.size = followed.size or len(blob) // 4
        return found


def is_damaged(blob: bytes) -> bool:
    """Say whether a blob is neither a vector nor what stands for one."""
    return not blob or (len(blob) % 4 != 0 and Refusal.of(blob) is None)


def space_of(name: str) -> str:
    """Return where the store keeps the vectors of an embedder."""
    return f"vector:{name}"


def owner_of(user: str, name: str) -> str:
    """Return whom an index knows as the user.

    Vectors of two models must not meet in one index, even if they are of one length.
    """
    return f"{len(name)}:{name}:{user}"


def split_owner(owner: str) -> tuple[str, str]:
    """Return the embedder's name and the user's, from what an index knows the user as."""
    size, _, rest = owner.partition(":")
    return rest[: int(size)], rest[int(size) + 1 :]


def batches(refs: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield the refs in lists of at most this size."""
    left = iter(refs)
    while batch := list(islice(left, size)):
        yield batch

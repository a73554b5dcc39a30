"""Keeps a vector index in line with the vectors in the store.

Per user, the changes feed tells what to look at. At the beginning, and whenever the index has
failed, records, vectors and index are compared as a whole: what the index lacks it is given, what
it has too much is taken away. Nothing is believed that the store does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from ...errors import CtxmwError, StoreError
from ...protocols import VectorIndex
from ...store.journal import Feed
from ...store.replica import Projection, Replica
from ...store.rows import batches
from ...values.records import RECORD_TYPES
from .embedding import Refusal

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

    limit_bytes: int
    """Users that were not asked about for the longest time are let go until it holds."""

    def bytes(self) -> int: ...

    def unload(self, user: str, /) -> None: ...


class Followed(Projection):
    """What is known of one user's vectors; the vectors themselves are in the index."""

    def __init__(self, following: Following, user: str) -> None:
        super().__init__()
        self._following = following
        self._user = user
        self._compared = False
        self.waiting: dict[str, None] = {}
        """Refs that have no vector yet, the oldest first."""
        self.refused: dict[str, Refusal] = {}
        """Refs whose vector made no sense."""
        self.size = 0
        """How many numbers the user's vectors have; 0: not known."""

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if self._compared:
            self._catch_up(written, gone)
        else:
            self._compare(written)
            self._compared = True

    def without_vector(self, now: float) -> list[str]:
        """Return the refs to embed, the newest first: those that wait, and those to try again."""
        again = [ref for ref, refusal in self.refused.items() if refusal.is_due(now)]
        return [*reversed(self.waiting), *again]

    def give(self, refs: Sequence[str]) -> VectorsByRef:
        """Give the index what the store has for these refs, and return that."""
        found = self._stored(refs)
        vectors = {ref: vector for ref, vector in found.items() if vector is not None}
        self._update(vectors, [ref for ref in refs if ref not in vectors])
        return found

    def _compare(self, present: Sequence[str]) -> None:
        following = self._following
        kept = set(following.store.blob_refs(self._user, following.space))
        held = following.index.refs(following.owner(self._user))
        if surplus := sorted(held - kept):
            self._update({}, surplus)
        self.waiting = dict.fromkeys(ref for ref in present if ref not in kept)
        self._give_all(ref for ref in kept if ref not in held)
        if held and not self.size:
            self._stored(list(islice(kept, LOADED)))

    def _catch_up(self, written: Sequence[str], gone: Collection[str]) -> None:
        self._give_all(written)
        for ref in gone:
            self.waiting.pop(ref, None)
            self.refused.pop(ref, None)
        if gone:
            self._update({}, list(gone))

    def _give_all(self, refs: Iterable[str]) -> None:
        for some in batches(refs, LOADED):
            found = self.give(some)
            self.waiting.update(dict.fromkeys(ref for ref in some if ref not in found))

    def _update(self, vectors: Mapping[str, FloatArray], gone: Sequence[str]) -> None:
        self._following.index.update(self._following.owner(self._user), vectors, gone)

    def _stored(self, refs: Sequence[str]) -> VectorsByRef:
        found: VectorsByRef = {}
        store, space = self._following.store, self._following.space
        for ref, blob in store.get_blobs(self._user, space, refs).items():
            refusal = Refusal.of(blob)
            if refusal is not None:
                found[ref], self.refused[ref] = None, refusal
                continue
            if is_damaged(blob):
                continue  # as good as none: it is made again
            found[ref] = np.frombuffer(blob, "<f4")
            self.refused.pop(ref, None)
            self.size = self.size or len(blob) // 4
        return found


class Following:
    """One index over the vectors of one embedder."""

    def __init__(self, feed: Feed, index: VectorIndex, name: str) -> None:
        self.store = feed.store
        self.index = index
        self.space = space_of(name)
        self._name = name
        # However many users: an index in memory is kept small by `make_room`.
        self._replica = Replica(feed, TYPES, lambda user: Followed(self, user))

    def in_line(self, user: str, action: Callable[[Followed], T]) -> T:
        """Bring the index in line with the store, then act on it.

        When the index fails, all is compared and tried once more: it may have lost something, or
        may have begun anew.
        """
        try:
            return self._attempt(user, action)
        except StoreError:
            return self._attempt(user, action)
        finally:
            if self.store.in_atomic():  # what it is in line with now may be undone
                self._replica.let_go(user)

    @contextmanager
    def hold(self, user: str) -> Iterator[Followed]:
        """Yield what was known when the index was last in line; nobody else follows meanwhile."""
        kept = self._replica.kept(user)
        with kept.lock:
            yield kept.value

    def begin_anew(self, user: str) -> None:
        """Compare all of the user's with the next call."""
        self._replica.let_go(user)

    def clear(self, user: str, name: str) -> None:
        """Take everything out of the index that came from an embedder of this name."""
        owner = owner_of(user, name)
        if held := sorted(self.index.refs(owner)):
            self.index.update(owner, {}, held)

    def owner(self, user: str) -> str:
        """Return whom the index knows as the user."""
        return owner_of(user, self._name)

    def make_room(self, user: str) -> None:
        """Unload users until the index keeps to its limit, this one not among them."""
        if not isinstance(self.index, InMemory) or self.index.bytes() <= self.index.limit_bytes:
            return
        # Whoever is being asked about now is not the one to go.
        for kept in self._replica.idle(but=user):
            if self.index.bytes() <= self.index.limit_bytes:
                return
            if kept.generation >= 0:
                self.index.unload(self.owner(kept.user))
                self._replica.let_go(kept.user)

    def _attempt(self, user: str, action: Callable[[Followed], T]) -> T:
        try:
            with self._replica.use(user) as followed:
                return action(followed)
        except StoreError:
            self._replica.distrust()
            raise
        except CtxmwError:
            raise
        except Exception as error:  # an index may be anybody's, and raise anything
            self._replica.distrust()
            raise StoreError(
                f"the vector index {self.index.name!r:.60} failed: {error!r:.200}. Search goes on "
                "by words alone, and nothing is lost: the vectors are in the store."
            ) from error


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

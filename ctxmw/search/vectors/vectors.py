"""The vectors of a user's records: made once, kept in the store, searched in an index.

A vector is made from a record's text by whichever process comes first, and goes with it in one
transaction. Everything can be stopped at any point: what has no vector yet is seen in the store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...errors import EmbedderError, InvalidValue
from ...protocols import Clock, Embedder, Row, Store, VectorIndex
from ...runtime.lru import LruCache
from ...runtime.telemetry import Faults
from ...store.journal import Feed
from ...values.records import SHARED, load, utc_now
from . import calibration
from .embedding import CHARS, Refusal, embed_checked
from .follow import TYPES, Followed, Following, VectorsByRef, is_damaged, space_of

if TYPE_CHECKING:
    from ...protocols import FloatArray

BATCH = 64
"""Texts embedded and kept at a time; a process that is killed loses no more than these."""
ASKED = 64
"""How many questions' vectors are kept at hand: one call may ask the same several times."""

_ANYTHING = "Is anybody there?"
_TWICE = 2

RecordsDone = Callable[[int, int], None]
"""Told how many records are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh did."""

    embedded: int
    refused: int
    """Records that cannot be found by meaning: nothing to embed, or zeros, NaN or infinity."""


@dataclass(slots=True, eq=False)
class _Pace:
    """How a user's records are embedded."""

    embedding: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one thread that embeds for this user; others may search meanwhile."""
    step: int = BATCH
    """How many texts the embedder is given at a time; fewer while one of them is too much."""


class Vectors:
    """The vectors of all users under one embedder. Any thread may use it, outside `atomic`.

    A record that is edited without a word of it changing keeps its vector.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        index: VectorIndex,
        *,
        clock: Clock = utc_now,
        faults: Faults | None = None,
        feed: Feed | None = None,
    ) -> None:
        """Join a store, an embedder and an index."""
        self._store = store
        self._embedder = embedder
        self._following = Following(feed or Feed(store), index, embedder.name)
        self._paces: dict[str, _Pace] = {}
        self._clock = clock
        self._faults = faults or Faults()
        self._levels: calibration.Levels | None = None
        self._asked: LruCache[tuple[str, str], tuple[FloatArray | None, int]] = LruCache(ASKED)

    @property
    def embedder(self) -> str:
        """The name of the embedder."""
        return self._embedder.name

    def refresh(self, user: str, progress: RecordsDone | None = None) -> Refreshed:
        """Embed what is new or changed, the newest first, and bring the index in line.

        Works in small steps, each of them kept. Raises EmbedderError or StoreError when the
        embedder or the index fails; the next call goes on from there.
        """
        pace = self._pace(user)
        made: list[bool] = []
        done = 0
        with pace.embedding:
            waiting = self._without_vector(user)
            while done < len(waiting):
                some, kept = self._embed_some(user, pace, waiting[done : done + BATCH])
                made += [vector is not None for vector in kept.values()]
                done += some
                if progress is not None:
                    progress(done, len(waiting))
        self._following.make_room(user)
        return Refreshed(embedded=made.count(True), refused=made.count(False))

    def freshen(self, user: str) -> tuple[int, int]:
        """Embed the newest few that have no vector; return how many, and how many are left.

        Does nothing while another thread embeds for this user.
        """
        pace = self._pace(user)
        waiting = self._without_vector(user)
        if not waiting or not pace.embedding.acquire(blocking=False):
            return 0, len(waiting)
        try:
            some, _ = self._embed_some(user, pace, waiting[:BATCH])
        finally:
            pace.embedding.release()
        self._following.make_room(user)
        return some, len(waiting) - some

    def waiting(self, user: str) -> int:
        """Return how many records had no vector when the index was last in line."""
        with self._following.hold(user) as followed:
            return len(followed.without_vector(self._now()))

    def reindex(self, user: str, progress: RecordsDone | None = None) -> Refreshed:
        """Embed everything anew, and let go of the vectors of every embedder before this one."""
        self._embed([_ANYTHING], 0)  # nothing is let go before the embedder has answered
        with self._pace(user).embedding, self._following.hold(user):
            for name in {*self._names(user), self._embedder.name}:
                self._following.clear(user, name)
                self._store.drop_blobs(user, space_of(name))
            self._store.drop_blobs(SHARED, _levels_space(self._embedder))
            self._levels = None
            self._asked = LruCache(ASKED)
            self._following.begin_anew(user)
        return self.refresh(user, progress)

    def similar(self, user: str, query: str, n: int) -> list[tuple[str, float]]:
        """Return refs and cosines of the `n` records nearest to the question, the nearest first.

        Knows every record that has a vector, whichever process made it; `refresh` makes those
        that are missing. A question that gives no vector finds nothing.
        """
        if n <= 0 or not query.strip():
            return []
        vector, length = self._vector_of(user, query[:CHARS])
        if vector is None:
            return []

        def nearest(followed: Followed) -> list[tuple[str, float]]:
            self._check_size(followed.size, length)
            return self._following.index.nearest(self._following.owner(user), vector, n)

        found = self._following.in_line(user, nearest)
        self._following.make_room(user)
        return found

    def calibrated(self, cosine: float) -> float:
        """Return how well a record with this cosine matches, from 0 to 1; see `calibration`.

        The first call for an embedder embeds a few short texts; the store remembers the outcome.
        """
        return self.levels().match(cosine)

    def levels(self) -> calibration.Levels:
        """Return between which cosines a match grows."""
        if self._levels is None:
            self._levels = self._known_levels() or self._new_levels()
        return self._levels

    def close(self) -> None:
        """Close the index; closing twice is fine."""
        self._following.index.close()

    def _vector_of(self, user: str, query: str) -> tuple[FloatArray | None, int]:
        known = self._asked.get((user, query))
        if known is None:
            (vector,), length = embed_checked(self._embedder, query)
            known = vector, length
            if vector is not None:
                self._asked.put((user, query), known)
        return known

    def _pace(self, user: str) -> _Pace:
        return self._paces.setdefault(user, _Pace())

    def _without_vector(self, user: str) -> list[str]:
        now = self._now()
        return self._following.in_line(user, lambda followed: followed.without_vector(now))

    def _now(self) -> float:
        return self._clock().timestamp()

    def _embed_some(self, user: str, pace: _Pace, refs: Sequence[str]) -> tuple[int, VectorsByRef]:
        """Make and keep the vectors of the first of these rows; say of how many, and return them.

        One text that the embedder cannot take would hold up all that come with it. So fewer and
        fewer are tried, and one that fails alone, twice, is left for later, as one without a
        vector.
        """
        alone = 0
        while True:
            some = refs[: pace.step]
            try:
                kept = self._embed_rows(user, some)
            except EmbedderError as error:
                self._embed([_ANYTHING], 0)  # fails, too, when it is not about these texts
                pace.step = max(1, len(some) // 2)
                alone += len(some) == 1
                if alone < _TWICE:
                    continue
                says = f"{some[0]} is not found by meaning"
                self._faults.tell("embed", (user, some[0]), error, says)
                kept = self._embed_rows(user, some, refused=True)
            pace.step = min(2 * pace.step, BATCH)
            return len(some), kept

    def _embed_rows(self, user: str, refs: Sequence[str], *, refused: bool = False) -> VectorsByRef:
        """Make and keep the vectors of these rows, and return them."""
        now = self._now()
        blobs = self._store.get_blobs(user, self._following.space, refs)
        # Another process may have been faster.
        known = {ref for ref, blob in blobs.items() if not _to_try_again(blob, now)}
        asked = self._store.get(user, [ref for ref in refs if ref not in known])
        rows = [row for row in asked if row.live and row.type in TYPES]
        made: VectorsByRef = {row.ref: None for row in rows}
        if not refused:
            with self._following.hold(user) as followed:
                size = followed.size
            made |= self._made(rows, size)
        # Until store and index have the same, nobody else here follows the feed.
        with self._following.hold(user) as followed:
            kept = self._keep(user, followed.refused, rows, made, now)
            changed = made.keys() - kept.keys()
            for ref in refs:
                if ref not in changed:
                    followed.waiting.pop(ref, None)
            new = [*known, *kept]
            self._following.in_line(user, lambda followed: followed.give(new))
        return kept

    def _made(self, rows: Sequence[Row], size: int) -> VectorsByRef:
        found = self._faults.read([row for row in rows if row.search_text], load)
        calibration_texts = {record.ref: record.says()[:CHARS] for record in found}
        distinct = list(dict.fromkeys(calibration_texts.values()))
        vectors = dict(zip(distinct, self._embed(distinct, size), strict=True))
        return {row.ref: vectors.get(calibration_texts.get(row.ref, "")) for row in rows}

    def _keep(
        self,
        user: str,
        refused: Mapping[str, Refusal],
        rows: Sequence[Row],
        made: VectorsByRef,
        now: float,
    ) -> VectorsByRef:
        """Keep the vectors of rows that still say what was embedded."""
        with self._store.atomic(user):
            present = {row.ref: row for row in self._store.get(user, list(made))}
            same = [row for row in rows if _says_same(row, present.get(row.ref))]
            blobs = {}
            for row in same:
                vector, before = made[row.ref], refused.get(row.ref)
                refusal = Refusal.after(before, now, final=not row.search_text)
                blobs[row.ref] = refusal.blob() if vector is None else vector.tobytes()
            self._store.put_blobs(user, self._following.space, blobs)
        return {row.ref: made[row.ref] for row in same}

    def _embed(self, calibration_texts: Sequence[str], size: int) -> Sequence[FloatArray | None]:
        if not calibration_texts:
            return []
        vectors, length = embed_checked(self._embedder, calibration_texts)
        self._check_size(size, length)
        return vectors

    def _names(self, user: str) -> list[str]:
        """Return the embedders of which the user has vectors."""
        begin = space_of("")
        spaces = self._store.blob_spaces(user)
        return [space.removeprefix(begin) for space in spaces if space.startswith(begin)]

    def _check_size(self, size: int, length: int) -> None:
        if size and length != size:
            raise InvalidValue(
                f"the embedder {self._embedder.name!r:.80} gives vectors of {length} numbers, and "
                f"gave {size} before: give the changed model another name, or run `ctxmw reindex`."
            )

    def _known_levels(self) -> calibration.Levels | None:
        blobs = self._store.get_blobs(SHARED, _levels_space(self._embedder), ["*"])
        return calibration.Levels(*np.frombuffer(blobs["*"], "<f8").tolist()) if blobs else None

    def _new_levels(self) -> calibration.Levels:
        vectors = [v for v in self._embed(calibration.calibration_texts(), 0) if v is not None]
        if len(vectors) < len(calibration.calibration_texts()):
            return calibration.Levels(0.0, 0.0)
        found = calibration.levels(vectors)
        blob = np.array([found.unrelated, found.certain], "<f8").tobytes()
        self._store.put_blobs(SHARED, _levels_space(self._embedder), {"*": blob})
        return found


def _levels_space(embedder: Embedder) -> str:
    # The number rises with the texts that embedders are asked about.
    return f"calibration:1:{embedder.name}"


def _to_try_again(blob: bytes, now: float) -> bool:
    refusal = Refusal.of(blob)
    return is_damaged(blob) if refusal is None else refusal.is_due(now)


def _says_same(row: Row, now: Row | None) -> bool:
    return now is not None and now.live and now.search_text == row.search_text

"""The default vector index: every vector of a user in one matrix, compared with all of them.

Exact, with nothing to build: a scan of 10,000 vectors takes about a millisecond. It lives in
memory only; `Vectors` fills it from the store and keeps it in line with the changes feed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InvalidValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...protocols import FloatArray

_FIRST_ROWS = 64


class NumpyIndex:
    """Finds the nearest vectors by comparing all. Any thread may use it."""

    name = "numpy"

    def __init__(self, limit_bytes: int = 512 * 2**20) -> None:
        self.limit_bytes = limit_bytes
        self._users: dict[str, _Matrix] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def update(self, user: str, vectors: Mapping[str, FloatArray], gone: Sequence[str], /) -> None:
        """Take in new or changed vectors and let go of those that are gone."""
        with self._lock:
            matrix = self._users.get(user)
            if matrix is None and vectors:
                matrix = self._users[user] = _Matrix(len(next(iter(vectors.values()))))
                self._bytes += matrix.bytes()
            if matrix is None:
                return
            before = matrix.bytes()
            left = matrix.update(vectors, gone)
            self._bytes += matrix.bytes() - before
            if not left:
                self._let_go(user)

    def nearest(self, user: str, vector: FloatArray, n: int, /) -> list[tuple[str, float]]:
        """Return refs and cosines, the nearest first."""
        matrix = self._users.get(user)
        return matrix.nearest(vector, n) if matrix is not None and n > 0 else []

    def refs(self, user: str, /) -> frozenset[str]:
        """Return what it holds, to see whether it is behind."""
        matrix = self._users.get(user)
        return matrix.held() if matrix is not None else frozenset()

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        with self._lock:
            self._users.clear()
            self._bytes = 0

    def bytes(self) -> int:
        """Return how much memory the vectors of all users take."""
        return self._bytes

    def unload(self, user: str, /) -> None:
        """Let go of one user's vectors; they can be loaded again."""
        with self._lock:
            self._let_go(user)

    def _let_go(self, user: str) -> None:
        matrix = self._users.pop(user, None)
        if matrix is not None:
            self._bytes -= matrix.bytes()


class _Matrix:
    """The vectors of one user, one a row, each of length 1."""

    def __init__(self, size: int) -> None:
        self._rows: FloatArray = np.empty((_FIRST_ROWS, size), np.float32)
        self._refs: list[str] = []
        self._at: dict[str, int] = {}
        self._lock = threading.Lock()

    def update(self, vectors: Mapping[str, FloatArray], gone: Sequence[str]) -> int:
        """Take in and let go; return how many there are now."""
        for vector in vectors.values():
            self._check(vector)
        with self._lock:
            for ref in gone:
                self._remove(ref)
            if vectors:
                self._make_room(len(self._refs) + len(vectors))
                places = [self._place(ref) for ref in vectors]
                self._rows[places] = _of_length_one(np.stack(list(vectors.values())))
            return len(self._refs)

    def nearest(self, vector: FloatArray, n: int) -> list[tuple[str, float]]:
        self._check(vector)
        asked = _of_length_one(vector)
        with self._lock:
            # Not `@`: it wakes the threads of BLAS, and on a busy machine waits for them for
            # twenty milliseconds, even over a few thousand rows.
            cosines = np.einsum("ij,j->i", self._rows[: len(self._refs)], asked)
            best = _largest(cosines, n)
            refs = [self._refs[at] for at in best.tolist()]
        return list(zip(refs, cosines[best].tolist(), strict=True))

    def held(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._refs)

    def bytes(self) -> int:
        return self._rows.nbytes

    def _place(self, ref: str) -> int:
        if ref not in self._at:
            self._at[ref] = len(self._refs)
            self._refs.append(ref)
        return self._at[ref]

    def _remove(self, ref: str) -> None:
        """Move the last row into the place of the one that goes."""
        at = self._at.pop(ref, None)
        if at is None:
            return
        last = self._refs.pop()
        if last != ref:
            self._rows[at] = self._rows[len(self._refs)]
            self._refs[at] = last
            self._at[last] = at

    def _make_room(self, rows: int) -> None:
        if rows > len(self._rows):
            larger = np.empty((rows + rows // 4, self._rows.shape[1]), np.float32)
            larger[: len(self._refs)] = self._rows[: len(self._refs)]
            self._rows = larger

    def _check(self, vector: FloatArray) -> None:
        if vector.shape != (self._rows.shape[1],):
            raise InvalidValue(
                f"a vector of {vector.size} numbers among vectors of {self._rows.shape[1]}: "
                "vectors of one user must all come from one embedder."
            )


def _of_length_one(vectors: FloatArray) -> FloatArray:
    units: FloatArray = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return units


def _largest(values: FloatArray, n: int) -> NDArray[np.intp]:
    """Return where the `n` largest are, the largest first."""
    chosen = np.argpartition(values, -n)[-n:] if n < len(values) else np.arange(len(values))
    order: NDArray[np.intp] = chosen[np.argsort(-values[chosen], kind="stable")]
    return order

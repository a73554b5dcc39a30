"""Arrays that grow, for what is known of many records at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST = 64
_WHOLE = tuple(np.dtype(kind) for kind in ("i1", "i2", "i4"))


class Column:
    """An array that grows by a quarter. One more slot holds the value of "no such record".

    Whole numbers take as few bytes as the largest of them so far; `kind` is the most they may take.
    """

    __slots__ = ("_data", "_kind", "_most", "_neutral", "all", "size")

    def __init__(self, kind: str, neutral: float = 0) -> None:
        self.size = 0
        self._kind = np.dtype(kind)
        self._neutral = neutral
        self._keep_in(np.empty(_SMALLEST, "i1" if self._kind.kind == "i" else kind))
        self._data[0] = neutral

    @classmethod
    def over(
        cls,
        kept: NDArray[Any],
        kind: str,
        neutral: float = 0,
        *,
        whole: NDArray[Any] | None = None,
    ) -> Column:
        """Return what `all` gave, in as few bytes as it was kept in, until something changes.

        `whole` begins with it and has room for more; it is the column's from now on.
        """
        column = cls(kind, neutral)
        column.size = len(kept) - 1
        column._keep_in(kept if whole is None else whole)
        return column

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        """Put values behind those there are."""
        size = self.size + len(values)
        if size == self.size:
            return
        if size >= len(self._data) or not self._holds(values):
            self._move(size + max(size // 4, _SMALLEST), values)
        self._data[self.size : size] = values
        self._data[size] = self._neutral
        self.size = size
        self.all = self._data[: size + 1]

    def __setitem__(self, place: int | Sequence[int], value: float | Sequence[float]) -> None:
        values = value if isinstance(value, Sequence) else [value]
        if not self._data.flags.writeable or not self._holds(values):
            self._move(len(self._data), values)
        self._data[place] = value

    def _holds(self, values: Sequence[float] | NDArray[Any]) -> bool:
        """Say whether values fit into as many bytes as numbers have here."""
        return not self._most or not len(values) or _are_within(self._most, values)

    def _move(self, room: int, values: Sequence[float] | NDArray[Any]) -> None:
        # What is not used yet is not written: its pages cost nothing.
        data = np.empty(room, self._data.dtype if self._holds(values) else self._wider(values))
        data[: self.size + 1] = self.all
        self._keep_in(data)

    def _keep_in(self, data: NDArray[Any]) -> None:
        self._data = data
        self.all = data[: self.size + 1]
        """The values, and behind them the neutral one: index -1 means "no such record"."""
        self._most = 0 if data.dtype == self._kind else _most(data.dtype)
        """The largest number that there is room for; 0 when all of them have."""

    def _wider(self, values: Sequence[float] | NDArray[Any]) -> np.dtype[Any]:
        least, most = self._data.dtype.itemsize, self._kind.itemsize
        wider = (kind for kind in _WHOLE if least < kind.itemsize < most)
        return next((kind for kind in wider if _are_within(_most(kind), values)), self._kind)

    @property
    def own(self) -> NDArray[Any]:
        return self._data[: self.size]


class Grown:
    """Whole numbers behind those of a copy, which stay where they are, however many."""

    __slots__ = ("_kept", "_new")

    def __init__(self, kept: NDArray[Any] | None = None) -> None:
        self._kept: NDArray[Any] = np.zeros(0, np.int32) if kept is None else kept
        self._new = Column("i4")

    def __len__(self) -> int:
        return len(self._kept) + self._new.size

    def extend(self, values: NDArray[Any]) -> None:
        """Put values behind those there are."""
        self._new.extend(values)

    def take(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the values at these places."""
        behind = places - len(self._kept)
        if not self._new.size or not (behind >= 0).any():
            return self._kept[places].astype(np.int32, copy=False)
        taken = self._new.own[np.maximum(behind, 0)].astype(np.int32, copy=False)
        kept = np.flatnonzero(behind < 0)
        taken[kept] = self._kept[places[kept]]
        return taken

    def last(self, n: int) -> NDArray[Any]:
        """Return the last n values."""
        if n <= self._new.size:
            return self._new.own[self._new.size - n :]
        return np.concatenate([self._kept[len(self) - n :], self._new.own])

    def all(self) -> NDArray[Any]:
        """Return every value, for a copy."""
        return self.last(len(self))


def small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in as few bytes as they take, with a sign; others as they are."""
    if numbers.dtype.kind != "i":
        return numbers
    if not len(numbers):
        return numbers.astype(_WHOLE[0])
    fits = (kind for kind in _WHOLE if _are_within(_most(kind), numbers))
    return numbers.astype(next(fits, numbers.dtype), copy=False)


def _most(kind: np.dtype[Any]) -> int:
    return int(np.iinfo(kind).max)


def _are_within(most: int, values: Sequence[float] | NDArray[Any]) -> bool:
    """Say whether these numbers, one at least, are no further from zero than that."""
    if isinstance(values, np.ndarray):
        return bool(-most <= values.min() and values.max() <= most)
    return -most <= min(values) and max(values) <= most


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values without repetition, in order; `np.unique` loads much of numpy first."""
    ordered: NDArray[Any] = np.sort(values)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    found: NDArray[Any] = ordered[first]
    return found


def runs(starts: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each start on, so many each, one run behind the other."""
    behind = np.cumsum(lengths) - lengths
    return np.repeat(starts - behind, lengths) + np.arange(lengths.sum())

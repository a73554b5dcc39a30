"""Arrays that grow, for what is known of many records at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SMALLEST = 64


class Column:
    """An array that grows by a half. One more slot holds the value of "no such record"."""

    __slots__ = ("_data", "_kind", "_neutral", "size")

    def __init__(self, kind: str, neutral: float = 0) -> None:
        self.size = 0
        self._kind = kind
        self._neutral = neutral
        self._data: NDArray[Any] = np.empty(_SMALLEST, kind)
        self._data[0] = neutral

    @classmethod
    def over(cls, kept: NDArray[Any], kind: str, neutral: float = 0) -> Column:
        """Return what `all` gave, in as few bytes as it was kept in, until something changes."""
        column = cls(kind, neutral)
        column.size = len(kept) - 1
        column._data = kept
        return column

    def append(self, value: float) -> None:
        """Put one value behind those there are."""
        self.extend([value])

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        """Put values behind those there are."""
        size = self.size + len(values)
        if size == self.size:
            return
        if size >= len(self._data):
            self._move(size + max(size // 2, _SMALLEST))
        self._data[self.size : size] = values
        self._data[size] = self._neutral
        self.size = size

    def __setitem__(self, place: int | Sequence[int], value: float | Sequence[float]) -> None:
        if not self._data.flags.writeable:
            self._move(len(self._data))
        self._data[place] = value

    def _move(self, room: int) -> None:
        # What is not used yet is not written: its pages cost nothing.
        data = np.empty(room, self._kind)
        data[: self.size + 1] = self.all
        self._data = data

    @property
    def all(self) -> NDArray[Any]:
        """The values, and behind them the neutral one: index -1 means "no such record"."""
        return self._data[: self.size + 1]

    @property
    def own(self) -> NDArray[Any]:
        return self._data[: self.size]


def small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in as few bytes as they take, with a sign; others as they are."""
    if numbers.dtype.kind != "i":
        return numbers
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kinds = (np.dtype(kind) for kind in ("i1", "i2", "i4"))
    fits = (k for k in kinds if np.iinfo(k).min <= least and most <= np.iinfo(k).max)
    return numbers.astype(next(fits, numbers.dtype), copy=False)


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

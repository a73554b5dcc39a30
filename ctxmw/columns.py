"""Arrays that grow, for what is known of many records at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Column:
    """An array that grows by doubling. One more slot holds the value of "no such record"."""

    __slots__ = ("_data", "_neutral", "size")

    def __init__(self, kept: NDArray[Any], neutral: float = 0) -> None:
        self.size = len(kept)
        self._neutral = neutral
        room = np.full(max(64, self.size + 2), neutral, kept.dtype)
        room[: self.size] = kept
        self._data = room

    def append(self, value: float) -> None:
        """Put one value behind those there are."""
        if self.size + 1 >= len(self._data):
            self._grow(self.size + 1)
        self._data[self.size] = value
        self.size += 1

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        """Put values behind those there are."""
        size = self.size + len(values)
        if size >= len(self._data):
            self._grow(size)
        self._data[self.size : size] = values
        self.size = size

    def __setitem__(self, place: int, value: float) -> None:
        self._data[place] = value

    def _grow(self, size: int) -> None:
        more = np.full(max(size + 1, len(self._data)), self._neutral, self._data.dtype)
        self._data = np.concatenate([self._data, more])

    @property
    def all(self) -> NDArray[Any]:
        """The values, and behind them the neutral one: index -1 means "no such record"."""
        return self._data[: self.size + 1]

    @property
    def own(self) -> NDArray[Any]:
        return self._data[: self.size]

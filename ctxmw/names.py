"""Texts by number and numbers by text, a million of them at no cost when they come from a copy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = ("ends", "order", "letters")


class Names:
    """Texts, numbered in the order in which they first came.

    Those of a copy stay the bytes that were kept, in the order of which they are looked up; only
    what is asked for becomes a text. Those that came since are at hand.
    """

    __slots__ = ("_ends", "_letters", "_new", "_numbers", "_order")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ends: NDArray[np.integer[Any]] = np.zeros(0, np.int64)
        self._order: NDArray[np.int32] = np.zeros(0, np.int32)
        self._letters = memoryview(b"")
        self._new: list[str] = []
        self._numbers: dict[str, int] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return len(self._ends) + len(self._new)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> str:
        if number < len(self._ends):
            return self._kept(number).decode()
        return self._new[number - len(self._ends)]

    def find(self, name: str) -> int:
        """Return the number of a text; -1 when it is not here."""
        if name in self._numbers:
            return self._numbers[name]
        number = self._among_kept(name)
        if number >= 0:
            self._numbers[name] = number  # it will be asked for again
        return number

    def add(self, name: str) -> int:
        """Return the number of a text, a new one when it is new."""
        number = self.find(name)
        if number < 0:
            number = self._numbers[name] = len(self)
            self._new.append(name)
        return number

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a copy."""
        kept = [self._kept(number) for number in range(len(self._ends))]
        letters = [*kept, *(name.encode() for name in self._new)]
        # Both runs are in order: they are only merged.
        new = sorted(range(len(kept), len(letters)), key=letters.__getitem__)
        order = sorted([*self._order.tolist(), *new], key=letters.__getitem__)
        ends = np.cumsum([len(one) for one in letters], dtype=np.int64)
        return {
            "ends": ends.astype(np.min_scalar_type(ends[-1])) if len(ends) else ends,
            "order": np.array(order, np.int32),
            "letters": np.frombuffer(b"".join(letters), np.uint8),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Names:
        """Return the texts that `arrays` gave."""
        names = cls()
        ends, order, letters = (arrays[part] for part in _PARTS)
        if len(order) != len(ends) or (len(ends) and ends[-1] != len(letters)):
            raise ValueError(f"{len(order)} names in order of {len(ends)}")
        names._ends, names._order, names._letters = ends, order, letters.data
        return names

    def _kept(self, number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        return bytes(self._letters[start : self._ends[number]])

    def _among_kept(self, name: str) -> int:
        wanted = name.encode(errors="surrogatepass")
        at = bisect_left(self._order, wanted, key=self._kept)
        found = at < len(self._order) and self._kept(self._order[at]) == wanted
        return int(self._order[at]) if found else -1

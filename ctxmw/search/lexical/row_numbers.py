"""Where the record of each ref stands: places are given in order, and none is given twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.packing import found_under, under
from .columns import Column
from .strings import StringTable, only

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RowNumbers:
    """The places of records, by ref. What is gone leaves its place empty."""

    __slots__ = ("_names", "_numbers", "_places", "dead")

    def __init__(self) -> None:
        self._names = StringTable()
        self._numbers = Column("i4")
        """By place: the number of its ref."""
        self._places = Column("i4", -1)
        """By number: where the ref stands; -1 when its record is gone."""
        self.dead = 0
        """How many places are of records that are gone."""

    def __len__(self) -> int:
        return self._numbers.size

    def ref(self, place: int) -> str:
        """Return the ref of the record that stands, or stood, at a place."""
        return self._names[int(self._numbers.own[place])]

    def refs(self, places: NDArray[np.int32]) -> list[str]:
        """Return the refs of the records that stand, or stood, at these places."""
        return [self._names[number] for number in self._numbers.own[places].tolist()]

    def find(self, ref: str) -> int:
        """Return where the record of a ref stands; -1 when there is none."""
        number = self._names.find(ref)
        return int(self._places.own[number]) if number >= 0 else -1

    def find_all(self, refs: Iterable[str]) -> NDArray[np.int32]:
        """Return where the records of these refs stand, of those that are here."""
        places: NDArray[np.int32] = self._places.all[self._names.find_all(refs)]
        return places[places >= 0]

    def add(self, refs: Sequence[str]) -> None:
        """Give each of these the next place; none of them may stand anywhere."""
        start = len(self)
        numbers = [self._names.add(ref) for ref in refs]
        self._numbers.extend(numbers)
        self._places.extend([-1] * (len(self._names) - self._places.size))
        self._places[numbers] = list(range(start, len(self)))

    def remove(self, ref: str) -> int:
        """Let a ref stand nowhere, and return where it stood; -1 when it did not."""
        place = self.find(ref)
        if place >= 0:
            self._places[self._names.find(ref)] = -1
            self.dead += 1
        return place

    def settle(self) -> None:
        """Keep refs as bytes."""
        self._names.settle()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a copy."""
        columns = {"numbers": self._numbers.all, "places": self._places.all}
        return columns | under("names", self._names.arrays())

    def only(self, left: NDArray[np.intp]) -> RowNumbers:
        """Return the records of these places, in order, as if only they had ever been here."""
        used = self._numbers.own[left]
        order = np.argsort(used)
        numbers = np.empty(len(left), np.int32)
        numbers[order] = np.arange(len(left))
        places = order.astype(np.int32)
        return RowNumbers.of(
            under("names", only(self._names.arrays(), used[order]))
            | {
                "numbers": np.append(numbers, np.int32(0)),
                "places": np.append(places, np.int32(-1)),
            }
        )

    @classmethod
    def of(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        whole: Mapping[str, NDArray[Any]] | None = None,
    ) -> RowNumbers:
        """Return the places that `arrays` gave; `whole` has room behind them."""
        room = whole or {}
        places = cls()
        places._names = StringTable.of(found_under("names", arrays))
        places._numbers = Column.over(arrays["numbers"], "i4", whole=room.get("numbers"))
        places._places = Column.over(arrays["places"], "i4", -1, whole=room.get("places"))
        places.dead = len(places) - int(np.count_nonzero(places._places.own >= 0))
        return places

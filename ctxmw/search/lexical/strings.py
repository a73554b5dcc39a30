"""Texts by number and numbers by text, a million of them at no cost when they come from a copy.

So are the refs of records, which have places besides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.packing import found_under, under
from .columns import Column, runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = ("ends", "order", "letters")
_AT_HAND = 64
"""How many new texts, or which part of all, stay at hand and do not become bytes ..."""
_SHARE = 4
_FEW = 5000
"""... unless there are more than that: then putting them in order would take too long."""


class StringTable:
    """Texts, numbered in the order in which they first came.

    Most are bytes, which take a tenth of the room; only what is asked for becomes a text. Those of
    a copy stay as they were kept, in the order of which they are looked up. Those that came since
    are at hand, until they are looked up by their hashes.
    """

    __slots__ = ("_ends", "_hashes", "_letters", "_new", "_numbers", "_order")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._ends = _one_by_one(np.zeros(0, np.int64))
        self._order = _one_by_one(np.zeros(0, np.int32))
        """The numbers of what is bytes, as these are ordered, or as their hashes are ..."""
        self._hashes = _one_by_one(np.zeros(0, np.int32))
        """... if there are any."""
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

    def find_all(self, names: Iterable[str]) -> list[int]:
        """Return the number of each text; -1 for one that is not here."""
        known = self._numbers
        return [known[name] if name in known else self.find(name) for name in names]

    def add(self, name: str) -> int:
        """Return the number of a text, a new one when it is new."""
        number = self.find(name)
        if number < 0:
            number = self._numbers[name] = len(self)
            self._new.append(name)
        return number

    def settle(self) -> None:
        """Let those that came last become bytes, if they are many, and not too many."""
        if _AT_HAND < len(self._new) > len(self._ends) // _SHARE and len(self) <= _FEW:
            self._become_bytes()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a copy."""
        letters = [name.encode() for name in self._new]
        ends = np.cumsum([len(self._letters), *map(len, letters)])
        return {
            "ends": _small(np.concatenate([np.asarray(self._ends), ends[1:]])),
            "order": self._ordered(letters),
            "letters": np.frombuffer(b"".join([self._letters, *letters]), np.uint8),
        }

    def _ordered(self, new: Sequence[bytes]) -> NDArray[np.int32]:
        """Return all numbers in the order of their bytes; these are new."""
        kept = len(self._ends)
        if self._hashes:
            every = [*map(self._kept, range(kept)), *new]
            return np.array(sorted(range(len(every)), key=every.__getitem__), np.int32)
        ordered = sorted(range(len(new)), key=new.__getitem__)
        places = [bisect_left(self._order, new[at], key=self._kept) for at in ordered]
        numbers = [kept + at for at in ordered]
        return np.insert(np.asarray(self._order), places, numbers).astype(np.int32)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> StringTable:
        """Return the texts that `arrays` gave."""
        names = cls()
        ends, order, letters = (arrays[part] for part in _PARTS)
        if len(order) != len(ends) or (len(ends) and ends[-1] != len(letters)):
            raise ValueError(f"{len(order)} names in order of {len(ends)}")
        names._ends, names._order = _one_by_one(ends), _one_by_one(order)
        names._letters = letters.data
        return names

    def _become_bytes(self) -> None:
        letters = [name.encode() for name in self._new]
        ends = np.cumsum([len(self._letters), *map(len, letters)])[1:]
        hashes = np.array([*self._hashes_by_number(), *map(_hash, self._new)], np.int32)
        order = np.argsort(hashes).astype(np.int32)
        self._ends = _one_by_one(_small(np.concatenate([np.asarray(self._ends), ends])))
        self._letters = memoryview(b"".join([self._letters, *letters]))
        self._order, self._hashes = _one_by_one(order), _one_by_one(hashes[order])
        self._new, self._numbers = [], {}

    def _hashes_by_number(self) -> Iterable[int]:
        kept = len(self._ends)
        if not self._hashes:
            return (_hash(self[number]) for number in range(kept))
        hashes = np.empty(kept, np.int32)
        hashes[np.asarray(self._order)] = self._hashes
        return hashes.tolist()

    def _kept(self, number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        return bytes(self._letters[start : self._ends[number]])

    def _among_kept(self, name: str) -> int:
        if not len(self._order):
            return -1
        if self._hashes:
            return self._by_hash(name)
        wanted = name.encode(errors="surrogatepass")
        at = bisect_left(self._order, wanted, key=self._kept)
        found = at < len(self._order) and self._kept(self._order[at]) == wanted
        return self._order[at] if found else -1

    def _by_hash(self, name: str) -> int:
        hashes, wanted = self._hashes, _hash(name)
        at = bisect_left(hashes, wanted)
        while at < len(hashes) and hashes[at] == wanted:
            if self[self._order[at]] == name:
                return self._order[at]
            at += 1
        return -1


def _hash(name: str) -> int:
    return hash(name) & 0x7FFF_FFFF


def _one_by_one(numbers: NDArray[Any]) -> memoryview[int]:
    """Return numbers to be read one at a time, at which arrays are slow."""
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False).data


def only(arrays: Mapping[str, NDArray[Any]], used: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of those names alone; `used` has their numbers, in order."""
    ends, order, letters = (arrays[part] for part in _PARTS)
    lengths = np.diff(ends, prepend=ends.dtype.type(0)).astype(np.int64)
    starts = ends.astype(np.int64) - lengths
    is_used = np.zeros(len(ends), bool)
    is_used[used] = True
    return {
        "ends": _small(np.cumsum(lengths[is_used])),
        "order": (np.cumsum(is_used) - 1)[order[is_used[order]]].astype(np.int32),
        "letters": letters[runs(starts[is_used], lengths[is_used])],
    }


def _small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers above zero in as few bytes as they take."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


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
        """Return where the record of each ref stands; -1 when there is none."""
        places: NDArray[np.int32] = self._places.all[self._names.find_all(refs)]
        return places

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

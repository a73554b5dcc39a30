"""Which definitions hold a word, and how often: arrays, so that a large project takes little room.

What was there when the arrays were made stands in one table, sorted by word. Files that came later
are kept beside it until they are many, and places that are gone are passed over by whoever asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .words import bag_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BESIDE = 20_000
"""Entries that stand beside the table before it is made anew."""
_SHARE = 8
"""... or a table of so many times as many."""
_ALIKE, _FURTHER, _MOST_ALIKE = 4, 6, 40
"""Letters in which two words have to begin alike, by how many more they may differ, and how many
such words are looked at."""


class CodePostings:
    """The words of definitions. A definition is a number, its place; none is ever used again."""

    def __init__(self) -> None:
        # A new word gets the next number, without a call into Python.
        self._numbers = defaultdict[str, int](count().__next__)
        self._beside: list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]] = []
        self._waiting = 0
        self._sorted: list[str] = []
        self._starts = np.zeros(1, np.int64)
        self._places = np.zeros(0, np.uint32)
        self._often = np.zeros(0, np.uint8)

    def dump(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Return it as arrays, and the words in the order of their numbers."""
        if self._waiting:
            self._settle()
        arrays: dict[str, NDArray[Any]] = {
            "starts": self._starts,
            "places": self._places,
            "often": self._often,
        }
        return arrays, list(self._numbers)

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], words: Sequence[str]) -> CodePostings:
        """Return what was dumped."""
        made = cls()
        made._numbers.update(zip(words, range(len(words)), strict=True))
        made._numbers.default_factory = count(len(words)).__next__
        made._starts, made._places = arrays["starts"], arrays["places"]
        made._often = arrays["often"]
        return made

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        beside = sum(array.nbytes for entry in self._beside for array in entry)
        return beside + self._starts.nbytes + self._places.nbytes + self._often.nbytes

    def __len__(self) -> int:
        return len(self._places) + self._waiting

    def add(self, first: int, bags: Sequence[str]) -> list[int]:
        """Know what definitions hold, from a place on.

        Return how many words that is of each, a word as often as it is there.
        """
        words: list[str] = []
        held: list[int] = []
        digits: list[bytes] = []
        for bag in bags:
            own, often = bag_words(bag)
            words += own
            held.append(len(own))
            digits.append(often.encode("ascii"))
        if words:
            terms = np.fromiter(map(self._numbers.__getitem__, words), np.uint32, len(words))
            places = np.arange(first, first + len(bags), dtype=np.uint32)
            often_all = np.frombuffer(b"".join(digits), np.uint8) - 48
            self._beside.append((terms, np.repeat(places, held), often_all))
            self._waiting += len(terms)
        return [sum(often) - 48 * len(often) for often in digits]

    def of(self, word: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the places that hold a word, also such as are gone, and how often they do."""
        number = self._numbers.get(word)
        if self._waiting > max(_BESIDE, len(self._places) // _SHARE):
            self._settle()
        if number is None:
            return self._places[:0], self._often[:0]
        places, often = self._places[:0], self._often[:0]
        if number + 1 < len(self._starts):
            begin, end = self._starts[number : number + 2]
            places, often = self._places[begin:end], self._often[begin:end]
        if not self._waiting:
            return places, often
        terms, later, counts = self._joined()
        at = np.flatnonzero(terms == number)
        return np.concatenate([places, later[at]]), np.concatenate([often, counts[at]])

    def often(self, word: str) -> int:
        """Return in how many places a word stands, also such as are gone."""
        return len(self.of(word)[0]) if word in self._numbers else 0

    def beginning_alike(self, word: str) -> list[str]:
        """Return known words that begin with this one, or that it begins with, a little longer.

        Who asks for "authenticate" may mean what is called `auth` here.
        """
        if len(word) < _ALIKE:
            return []
        if len(self._sorted) != len(self._numbers):
            self._sorted = sorted(self._numbers)
        first = bisect_left(self._sorted, word)
        longer = islice(self._sorted, first, first + _MOST_ALIKE)
        found = [one for one in longer if one.startswith(word) and len(one) <= len(word) + _FURTHER]
        shorter = (word[:end] for end in range(max(_ALIKE, len(word) - _FURTHER), len(word)))
        return [*found, *(one for one in shorter if one in self._numbers)]

    def _joined(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        if len(self._beside) > 1:
            terms, places, often = zip(*self._beside, strict=True)
            self._beside = [(np.concatenate(terms), np.concatenate(places), np.concatenate(often))]
        return self._beside[0]

    def _settle(self) -> None:
        """Make the table anew, with what stood beside it."""
        terms, places, often = self._joined()
        held = np.diff(self._starts)
        known = np.repeat(np.arange(len(held), dtype=np.uint32), held)
        terms = np.concatenate([known, terms])
        order = _in_order(terms)
        self._places = np.concatenate([self._places, places])[order]
        self._often = np.concatenate([self._often, often])[order]
        counts = np.bincount(terms, minlength=len(self._numbers))
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._beside, self._waiting = [], 0


def _in_order(terms: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return what a stable sort returns, four times as fast: no two numbers are the same."""
    places = np.arange(len(terms), dtype=np.uint64)
    numbers = np.sort((terms.astype(np.uint64) << np.uint64(32)) | places)
    return (numbers & np.uint64(0xFFFFFFFF)).astype(np.intp)

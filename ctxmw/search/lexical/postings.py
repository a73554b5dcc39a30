"""The terms that occur, numbered, and which records hold each, how often.

Most lists are frozen in one block, quick to read and to keep in the store. What came since is a
small rest beside it, merged when it has grown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...text.lexicon import STOP_WORDS
from ...text.terms import stem
from .strings import StringTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Frozen:
    """Posting lists of all terms, one behind the other."""

    offsets: NDArray[np.int64]
    places: Ints
    counts: NDArray[np.unsignedinteger[Any]]
    """How often a place holds a term, in as few bytes as that takes."""

    @classmethod
    def empty(cls) -> Frozen:
        """Return the lists of no record."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8))

    @classmethod
    def made(
        cls, tokens: Ints, lengths: NDArray[np.int64], terms: int, *, first: int = 0
    ) -> Frozen:
        """Sort the terms of all places, from `first` on, into posting lists."""
        size = max(1, len(lengths))
        owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        keys, counts = np.unique(tokens.astype(np.int64) * size + owner, return_counts=True)
        offsets = np.searchsorted(keys, np.arange(terms + 1) * size)
        few_bytes = np.min_scalar_type(counts.max(initial=0))
        return cls(offsets, (keys % size + first).astype(np.int32), counts.astype(few_bytes))

    def followed_by(self, later: Frozen) -> Frozen:
        """Return each list with that of the same term behind it, of places that came later."""
        new_terms = len(later.offsets) - len(self.offsets)
        offsets = np.append(self.offsets, np.full(new_terms, self.offsets[-1]))
        at = np.repeat(offsets[1:], np.diff(later.offsets))
        kind = np.promote_types(self.counts.dtype, later.counts.dtype)
        return Frozen(
            offsets + later.offsets,
            np.insert(self.places, at, later.places),
            np.insert(self.counts.astype(kind), at, later.counts),
        )

    def of(self, term: int) -> tuple[Ints, Floats]:
        """Return the places that hold a term, and how often each does."""
        if term + 1 >= len(self.offsets):
            return self.places[:0], self.counts[:0].astype(np.float32)
        run = slice(self.offsets[term], self.offsets[term + 1])
        return self.places[run], self.counts[run].astype(np.float32)


class Postings:
    """The posting lists of records that are numbered in the order in which they came."""

    def __init__(self, frozen: Frozen | None = None, size: int = 0) -> None:
        self.frozen = frozen or Frozen.empty()
        self.size = size
        """How many records are frozen."""
        self._rest: dict[int, tuple[list[int], list[int]]] = {}

    def add(self, place: int, terms: Sequence[int]) -> None:
        """Take in the terms of a record that comes after all others."""
        for term in terms:
            places, counts = self._rest.setdefault(term, ([], []))
            if places and places[-1] == place:
                counts[-1] += 1
            else:
                places.append(place)
                counts.append(1)

    def of(self, term: int) -> tuple[Ints, Floats]:
        """Return the places that hold a term, and how often each does."""
        rest = self._rest.get(term)
        if rest is None:
            return self.frozen.of(term)
        places, counts = self.frozen.of(term)
        more, times = np.array(rest[0], np.int32), np.array(rest[1], np.float32)
        return np.concatenate([places, more]), np.concatenate([counts, times])

    def freeze(self, tokens: Ints, lengths: NDArray[np.int64], terms: int) -> None:
        """Freeze everything there is, given the terms of what is not frozen yet."""
        if not len(lengths):
            return
        later = Frozen.made(tokens, lengths, terms, first=self.size)
        self.frozen = self.frozen.followed_by(later) if self.size else later
        self.size += len(lengths)
        self._rest = {}


_SAYS_NOTHING = -1
_AT_HAND = 256
"""How many words are at hand as they are written; more where more stems are known."""
_SHARE = 2


class Vocabulary:
    """Numbers stems in the order in which they first occur.

    Words are looked up as they are written, so that those that keep coming are cut down to their
    stems once.
    """

    def __init__(self, names: StringTable | None = None) -> None:
        self.names = names or StringTable()
        self._words: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def known(self, stems: Iterable[str]) -> dict[str, int]:
        """Return those of the stems that occur, each with its number."""
        numbers = {name: self.names.find(name) for name in stems}
        return {name: number for name, number in numbers.items() if number >= 0}

    def take_in(self, words: Iterable[str]) -> list[int]:
        """Return the number of each word's stem, without the words that say nothing."""
        known = self._words
        numbers = [known[word] if word in known else self._new(word) for word in words]
        return [number for number in numbers if number >= 0]

    def settle(self) -> None:
        """Keep stems as bytes, and few words at hand."""
        self.names.settle()
        if len(self._words) > max(_AT_HAND, len(self) // _SHARE):
            self._words.clear()

    def _new(self, word: str) -> int:
        number = _SAYS_NOTHING if word in STOP_WORDS else self.names.add(stem(word))
        self._words[word] = number
        return number

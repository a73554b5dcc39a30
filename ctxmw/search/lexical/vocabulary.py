"""The stems that occur in a user's records, numbered."""

from __future__ import annotations

from collections.abc import Iterable

from ...text.lexicon import STOP_WORDS
from ...text.terms import stem
from .strings import StringTable

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

    def __contains__(self, name: str) -> bool:
        return self.names.find(name) >= 0

    def __getitem__(self, name: str) -> int:
        return self.known([name])[name]

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

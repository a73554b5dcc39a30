"""The stems that occur in a user's records, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .lexicon import STOP_WORDS
from .terms import stem

_SAYS_NOTHING = -1


class Vocabulary:
    """Numbers stems in the order in which they first occur.

    Words are looked up as they are written, so that each is cut down to its stem once.
    """

    def __init__(self, stems: Sequence[str] = ()) -> None:
        self._numbers = {name: number for number, name in enumerate(stems)}
        self._words: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def stems(self) -> list[str]:
        """Return every stem, in the order of the numbers."""
        return list(self._numbers)

    def known(self, stems: Iterable[str]) -> dict[str, int]:
        """Return those of the stems that occur, each with its number."""
        numbers = self._numbers
        return {name: numbers[name] for name in stems if name in numbers}

    def take_in(self, words: Iterable[str]) -> list[int]:
        """Return the number of each word's stem, without the words that say nothing."""
        known = self._words
        numbers = [known[word] if word in known else self._new(word) for word in words]
        return [number for number in numbers if number >= 0]

    def _new(self, word: str) -> int:
        if word in STOP_WORDS:
            number = _SAYS_NOTHING
        else:
            number = self._numbers.setdefault(stem(word), len(self._numbers))
        self._words[word] = number
        return number

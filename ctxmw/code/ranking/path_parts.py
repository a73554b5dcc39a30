"""What the words of a path are made of, where nothing tells them apart.

Go, Rust and many others write the names of files and folders in small letters: "gitignore",
"observablearray". And who asks what is parsed means "parser.go".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.terms import stem
from .words import name_parts

if TYPE_CHECKING:
    from .postings import CodePostings

_LONG, _SHORTEST, _FEW = 7, 3, 2
"""Letters of a word that may be made of two, of each of these at least, and in how many places more
than that these have to stand."""
_ACTS = ("er", "or")
_SHORTEST_ACTING = 6


class PathParts:
    """Takes the words of paths apart, by the words that the code of a project holds."""

    def __init__(self, postings: CodePostings) -> None:
        self._postings = postings
        self._known: dict[str, frozenset[str]] = {}

    def of(self, path: str) -> frozenset[str]:
        """Return the stems of what the words of a path are made of."""
        *folders, name = path.split("/")
        found: set[str] = set()
        for word in name_parts(name.partition(".")[0]):
            found |= self._halves(word) | _acted(stem(word))
        for word in name_parts(" ".join(folders)):
            found |= self._halves(word)
        return frozenset(found)

    def _halves(self, word: str) -> frozenset[str]:
        if len(word) < _LONG:
            return frozenset()
        if word not in self._known:
            self._known[word] = self._apart(word)
        return self._known[word]

    def _apart(self, word: str) -> frozenset[str]:
        """Return the two words that one is made of: both stand in the code more often than it."""
        most, best = max(_FEW, self._places(stem(word))), frozenset[str]()
        for at in range(_SHORTEST, len(word) - _SHORTEST + 1):
            first = stem(word[:at])
            # Most beginnings stand nowhere, and then the rest need not be looked at.
            if (often := self._places(first)) <= most:
                continue
            rest = stem(word[at:])
            if (often := min(often, self._places(rest))) > most:
                most, best = often, frozenset((first, rest))
        return best

    def _places(self, term: str) -> int:
        return self._postings.often(term)


def _acted(term: str) -> frozenset[str]:
    """Return what somebody does who is called so: a parser parses, a scanner scans."""
    if len(term) < _SHORTEST_ACTING or not term.endswith(_ACTS):
        return frozenset()
    done = term[:-2]
    if done[-1] == done[-2] and done[-1] not in "ls":
        done = done[:-1]
    return frozenset((done,))

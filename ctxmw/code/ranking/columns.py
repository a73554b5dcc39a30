"""The files and definitions of a project as arrays, for one ranking after another.

Made anew when a file has changed; what a word is held by comes from the postings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..files import is_test
from .path_parts import PathParts
from .words import path_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .postings import CodePostings

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What ranking reads of a project. Files and definitions are numbers."""

    paths: Sequence[str]
    postings: CodePostings
    past: CodePostings
    """The words in which files were changed, at the place of the whole file."""
    file_of: NDArray[np.intp]
    """The file of each place; -1 of one that is gone."""
    lengths: Numbers
    """How many words a place holds."""
    lines: Numbers
    """How many lines a file has."""
    edges: tuple[NDArray[np.intp], NDArray[np.intp], Numbers]
    """Files that one imports, both ways, and how much they have to do with each other."""
    named: Mapping[str, NDArray[np.intp]]
    """The files with this word in their name."""
    inside: Mapping[str, NDArray[np.intp]]
    """The files with this word in their folders."""
    aside: NDArray[np.bool_]
    """Which files hold tests, or what was made of others."""
    alive: NDArray[np.intp] = field(init=False)
    file_of_alive: NDArray[np.intp] = field(init=False)
    file_lengths: Numbers = field(init=False)
    """How long each file is, compared with the others."""
    mean_length: float = field(init=False)
    """Of what a place holds."""

    def __post_init__(self) -> None:
        alive = np.flatnonzero(self.file_of >= 0)
        object.__setattr__(self, "alive", alive)
        object.__setattr__(self, "file_of_alive", self.file_of[alive])
        own = self.lengths[alive]
        lengths = np.bincount(self.file_of_alive, own, len(self.paths))
        mean = float(lengths.mean()) if len(lengths) else 1.0
        object.__setattr__(self, "file_lengths", lengths / max(1.0, mean))
        object.__setattr__(self, "mean_length", max(1.0, float(own.mean()) if len(own) else 1.0))

    @property
    def size(self) -> int:
        """How many places there are, also such as are gone."""
        return len(self.file_of)

    def held(self, term: str) -> tuple[NDArray[np.intp], Numbers]:
        """Return the places that hold a word, and how often."""
        return self._there(*self.postings.of(term))

    def told(self, term: str) -> tuple[NDArray[np.intp], Numbers]:
        """Return the files that were changed in this word, and how often."""
        places, often = self._there(*self.past.of(term))
        return self.file_of[places], often

    def _there(
        self, places: NDArray[np.uint32], often: NDArray[np.uint8]
    ) -> tuple[NDArray[np.intp], Numbers]:
        there = self.file_of[places] >= 0
        return places[there].astype(np.intp), often[there].astype(np.float64)

    def share(self, places: NDArray[np.intp]) -> float:
        """Return the share of the files that these places are in."""
        return len(set(self.file_of[places].tolist())) / max(1, len(self.paths))

    def file_norm(self, b: float) -> Numbers:
        """Return what a count in each file is divided by, for its length."""
        return np.asarray((1 - b) + b * self.file_lengths)

    def own_norm(self, b: float, places: NDArray[np.intp]) -> Numbers:
        """Return the same for some places."""
        return np.asarray((1 - b) + b * self.lengths[places] / self.mean_length)

    def spread(self, scores: Numbers) -> Numbers:
        """Return what files get from those they import or are imported by."""
        one, two, weight = self.edges
        got: Numbers = np.bincount(one, scores[two] * weight, len(self.paths)).astype(np.float64)
        return got


def by_path(
    paths: Sequence[str], postings: CodePostings
) -> tuple[Mapping[str, NDArray[np.intp]], ...]:
    """Return the files with each word in their name, and with each in their folders.

    What a word of a path is made of counts as one of a folder: "observablearray" is about arrays.
    """
    named: dict[str, list[int]] = defaultdict(list)
    inside: dict[str, list[int]] = defaultdict(list)
    made_of = PathParts(postings)
    for number, path in enumerate(paths):
        own, around = path_terms(path)
        for term in own:
            named[term].append(number)
        for term in (around | made_of.of(path)) - own:
            inside[term].append(number)
    return tuple(
        {term: np.array(files, np.intp) for term, files in words.items()}
        for words in (named, inside)
    )


def edges_of(
    pairs: Sequence[tuple[int, int]], files: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Numbers]:
    """Return who has to do with whom, both ways: much, where each has to do with few."""
    both = sorted({pair for one, two in pairs for pair in ((one, two), (two, one)) if one != two})
    table = np.array(both, np.intp).reshape(-1, 2)
    one, two = table[:, 0], table[:, 1]
    near = np.maximum(1, np.bincount(one, minlength=files)).astype(np.float64)
    return one, two, 1 / np.sqrt(near[one] * near[two])


def aside_among(paths: Sequence[str]) -> NDArray[np.bool_]:
    """Return which of the files hold tests or examples, or what was made of other files.

    A package of Python may be called "test" for what it offers: then no file in it is a test.
    """
    folders = {path.rpartition("/")[0] for path in paths if is_test(path.rpartition("/")[2])}
    tested = {around for folder in folders for around in _with_folders_around(folder)}
    return np.array([_is_aside(path, tested) for path in paths], bool)


def _is_aside(path: str, tested: Set[str]) -> bool:
    *folders, name = path.split("/")
    if not _MADE.isdisjoint(folders):
        return True
    if not is_test(path) or is_test(name) or not name.endswith(".py"):
        return is_test(path)
    at = next(at for at, folder in enumerate(folders) if is_test(f"{folder}/"))
    return "/".join(folders[: at + 1]) in tested


def _with_folders_around(folder: str) -> Iterator[str]:
    parts = folder.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


_MADE = frozenset(
    """
    _examples bench benches benchmark benchmarks build demo demos dist example examples fixtures
    generated out samples testdata third_party vendor
    """.split()
)
"""Folders of what was made of others or by others, or only shows how the rest is used."""

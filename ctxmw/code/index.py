"""The code of one project, in memory: found by name, by path, by line, and by words.

Made from the store's rows and brought up to date by the changes feed, a file at a time.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from sys import stdlib_module_names

import numpy as np

from ..text.lexicon import EVERYDAY
from ..text.terms import stem
from .files import CodeFile, Definition, module_name
from .languages.imports import ImportGraph
from .ranking.columns import Columns, aside_among, by_path, edges_of
from .ranking.postings import CodePostings
from .uses import LateNames, bases_of, called_by, folded, spelling_of

_MADE = ("columns", "modules", "_packages", "_folders")
DISTINCTIVE = 3
"""Definitions that a distinctive name has at most."""
_SHORTEST = 4
_KINDS = ("class", "function", "constant", "method", "module")


class ProjectCode:
    """What one project defines."""

    def __init__(self) -> None:
        self._clear()

    def __len__(self) -> int:
        return len(self._definitions) - self._dead

    def take_in(self, file: CodeFile) -> None:
        """Know a file; what was known of it before is let go."""
        again = file.path in self.files
        self.let_go(file.path)
        for made in _MADE:
            self.__dict__.pop(made, None)
        first = len(self.lengths)
        self._definitions.extend([None] * len(file.entities))
        self._dead += len(file.entities)
        self.put(file, first)
        self.graph.changed(file.path, same_paths=again)
        self.lengths.extend(self.postings.add(first, [one.words for one in file.entities]))
        if file.past and file.entities:
            self.past.add(first, [file.past])

    def without_gone(self) -> None:
        """Hold no word of what is gone any more."""
        if self._dead:
            self._rebuild()

    def begin_with(self, lengths: Sequence[int]) -> None:
        """Have places for definitions of so many words each; `put` says what stands there."""
        self.lengths.extend(lengths)
        self._definitions.extend([None] * len(lengths))
        self._dead = len(lengths)

    def put(self, file: CodeFile, first: int) -> None:
        """Have a file's definitions stand in places from there on, whose words are known."""
        self.files[file.path] = file
        self._files_named[_base(file.path)].add(file.path)
        self._places[file.path] = range(first, first + len(file.entities))
        for place, entity in enumerate(file.entities, start=first):
            self._definitions[place] = Definition(entity, file.path)
            self._named[entity.own_name].append(place)
        self._dead -= len(file.entities)

    def let_go(self, path: str) -> None:
        """Know a file no longer."""
        if self.files.pop(path, None) is None:
            return
        self.graph.changed(path, same_paths=False)
        for made in _MADE:
            self.__dict__.pop(made, None)
        self._files_named[_base(path)].discard(path)
        for place in self._places.pop(path):
            self._definitions[place] = None
            self._dead += 1
        if self._dead * 2 > len(self._definitions) + 1000:
            self._rebuild()

    def knows(self, word: str, among_code: bool) -> bool:
        """Say whether a plain word is a distinctive name here, and not "get" or "run".

        That is one that few things have, that is no everyday word, and that is not used all over
        the project. A class may be used everywhere, and may be called Client or Db: its capital
        tells it from a word. Where a message names other code (`among_code`), so does one that is
        shared by several.
        """
        found = [one for one in self.named(word) if one.entity.kind != "module"]
        if word[0].isupper():
            own = [one for one in found if one.entity.kind == "class" and not one.in_test]
            return len(word) > 1 and 0 < len(own) <= DISTINCTIVE * (2 if among_code else 1)
        if len(word) <= _SHORTEST or not 0 < len(found) <= DISTINCTIVE or word in EVERYDAY:
            return False
        rare = max(DISTINCTIVE, len(self.files) // 20)
        return len(self.files) * self.common(stem(word)) <= rare

    def named(self, name: str) -> list[Definition]:
        """Return what has exactly this name, whatever it stands in."""
        return self._alive(self._named.get(name, ()))

    def symbol(self, query: str, around: Collection[str] = ()) -> list[tuple[Definition, float]]:
        """Return what a symbol may mean and how surely, the likeliest first.

        `around` are the other names and paths of the message: "invoke" beside "ChatModel" is
        ChatModel.invoke.
        """
        *outer, own = [part for part in query.split(".") if part] or [""]
        found = self.named(own)
        sure = 1.0
        if not found and len(own) >= _SHORTEST and not own.isupper():
            sure = 0.8
            found = self._alive(self._spelled.get(folded(own)))
        if outer and self._is_foreign(outer[0]):
            return []
        # A file is called like what is in it: that is meant, and not the file.
        inside = [one for one in found if one.entity.kind != "module"]
        rated = [(one, sure * _fit(one, outer, len(found))) for one in inside or found]
        # Where one stands in a class or file that is named too, the others are not meant.
        beside = [entry for entry in rated if _beside(entry[0], around)]
        best = max((fit for _, fit in beside or rated), default=0.0)
        rated = [(one, fit) for one, fit in beside or rated if fit == best > 0]
        return sorted(rated, key=lambda entry: (-entry[1], *self._order(entry[0], around)))

    def paths(self, query: str) -> list[tuple[CodeFile, float]]:
        """Return the files that a path may mean: its end, or one that ends with it."""
        wanted = [part for part in query.split("/") if part not in ("", ".", "..", "~")]
        if not wanted:
            return []
        among = sorted(self._files_named.get(wanted[-1], ()), key=lambda path: (len(path), path))
        whole = query.startswith(("/", "~")) or query[1:2] == ":"
        fits = [path for path in among if _fits(path.split("/"), wanted, whole=whole)]
        sure = 1.0 if len(fits) <= DISTINCTIVE or len(wanted) > 1 else 0.8
        return [(self.files[path], sure) for path in fits]

    def at_line(self, path: str, line: int) -> Definition | None:
        """Return the innermost definition around a line."""
        inside = [
            one
            for one in self.in_file(path)
            if one.entity.kind != "module" and one.entity.line <= line <= one.entity.end
        ]
        return max(inside, key=lambda one: one.entity.line, default=None)

    def in_file(self, path: str) -> list[Definition]:
        """Return what a file defines, in order."""
        return self._alive(self._places.get(path, ()))

    def members(self, of: Definition) -> list[Definition]:
        """Return what a class holds."""
        prefix = f"{of.entity.name}."
        return [
            one
            for one in self.in_file(of.path)
            if one.entity.name.startswith(prefix) and "." not in one.entity.name[len(prefix) :]
        ]

    def callers_of(self, name: str) -> list[Definition]:
        """Return what calls something of this name."""
        return self._alive(self._callers.get(name))

    def derived_from(self, name: str) -> list[Definition]:
        """Return the classes that name this one as a base."""
        return self._alive(self._derived.get(name))

    def places_in(self, path: str) -> range:
        """Return the places of what a file defines."""
        return self._places.get(path, range(0))

    def at(self, place: int) -> Definition | None:
        """Return the definition at a place; None when it is gone."""
        return self._definitions[place]

    def common(self, term: str) -> float:
        """Return the share of files that hold a word."""
        return self.columns.share(self.columns.held(term)[0])

    @cached_property
    def columns(self) -> Columns:
        """The files and definitions as arrays."""
        paths = list(self.files)
        number = {path: at for at, path in enumerate(paths)}
        file_of = np.full(len(self._definitions), -1, np.intp)
        for path, places in self._places.items():
            file_of[places] = number[path]
        named, inside = by_path(paths, self.postings)
        pairs = [(number[one], number[two]) for one in paths for two in self.graph.imported(one)]
        return Columns(
            paths=paths,
            postings=self.postings,
            past=self.past,
            file_of=file_of,
            lengths=np.array(self.lengths, np.float64),
            lines=np.array([file.lines for file in self.files.values()], np.float64),
            edges=edges_of(pairs, len(paths)),
            named=named,
            inside=inside,
            aside=aside_among(paths),
        )

    def _clear(self) -> None:
        self.files: dict[str, CodeFile] = {}
        self._places: dict[str, range] = {}
        self._definitions: list[Definition | None] = []
        self._named: dict[str, list[int]] = defaultdict(list)
        self.postings = CodePostings()
        self.past = CodePostings()
        self.lengths = array("L")
        """How many words a place holds, also one that is gone."""
        self.graph = ImportGraph(self.files)
        self._callers = LateNames(self._definitions, called_by)
        self._derived = LateNames(self._definitions, bases_of)
        self._spelled = LateNames(self._definitions, spelling_of)
        self._files_named: dict[str, set[str]] = defaultdict(set)
        self._dead = 0

    def _rebuild(self) -> None:
        files = list(self.files.values())
        self._clear()
        for file in files:
            self.take_in(file)

    def _alive(self, places: Iterable[int]) -> list[Definition]:
        return [one for place in places if (one := self._definitions[place]) is not None]

    def _order(self, one: Definition, around: Collection[str]) -> tuple[object, ...]:
        container = _container(one)
        used = len(self._derived.get(container or one.entity.name))
        private = one.path.startswith("_") or "/_" in one.path
        return (
            -_beside(one, around),
            one.in_test,
            _KINDS.index(one.entity.kind),
            -used,
            private,
            len(one.path),
            one.path,
            one.entity.line,
        )

    def _is_foreign(self, name: str) -> bool:
        """Say whether a name is that of a package which the project only imports."""
        if name in self.modules or self.named(name):
            return False
        taken = self._packages.get(name, ())
        return bool(taken) and not any(_is_own(text, self.modules, self._folders) for text in taken)

    @cached_property
    def _packages(self) -> dict[str, set[str]]:
        """What is imported, by the first name: asyncio, shop ..."""
        found: dict[str, set[str]] = defaultdict(set)
        for file in self.files.values():
            for text in file.imports:
                found[text.partition(":")[0].partition(".")[0]].add(text)
        return found

    @cached_property
    def _folders(self) -> set[str]:
        """The names of all folders."""
        return {part for path in self.files for part in path.split("/")[:-1]}

    @cached_property
    def modules(self) -> dict[str, list[str]]:
        """The files whose module has this last name."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.files:
            found[module_name(path).rpartition(".")[2]].append(path)
        return found


def _fit(one: Definition, outer: Sequence[str], rivals: int) -> float:
    """Return how well a definition fits what stands before its name."""
    if not outer:
        return 1.0
    full = one.full_name.split(".")[:-1]
    if full[-len(outer) :] == list(outer):
        return 1.0
    if outer[-1] in full:
        return 0.9
    # "model.invoke": a variable, whose class is not known.
    return 0.5 if rivals <= DISTINCTIVE and len(one.entity.own_name) > _SHORTEST else 0.0


def _is_own(text: str, modules: Collection[str], folders: Collection[str]) -> bool:
    """Say whether an import is of a file of this project, as far as its names tell."""
    first, *others = text.partition(":")[0].replace("/", ".").strip(".").split(".")
    if text.startswith((".", "/")) or first in modules or first in folders:
        return True
    return first not in stdlib_module_names and any(name in modules for name in others)


def _container(one: Definition) -> str:
    return one.entity.name.rpartition(".")[0].rpartition(".")[2]


def _beside(one: Definition, around: Collection[str]) -> int:
    """Return how much of what a definition stands in is named as well."""
    return (_container(one) in around) + 2 * (one.path in around) + (_base(one.path) in around)


def _fits(path: Sequence[str], wanted: Sequence[str], *, whole: bool) -> bool:
    """Say whether a path ends with what is wanted; an absolute one may end with the path."""
    if len(wanted) > len(path):
        return whole and list(wanted[-len(path) :]) == list(path)
    return list(path[-len(wanted) :]) == list(wanted)


def _base(path: str) -> str:
    return path.rpartition("/")[2]

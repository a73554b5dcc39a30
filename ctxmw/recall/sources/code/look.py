"""Looks for what triggers name, and for what a message is about, in one project's code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....code.files import CodeFile, Definition
from ....code.freshness import look_again
from ....code.ranking.outline import most_used
from ....code.ranking.search import FoundFile, asks_for_tests, best_in_file, search_code
from ....code.ranking.words import asked_terms
from ....code.refs import file_ref, found_ref, line_ref, symbol_ref
from ....text.cleaning import digest
from ....values.items import Item, Scope
from ....values.situation import Situation
from ....workspace.mentions import READ, files_mentioned, split_line, symbols_in
from ....workspace.triggers import Trigger, Triggers
from .text import CodeText

if TYPE_CHECKING:
    from ....code.index import ProjectCode

_NAMES = re.compile(r"[\w$]++(?:\.\w++)*+")
_LEAST = (0.2, 0.5)
"""The share of the best file's score that another one needs: what answers a question stands in few
files, a change may touch many."""
SAYS_MORE = 3
"""Words besides a name with which a message is about something else, too."""
_ASIDE_FROM_PLACES = 3
"""Words of the project besides the files that a message names, until it is about more than them."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was looked for, and how well it fits."""

    item: Item
    match: float


class CodeLook:
    """What one message finds in the code of a project."""

    def __init__(
        self,
        code: ProjectCode,
        situation: Situation,
        policy: Triggers,
        triggers: Sequence[Trigger],
    ) -> None:
        self._code = code
        self._situation = situation
        self._policy = policy
        self.text = CodeText(code, policy.related)
        self.of_this_message: set[str] = set()
        """Refs of what this message points at, and not an earlier one or the editor."""
        self.paths_named: set[str] = set()
        """The files these stand in."""
        self._classes: list[str] = []
        """The full names of classes that are named."""
        self.shown: set[str] = set()
        """The full names of definitions that are shown with these."""
        self.bodies: dict[str, Definition] = {}
        """What has lines to show of what this message points at, by ref."""
        self._said = _NAMES.findall(situation.query[:READ])
        said = [
            trigger for trigger in triggers if trigger.source == "message" and not trigger.turns
        ]
        self._symbols = [name for one in said if one.kind == "symbol" for name in one.queries]
        self._is_traced = any(one.kind == "trace" for one in said)
        self._places = [
            query for one in said if one.kind in ("path", "trace") for query in one.queries
        ]

    def left_after(self, turns: int) -> float:
        """Return what is left of a trigger's weight after so many messages."""
        return self._policy.decay**turns or 1.0

    def freshen(self, triggers: Sequence[Trigger]) -> None:
        """Look again at the files that triggers are about."""
        paths = {
            one.entity_path
            for trigger in triggers
            for query in trigger.queries
            for one in self._pointed_at(query, ())
        }
        look_again(self._code, paths)

    def at(self, trigger: Trigger) -> Iterator[Looked]:
        """Yield what a trigger points at; the subject of a question is searched for."""
        if trigger.kind == "message":
            return
        around = {*trigger.queries, trigger.source, *self._situation.files, *self._said}
        for query in trigger.queries:
            for one in self._pointed_at(query, around):
                item = self._item_of(one)
                if trigger.source == "message" and not trigger.turns:
                    self.of_this_message.add(item.ref)
                    self.paths_named.add(one.file.path)
                    if one.definition is not None:
                        self._is_shown(item.ref, one.definition)
                    else:
                        self._is_outlined(item.ref, one.file.path)
                elif one.definition is not None:
                    # What was worked on stands in view, or comes with this message.
                    self.shown |= {each.full_name for each in self.text.shown_with(one.definition)}
                yield Looked(item, one.sure)

    def but_shown(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Return files without what is shown already; of one that is named, what its class holds.

        Whoever names a class and asks for more means what is in it; whoever says much more than a
        name may mean what stands around it.
        """
        others: list[FoundFile] = []
        for file in files:
            if file.path not in self.paths_named:
                others.append(file)
                continue
            around = file is files[0] and self._means_around()
            inside = [pair for pair in file.definitions if self._is_inside(pair[0], around)]
            if inside:
                others.append(replace(file, definitions=tuple(inside)))
        return others

    def most_used(self, most: int) -> list[FoundFile]:
        """Return the files that others use most, with what is used most of each."""
        files = most_used(self._code, most)
        if look_again(self._code, [file.path for file in files]):
            files = most_used(self._code, most)
        return files

    def about(self) -> list[FoundFile]:
        """Return the files that the message is about; none when it is about something else."""
        query = self._situation.query
        policy = self._policy
        if not query or not policy.message or not policy.hits or self._is_answered(query):
            return []
        return self.searched(query, gate=True)

    def searched(self, query: str, *, gate: bool = False) -> list[FoundFile]:
        """Return the files that fit a query, as they are now; with `gate` when it is about code."""
        found = search_code(self._code, query)
        if gate and found.about <= 0:
            return []
        if look_again(self._code, [file.path for file in found.files]):
            found = search_code(self._code, query)
        least = _least_for(query) if gate else 0.0
        there = (file for file in found.files if file.path in self._code.files)
        kept = [file for file in there if file.score >= least]
        return kept if asks_for_tests(query) else _with_tests_last(kept)

    def words_besides(self, query: str) -> int:
        """Return how many words of the project a message has besides what it names."""
        names = (*self._symbols, *symbols_in(query), *self._places, *files_mentioned(query))
        named = asked_terms(" ".join(names)).keys()
        view = self._code.columns
        other = (term for term in asked_terms(query) if term not in named)
        return sum(term in view.named or len(view.held(term)[0]) > 0 for term in other)

    def get(self, ref: str) -> Item | None:
        """Return the piece of code that has this ref."""
        for path, file in list(self._code.files.items()):
            if file_ref(file) == ref or line_ref(path) == ref:
                look_again(self._code, [path])
                now = self._code.files.get(path)
                return self.file_item(now) if now is not None else None
            for one in self._code.in_file(path):
                if ref in (symbol_ref(path, one.entity), found_ref(path, one.entity)):
                    if look_again(self._code, [path]):
                        return self.get(ref)
                    return self.symbol_item(one)
        return None

    def symbol_item(self, one: Definition) -> Item:
        """Return what is shown of a definition."""
        entity = one.entity
        return replace(
            self._item(symbol_ref(one.path, entity), one.path, self.text.of_symbol(one)),
            kind=entity.kind,
            section="code",
            label=f"{one.place}-{entity.end}" if entity.end > entity.line else one.place,
            title=f"{entity.name} in {one.place}",
        )

    def file_item(self, file: CodeFile) -> Item:
        """Return what is shown of a whole file: its outline and its neighbours."""
        return self._item(file_ref(file), file.path, self.text.of_file(file))

    def found_item(self, file: FoundFile, text: str, *, is_line: bool) -> Item:
        """Return a file that was found, with what is shown of it."""
        best = file.definitions[0][0].entity if file.definitions else None
        ref = line_ref(file.path) if is_line or best is None else found_ref(file.path, best)
        return self._item(ref, file.path, text, section="code")

    def _pointed_at(self, query: str, around: Sequence[str] | set[str]) -> Iterator[_Pointed]:
        path, line = split_line(query)
        files = self._code.paths(path) if "." in path else []
        for file, sure in files[: self._policy.hits]:
            here = self._code.at_line(file.path, line) if line is not None else None
            yield _Pointed(file, here, sure)
        if not files:
            for one, sure in self._code.symbol(query, around)[: self._policy.hits]:
                yield _Pointed(self._code.files[one.path], one, sure)

    def _means_around(self) -> bool:
        return not self._classes and self.words_besides(self._situation.query) >= SAYS_MORE

    def _is_inside(self, one: Definition, around: bool) -> bool:
        outer = tuple(f"{name}." for name in self._classes)
        return (around or one.full_name.startswith(outer)) and one.full_name not in self.shown

    def _is_shown(self, ref: str, one: Definition) -> None:
        self.shown |= {each.full_name for each in self.text.shown_with(one)}
        if one.entity.kind == "class":
            self._classes.append(one.full_name)
        elif one.entity.kind in ("function", "method"):
            self.bodies[ref] = one

    def _is_outlined(self, ref: str, path: str) -> None:
        """Note what in a file is asked about: its outline alone does not answer."""
        best = best_in_file(self._code, path, self._situation.query)
        if best is not None:
            self.bodies[ref] = best

    def _item_of(self, pointed: _Pointed) -> Item:
        if pointed.definition is not None:
            return self.symbol_item(pointed.definition)
        return self.file_item(pointed.file)

    def _is_answered(self, query: str) -> bool:
        """Say whether a message is about nothing but what it names: files, or symbols alone."""
        if any(any(self._pointed_at(place, ())) for place in self._places):
            return self._is_traced or self.words_besides(query) <= _ASIDE_FROM_PLACES
        if self.words_besides(query):
            return False
        return bool(self.of_this_message) or not (self._policy.symbol and self._policy.path)

    def _item(self, ref: str, path: str, text: str, section: str = "files") -> Item:
        """Return what is shown of a whole file, or with some changes of what is in it."""
        return Item(
            ref=ref,
            kind="file",
            text=text,
            lane="turn",
            section=section,
            label=path,
            title=path,
            scope=Scope("project", self._situation.project or ""),
            include="agent",
            # Whoever wrote a docstring need not be one who may instruct the agent.
            tainted=True,
            source=path,
            version=digest(text)[:16],
        )


def _with_tests_last(files: Sequence[FoundFile]) -> list[FoundFile]:
    others = [file for file in files if not file.is_aside]
    below = _BELOW * min((file.score for file in others), default=1.0)
    tests = (file for file in files if file.is_aside)
    return [*others, *(replace(file, score=min(file.score, below)) for file in tests)]


_BELOW = 0.99


def _least_for(query: str) -> float:
    return _LEAST[bool(_QUESTION.match(query)) or query.rstrip().endswith("?")]


_QUESTION = re.compile(r"\s{0,20}(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Pointed:
    """A file that is pointed at, or a definition in it."""

    file: CodeFile
    definition: Definition | None
    sure: float

    @property
    def entity_path(self) -> str:
        return self.file.path

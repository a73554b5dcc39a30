"""Code that a message or an editor points at: definitions with their neighbours, and files.

What is shown of a definition is its signature, the first line of its docstring, what it holds and
who uses it; of a file, what it defines and what it has to do with others. It costs little, and what
does not fit shrinks to a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...code.codebase import Codebase
from ...code.files import CodeFile, Definition, Entity, is_test, name_terms, search_terms
from ...code.index import ProjectCode
from ...code.relations import Relation, imported, importers, related
from ...protocols import TokenCounter
from ...text.cleaning import digest
from ...values.items import Item, Scope, code_ref
from ...values.situation import Rating, Situation, Weights
from ...workspace.mentions import READ, split_line
from ...workspace.triggers import Trigger, Triggers

KINDS = ("module", "class", "function", "method", "constant", "file")
"""What code items are."""
_OUTLINE = 40
"""Definitions that a file's outline names."""
_OUTLINE_CHARS = 2400
_MEMBERS = 12
_FILES = 6
_RARE = 0.02
"""A term that no larger share of the definitions holds says something by itself."""
_FEW = 12
_NAMES = re.compile(r"[\w$]++(?:\.\w++)*+")


class Code:
    """Brings the code that triggers point at."""

    name = "code"

    def __init__(self, codebase: Codebase, count: TokenCounter, weights: Weights) -> None:
        self._codebase = codebase
        self._count = count
        self._weights = weights

    def brought(
        self,
        code: ProjectCode | None,
        situation: Situation,
        triggers: Sequence[Trigger],
        policy: Triggers,
        floor: float,
    ) -> list[Item]:
        """Return what the triggers point at, the best first, within the policy's limits."""
        if code is None or not triggers:
            return []
        look = _Look(code, situation, policy, triggers)
        best: dict[str, Item] = {}
        for trigger in triggers:
            for found in look.at(trigger):
                item = self._rated(found, trigger, situation)
                known = best.get(item.ref)
                if item.score >= floor and (known is None or known.score < item.score):
                    best[item.ref] = item
        # Of equals, what is smaller comes first: a definition before its whole file.
        ranked = sorted(best.values(), key=lambda item: (-item.score, item.kind == "file"))
        return self._within(ranked[: policy.sections], policy.tokens)

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return the piece of code with this ref, if it is still as it was."""
        with self._codebase.use(situation.user, situation.project) as code:
            return _Look(code, situation, Triggers(), ()).get(ref) if code is not None else None

    def _rated(self, found: _Found, trigger: Trigger, situation: Situation) -> Item:
        """Return the item with its final score: the weight times half match, half score."""
        item = Rating.of(situation, self._weights).matched(
            found.item, match=found.match, reasons=()
        )
        final = round(trigger.weight * item.score, 4)
        return replace(
            item, score=final, reasons=((trigger.kind, round(trigger.weight, 4)), *item.reasons)
        )

    def _within(self, items: Sequence[Item], tokens: int) -> list[Item]:
        """Return the items that fit, the first in any case."""
        kept: list[Item] = []
        for item in items:
            tokens -= self._count(item.text)
            if kept and tokens < 0:
                break
            kept.append(item)
        return kept


def symbol_ref(path: str, entity: Entity) -> str:
    """Return the ref of a definition: another one when what is shown of it has changed."""
    return code_ref(path, entity.kind, entity.name, entity.signature, entity.doc)


def file_ref(file: CodeFile) -> str:
    """Return the ref of a file's outline."""
    return code_ref(file.path, *(f"{one.name} {one.signature} {one.doc}" for one in file.entities))


def refs_in_file(file: CodeFile) -> set[str]:
    """Return the refs of all that may be shown of a file."""
    return {file_ref(file), *(symbol_ref(file.path, entity) for entity in file.entities)}


@dataclass(frozen=True, slots=True)
class _Found:
    item: Item
    match: float


class _Look:
    """Looks for what triggers name in one project's code."""

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
        self._said = _NAMES.findall(situation.query[:READ])
        said = [
            trigger for trigger in triggers if trigger.source == "message" and not trigger.turns
        ]
        self._named = [name for one in said if one.kind == "symbol" for name in one.queries]
        self._files_named = any(one.kind in ("path", "trace") for one in said)

    def at(self, trigger: Trigger) -> Iterator[_Found]:
        """Yield what a trigger points at."""
        if trigger.kind == "message":
            yield from self._words(trigger)
            return
        around = {*trigger.queries, trigger.source, *self._situation.files, *self._said}
        for query in trigger.queries:
            path, line = split_line(query)
            files = self._code.paths(path) if "." in path else []
            if files:
                yield from self._files(files, line)
            else:
                found = self._code.symbol(query, around)
                for one, sure in found[: self._policy.hits]:
                    yield _Found(self.symbol_item(one), sure)

    def get(self, ref: str) -> Item | None:
        """Return the piece of code that has this ref."""
        for path, file in self._code.files.items():
            if file_ref(file) == ref:
                return self.file_item(file)
            for one in self._code.in_file(path):
                if symbol_ref(path, one.entity) == ref:
                    return self.symbol_item(one)
        return None

    def _files(self, files: Sequence[tuple[CodeFile, float]], line: int | None) -> Iterator[_Found]:
        for file, sure in files[: self._policy.hits]:
            here = self._code.at_line(file.path, line) if line is not None else None
            if here is not None:
                yield _Found(self.symbol_item(here), sure)
            else:
                yield _Found(self.file_item(file), sure)

    def _words(self, trigger: Trigger) -> Iterator[_Found]:
        """Yield what a question is about, when its words say enough to tell that from the rest.

        What it names counts among its words: "add a parameter to get_user" is not about parameters.
        """
        if self._files_named:
            return
        terms = search_terms(" ".join((*trigger.queries, *self._named)))
        for one, share, _ in self._code.search(terms, self._policy.hits):
            covered = [term for term in terms if term in one.entity.words.split()]
            if len(covered) > 1 or (
                self._is_rare(covered) and covered[0] in name_terms(one.entity)
            ):
                yield _Found(self.symbol_item(one), share)

    def _is_rare(self, terms: Sequence[str]) -> bool:
        most = max(_RARE, _FEW / max(1, len(self._code)))
        return any(self._code.common(term) <= most for term in terms)

    def symbol_item(self, one: Definition) -> Item:
        """Return what is shown of a definition."""
        entity = one.entity
        lines = [_signature(one), entity.doc, *self._around(one)]
        text = "\n".join(filter(None, lines))
        return replace(
            self._item(symbol_ref(one.path, entity), one.path, text),
            kind=entity.kind,
            section="code",
            label=f"{one.path}:{entity.line}-{entity.end}",
            title=f"{entity.name} in {one.place}",
        )

    def file_item(self, file: CodeFile) -> Item:
        """Return what is shown of a file: its outline and its neighbours."""
        module, *defined = self._code.in_file(file.path)
        about = f"{file.language}, {file.lines} lines. {module.entity.doc}".strip()
        outer = [one for one in defined if "." not in one.entity.name]
        text = "\n".join([about, *self._outline(outer), *self._neighbours(file)])
        return self._item(file_ref(file), file.path, text)

    def _outline(self, defined: Sequence[Definition]) -> list[str]:
        """Return what a file defines, in as much detail as there is room for."""
        first = defined[:_OUTLINE]
        more = [f"and {len(defined) - _OUTLINE} more"] if len(defined) > _OUTLINE else []
        forms = (
            [self._outlined(one, members=True, doc=True) for one in first],
            [self._outlined(one, members=False, doc=True) for one in first],
            [self._outlined(one, members=False, doc=False) for one in first],
        )
        for lines in forms:
            if sum(map(len, lines)) <= _OUTLINE_CHARS:
                return [*lines, *more]
        return [
            _listed([f"{one.entity.name} ({one.entity.line})" for one in defined], 2 * _OUTLINE)
        ]

    def _outlined(self, one: Definition, *, members: bool, doc: bool) -> str:
        held = [member.entity.own_name for member in self._code.members(one)] if members else []
        return "".join(
            (
                f"{one.entity.line}: {_signature(one)}",
                f": {one.entity.doc}" if doc and one.entity.doc else "",
                f" [{_listed(held, _MEMBERS)}]" if held else "",
            )
        )

    def _around(self, one: Definition) -> Iterator[str]:
        members = [
            member.entity.own_name
            for member in self._code.members(one)
            if not member.entity.own_name.startswith("__")
        ]
        if one.entity.kind == "class" and members:
            yield f"has: {_listed(members, 2 * _MEMBERS)}"
        near: dict[Relation, list[str]] = {}
        for relation, other in related(self._code, one, self._policy.related):
            near.setdefault(relation, []).append(f"{other.entity.name} ({other.place})")
        yield from (f"{relation}: {', '.join(names)}" for relation, names in near.items())

    def _neighbours(self, file: CodeFile) -> Iterator[str]:
        taking = importers(self._code, file.path)
        tests = [path for path in taking if is_test(path)]
        users = [path for path in taking if not is_test(path)]
        for what, paths in (
            ("imports", imported(self._code, file.path)),
            ("imported by", users),
            ("tested by", tests),
        ):
            if paths:
                yield f"{what}: {_listed(paths, _FILES)}"

    def _item(self, ref: str, path: str, text: str) -> Item:
        """Return what is shown of a whole file, or with some changes of what is in it."""
        return Item(
            ref=ref,
            kind="file",
            text=text,
            lane="turn",
            section="files",
            label=path,
            title=path,
            scope=Scope("project", self._situation.project or ""),
            include="agent",
            source=path,
            version=digest(text)[:16],
        )


def _signature(one: Definition) -> str:
    """Return a signature with what it stands in; an arrow need not be escaped."""
    entity = one.entity
    named = entity.signature
    if entity.kind != "module":
        # A whole word: "Serve" is not the beginning of "func (s *Server) Serve()".
        own = rf"(?<![\w$]){re.escape(entity.own_name)}(?![\w$])"
        named = re.sub(own, lambda _: entity.name, named, count=1)
    return named.replace("->", "→")


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

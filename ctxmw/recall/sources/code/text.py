"""What is shown of code: signatures and constructors, outlines, and the lines that answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ....code.files import CodeFile, Definition, is_test
from ....code.freshness import source_lines
from ....code.ranking.words import terms_in
from ....code.relations import Relation, related
from ....text.secrets.redaction import redact

if TYPE_CHECKING:
    from ....code.index import ProjectCode

_OUTLINE = 40
"""Definitions that a file's outline names."""
_OUTLINE_CHARS = 2400
_MEMBERS = 12
_FILES = 6
_OUTLINED = 6
"""Definitions that are named of a file in the outline of a project."""
_LINES, _FEW_LINES = 24, 6
"""Lines that are shown of a definition at most, and around what answers at least."""
_LONGEST_LINE = 160
_READ = 400
"""Lines of a definition that are looked through."""
_CONSTRUCTORS = ("__init__", "constructor", "new")


@dataclass(frozen=True, slots=True)
class CodeText:
    """Tells of one project's code."""

    code: ProjectCode
    related: int
    """Neighbours that are named with a definition."""

    def of_symbol(self, one: Definition) -> str:
        """Return a definition with its summary, what it holds and who uses it."""
        lines = [signature_of(one), *self._constructor(one), one.entity.doc, *self._around(one)]
        return "\n".join(filter(None, lines))

    def of_file(self, file: CodeFile) -> str:
        """Return the outline of a file, and its neighbours."""
        module, *defined = self.code.in_file(file.path)
        about = f"{file.language}, {file.lines} lines. {module.entity.doc}".strip()
        outer = [one for one in defined if "." not in one.entity.name]
        return "\n".join([about, *self._outline(outer), *self._neighbours(file)])

    def shown_with(self, one: Definition) -> list[Definition]:
        """Return what is shown when a definition is: itself, and what makes a class."""
        return [one, *self._constructors(one)]

    def of_definitions(self, found: Sequence[Definition], shown: Collection[str] = ()) -> str:
        """Return those definitions of a file that matter, each with its place, in order.

        What is `shown` already, by its full name, is left out.
        """
        around = [one for one in self._with_classes(found) if one.full_name not in shown]
        chosen = sorted(around, key=lambda one: one.entity.line)
        names = {one.full_name for one in chosen}
        lines = [line for one in chosen for line in self._placed(one, names)]
        return "\n".join(dict.fromkeys(lines))

    def in_a_line(self, path: str, found: Sequence[Definition], most: int) -> str:
        """Return what a file has to do with it, in one line: the names of some definitions."""
        names = [one.entity.name for one in found if one.entity.kind != "module"][:most]
        module = next((one.entity.doc for one in self.code.in_file(path)[:1]), "")
        return ", ".join(dict.fromkeys(names)) or module or self._length(path)

    def in_an_outline(self, path: str, found: Sequence[Definition]) -> str:
        """Return what a file is and what of it is used most, in one line."""
        doc = next((one.entity.doc for one in self.code.in_file(path)[:1]), "")
        names = listed([one.entity.name for one in found], _OUTLINED)
        taking = sum(not is_test(user) for user in self.code.graph.importers(path))
        users = f"(imported by {taking})" if taking else ""
        return " ".join(filter(None, (doc, names, users))) or self._length(path)

    def _length(self, path: str) -> str:
        lines = self.code.files[path].lines
        return f"{lines} line{'s' * (lines != 1)}"

    def answering(self, one: Definition, terms: Mapping[str, float], most: int = _LINES) -> str:
        """Return the lines of a definition that a message is about, with their numbers.

        Empty when the file cannot be read here. All of its body, when it is short: signature and
        documentation are shown apart.
        """
        lines = source_lines(self.code.files[one.path])
        if lines is None or one.entity.end > len(lines):
            return ""
        first, last = _stretch(lines, one, terms, most)
        shown = redact("\n".join(lines[first - 1 : last])).text.split("\n")
        margin = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
        return "\n".join(
            f"{number} {line[margin:].rstrip()[:_LONGEST_LINE]}"
            for number, line in enumerate(shown, start=first)
            if line.strip()
        )

    def _with_classes(self, found: Sequence[Definition]) -> list[Definition]:
        """Return definitions with the classes they stand in, each once; modules tell nothing."""
        chosen = {one.full_name: one for one in found if one.entity.kind != "module"}
        for one in list(chosen.values()):
            outer = one.entity.name.rpartition(".")[0]
            around = [other for other in self.code.in_file(one.path) if other.entity.name == outer]
            chosen |= {other.full_name: other for other in around if outer}
        return list(chosen.values())

    def _placed(self, one: Definition, chosen: Collection[str]) -> Iterator[str]:
        doc = f": {one.entity.doc}" if one.entity.doc else ""
        yield f"{one.entity.line}: {signature_of(one)}{doc}"
        if all(member.full_name not in chosen for member in self._constructors(one)):
            yield from self._constructor(one)

    def _constructor(self, one: Definition) -> Iterator[str]:
        """Yield what a class is made with."""
        for member in self._constructors(one):
            yield f"{member.entity.line}: {signature_of(member)}"

    def _constructors(self, one: Definition) -> list[Definition]:
        if one.entity.kind != "class":
            return []
        own = (*_CONSTRUCTORS, one.entity.own_name)
        made = (
            member
            for member in self.code.members(one)
            if member.entity.own_name in own and member.entity.kind == "method"
        )
        return list(islice(made, 1))

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
        return [listed([f"{one.entity.name} ({one.entity.line})" for one in defined], 2 * _OUTLINE)]

    def _outlined(self, one: Definition, *, members: bool, doc: bool) -> str:
        held = [member.entity.own_name for member in self.code.members(one)] if members else []
        return "".join(
            (
                f"{one.entity.line}: {signature_of(one)}",
                f": {one.entity.doc}" if doc and one.entity.doc else "",
                f" [{listed(held, _MEMBERS)}]" if held else "",
            )
        )

    def _around(self, one: Definition) -> Iterator[str]:
        members = [
            member.entity.own_name
            for member in self.code.members(one)
            if not member.entity.own_name.startswith("__")
        ]
        if one.entity.kind == "class" and members:
            yield f"has: {listed(members, 2 * _MEMBERS)}"
        near: dict[Relation, list[str]] = {}
        for relation, other in related(self.code, one, self.related):
            near.setdefault(relation, []).append(f"{other.entity.name} ({other.place})")
        yield from (f"{relation}: {', '.join(names)}" for relation, names in near.items())

    def _neighbours(self, file: CodeFile) -> Iterator[str]:
        taking = self.code.graph.importers(file.path)
        tests = [path for path in taking if is_test(path)]
        users = [path for path in taking if not is_test(path)]
        for what, paths in (
            ("imports", sorted(self.code.graph.imported(file.path))),
            ("imported by", users),
            ("tested by", tests),
        ):
            if paths:
                yield f"{what}: {listed(paths, _FILES)}"


def signature_of(one: Definition) -> str:
    """Return a signature with what it stands in; an arrow need not be escaped.

    A receiver tells that already: "func (c *Context) JSON()".
    """
    entity = one.entity
    named = _with_names_alone(entity.signature)
    if entity.kind != "module" and not _RECEIVER.match(named):
        # A whole word: "Serve" is not the beginning of "Server".
        own = rf"(?<![\w$]){re.escape(entity.own_name)}(?![\w$])"
        named = re.sub(own, lambda _: entity.name, named, count=1)
    return named.replace("->", "→")


def _with_names_alone(signature: str) -> str:
    """Return a long signature with the names of its parameters, without their types and values."""
    head, bracket, rest = signature.partition("(")
    if len(signature) <= _LONG or not bracket or _RECEIVER.match(signature):
        return signature
    parameters, depth, start = [], 0, 0
    for at, sign in enumerate(rest):
        if sign in ",)" and not depth:
            parameters.append(rest[start:at].strip())
            start = at + 1
            if sign == ")":
                break
        depth += (sign in "([{") - (sign in ")]}")
    else:  # it was cut when it was stored
        return signature
    names = [_VALUE.split(one, maxsplit=1)[0].strip() for one in parameters]
    return f"{head}({', '.join(filter(None, names))}){rest[start:]}"


_LONG = 160
_VALUE = re.compile(r"[:=]")
_RECEIVER = re.compile(r"func \([^)]*\) ")


def listed(names: Sequence[str], most: int) -> str:
    """Return names with commas; how many more there are, when there are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _stretch(
    lines: Sequence[str], one: Definition, terms: Mapping[str, float], most: int
) -> tuple[int, int]:
    """Return the first and last of the lines that hold most of what is asked for."""
    begin, end = _body_of(lines, one), one.entity.end
    if end - begin < most:
        return begin, end
    asked = terms.keys()
    told = [terms_in(line) & asked for line in lines[begin - 1 : min(end, begin + _READ)]]
    # A word that stands in many lines tells none of them from the others.
    often = Counter(term for line in told for term in line)
    worth = [sum(terms[term] / often[term] for term in line) for line in told]
    if not any(worth):
        return begin, begin + most - 1
    best = max(range(len(worth) - most + 1), key=lambda at: sum(worth[at : at + most]))
    inside = [at for at in range(best, best + most) if worth[at]]
    first, last = max(0, inside[0] - 2), min(len(worth) - 1, inside[-1] + _FEW_LINES - 2)
    return begin + first, begin + min(last, first + most - 1)


def _body_of(lines: Sequence[str], one: Definition) -> int:
    """Return the line in which a function's body begins, after its documentation."""
    first, end = one.entity.line, one.entity.end
    if one.entity.kind not in ("function", "method"):
        return first
    at = first
    while at < end and not lines[at - 1].rstrip().endswith((":", "{")):
        at += 1
    body = at + 1
    mark = _QUOTES.match(lines[body - 1]) if body <= end else None
    if mark is None:
        return body if body <= end else first
    at = body
    opening = lines[at - 1][mark.end() :]
    while at < end and mark[1] not in opening:
        at += 1
        opening = lines[at - 1]
    return at + 1 if at < end else first


_QUOTES = re.compile(r"""\s{0,80}+[rR]?("{3}|'{3})""")

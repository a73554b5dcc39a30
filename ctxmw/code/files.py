"""Source files as the memory knows them: what each defines, and what it has to do with others.

Names, signatures, the first line of a docstring and places are kept, and which words a body holds,
never a body. Python is read with `ast`; other languages with tree-sitter, when the extra `code` is
installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal
from zlib import crc32

from ..text.cleaning import clean, one_line
from ..text.secrets.redaction import redact
from ..values.records import Record
from .ranking.words import bag_of, own_lines

EntityKind = Literal["module", "class", "function", "method", "constant"]
SIGNATURE, DOC = 1000, 200
"""Characters that are kept of a signature and of a docstring."""
READING = 4
"""Which way of reading a file is this one: what was read another way is read again."""
CALLS = 60
"""Names called by one definition that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One definition in a source file."""

    kind: EntityKind
    name: str
    """With what it stands in: "AuthService.login". Of a module, its dotted path."""
    signature: str
    line: int
    end: int
    doc: str = ""
    """The first line of its docstring or comment."""
    calls: tuple[str, ...] = ()
    """Names it calls, as they are written."""
    bases: tuple[str, ...] = ()
    mark: str = ""
    """Changes when its body does; of a class, its members have theirs."""
    words: str = ""
    """The words of its code, without what stands in definitions inside it (`bag_of`)."""

    @property
    def own_name(self) -> str:
        """The name without what it stands in."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a source file defines and imports."""

    entities: tuple[Entity, ...] = ()
    imports: tuple[str, ...] = ()
    """Modules and names, as they are written."""
    doc: str = ""


class Unparsable(Exception):
    """Why a file's definitions could not be read; for a warning."""


class CodeFile(Record):
    """A source file of a project: how it was when it was read, and what it defines.

    One row holds a whole file, so that a change of the file is a change of one row.
    """

    type: ClassVar[str] = "code"

    root: str
    """The folder that was indexed; paths are relative to it."""
    path: str
    language: str
    hash: str
    """Of its bytes; empty when the file is gone."""
    size: int = 0
    modified: int = 0
    """Its time stamp in nanoseconds."""
    lines: int = 0
    reading: int = 1
    """Which way it was read (`READING`)."""
    imports: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    past: str = ""
    """The words of past changes, where there is a history (`past_of`)."""

    def foreign(self) -> str:
        """What the words of bodies and of the past are made of was redacted before."""
        told = (
            " ".join((one.name, one.signature, one.doc, *one.calls, *one.bases))
            for one in self.entities
        )
        return "\n".join((self.root, self.path, *self.imports, *told))

    def _columns(self) -> dict[str, Any]:
        return {"key": self.scope, "live": bool(self.hash)}


def parse(language: str, path: str, text: str) -> Parsed:
    """Return what a source file defines, or raise `Unparsable`.

    Raises MissingPackage when the language needs a package that is not installed.
    """
    if language == "python":
        from .languages.python import parse_python

        parsed = parse_python(text)
    else:
        from .languages.tree_sitter import parse_tree

        parsed = parse_tree(language, path, text)
    return _storable(parsed, module_name(path), text, tests=_TESTS.get(language, ""))


def without_definitions(path: str, text: str) -> Parsed:
    """Return what is known of a file whose definitions cannot be read: the words in it."""
    return _storable(Parsed(), module_name(path), text)


def module_name(path: str) -> str:
    """Return the dotted name of a file: "shop/auth/__init__.py" is "shop.auth"."""
    stem = path.rpartition(".")[0] or path
    return stem.removesuffix("/__init__").replace("/", ".")


def called_in(text: str, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names that are called in a piece of code, each once.

    Read from the text: precise enough to tell who uses whom, and many times as fast as a tree.
    """
    left_out = {*_KEYWORDS, *without}
    *before, _ = text.replace("::", ".").split("(")
    # Only the end of what stands before a bracket is looked at: most of a text is not.
    ends = (_CALLED.search(part, max(0, len(part) - _LONGEST)) for part in before if part)
    names = (_spelled(end[0]) for end in ends if end)
    found = dict.fromkeys(name for name in names if name and name not in left_out)
    return tuple(found)[:CALLS]


def _spelled(name: str) -> str:
    """Return a name with what stands before it: "().then" when that is no name itself."""
    bare = name.strip(".")
    return f"().{bare}" if bare and name.startswith(".") else bare


_LONGEST = 80
_CALLED = re.compile(rf"(?<![\w.])(?<!def )(?<!func )(?<!fn )(?!\d)[\w.]{{2,{_LONGEST}}}+\Z")
_KEYWORDS = frozenset(
    """
    and assert async await bool case catch def dict elif else except float for func function if in
    int isinstance len list match not or print range return self set str super switch tuple while
    with yield zip
    """.split()
)


def body_mark(body: str) -> str:
    """Return what is equal for two bodies that are the same."""
    return f"{crc32(body.encode('utf-8', 'replace')):08x}"


def first_line(doc: str) -> str:
    """Return the line of a docstring or comment that tells what it is about."""
    paragraph = _BLANK_LINE.split(clean(doc[:4000]).strip(), maxsplit=1)[0]
    return one_line(paragraph, DOC)


_BLANK_LINE = re.compile(r"\n[ \t]*\n")


_TESTS = {"rust": "tests."}
"""What the names of tests begin with that stand in the file they test."""


def _storable(parsed: Parsed, module: str, text: str, tests: str = "") -> Parsed:
    """Return what may be stored: without secrets, with a module, and with its search words.

    The words of tests that stand in the file they test tell what the file is about.
    """
    lines = redact(text).text.splitlines()
    whole = Entity(
        kind="module",
        name=module,
        signature=f"module {module}",
        line=1,
        end=max(1, len(lines)),
        doc=parsed.doc,
    )
    entities = [whole, *parsed.entities]
    own = [one is whole or not tests or not one.name.startswith(tests) for one in entities]
    spans = [(one.line, one.end) for one, is_own in zip(entities, own, strict=True) if is_own]
    parts = iter(own_lines(lines, spans))
    code = [next(parts) if is_own else None for is_own in own]
    # A secret is rare: all texts are looked at together, and one by one only when there is one.
    told = "\n".join(f"{entity.signature}\n{entity.doc}" for entity in entities)
    finds = bool(redact(told).found)
    stored = zip(entities, code, strict=True)
    return replace(parsed, entities=tuple(_with_words(one, part, finds) for one, part in stored))


def _with_words(one: Entity, code: str | None, finds: bool) -> Entity:
    """Return a definition with the words of its code, and without the secrets that it tells."""
    name = "" if one.kind == "module" else one.own_name
    words = bag_of(code, name) if code is not None else ""
    if not finds:
        return replace(one, words=words)
    signature, doc = redact(one.signature).text, redact(one.doc).text
    return replace(one, words=words, signature=signature, doc=doc)


def short_signature(text: str, mark: Literal["#", "//"]) -> str:
    """Return a signature on one line, without comments and without what opens the body.

    `mark` is what begins a comment; in a string it begins none.
    """
    line = " ".join(_COMMENT[mark].sub(r"\g<kept>", text).split())
    line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return one_line(line.rstrip(" :;{="), SIGNATURE)


_COMMENT = {
    mark: re.compile(rf"""(?P<kept>(["'`])(?:(?!\2)[^\\\n]|\\.){{0,500}}+\2)|{begins}""")
    for mark, begins in (("#", r"#[^\n]*+"), ("//", r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"))
}


def dotted(parts: Sequence[str]) -> str:
    """Return a name with what it stands in."""
    return ".".join(parts)


@dataclass(frozen=True, slots=True)
class Definition:
    """An entity, in its file."""

    entity: Entity
    path: str

    @property
    def full_name(self) -> str:
        """The name with the module it is defined in."""
        if self.entity.kind == "module":
            return self.entity.name
        return f"{module_name(self.path)}.{self.entity.name}"

    @property
    def place(self) -> str:
        return f"{self.path}:{self.entity.line}"

    @property
    def in_test(self) -> bool:
        return is_test(self.path)


def is_test(path: str) -> bool:
    """Say whether a file holds tests, by its name or folder."""
    *folders, name = path.lower().split("/")
    stem_ = name.split(".")[0]
    if stem_.startswith("test_") or stem_.endswith(("_test", "_tests")) or stem_ == "conftest":
        return True
    return ".test." in name or ".spec." in name or bool({"test", "tests"} & set(folders))

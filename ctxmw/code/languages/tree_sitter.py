"""What a JavaScript, TypeScript, Go, Rust or Java file defines, read with tree-sitter.

The grammars are single-language packages that carry their tables: nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from ...errors import MissingPackage
from ..files import Entity, EntityKind, Parsed, Unparsable, body_mark, called_in, dotted
from .grammars import GRAMMARS, SCRIPT_IMPORTS, Grammar
from .named_imports import inside_of, late_imports, rust_paths, script_imports
from .told import COMMENTS, comment_above, said, signature

if TYPE_CHECKING:
    from tree_sitter import Language, Node


def parse_tree(language: str, path: str, text: str) -> Parsed:
    """Return what a file of that language defines and imports."""
    name = "tsx" if path.endswith((".tsx", ".jsx")) and language != "python" else language
    grammar = GRAMMARS.get(name)
    if grammar is None:
        raise Unparsable(f"{language} is not read")
    data = text.encode("utf-8", "replace")
    root = _parse(name, data)
    reader = _Reader(grammar, data)
    imports = dict.fromkeys(reader.imports(root))
    if grammar.imports == SCRIPT_IMPORTS:
        imports |= dict.fromkeys(late_imports(text))
    return Parsed(
        entities=tuple(reader.entities(root)),
        imports=tuple(imports),
        doc=reader.opening(root),
    )


def _parse(name: str, data: bytes) -> Node:
    language = _language(name)
    from tree_sitter import Parser

    # A parser of its own for each file: they are cheap, and must not be shared by threads.
    return Parser(language).parse(data).root_node


@lru_cache(maxsize=16)
def _language(name: str) -> Language:
    grammar = GRAMMARS[name]
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(grammar.module), grammar.factory)())
    except ImportError as error:
        raise MissingPackage(
            f'reading {name} needs {grammar.module}: run pip install "ctxmw[code]".'
        ) from error


_FUNCTIONS = frozenset(("arrow_function", "function_expression", "function", "generator_function"))
_NAME_PART = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_JAVA_IMPORT = re.compile(r"^import\s+(?:static\s+)?([\w.*]+)")
_RUST_PATH = re.compile(r"^#\[\s*path\s*=\s*\"([^\"\n]{1,200})\"")
_RUST_MOD = re.compile(r"\bmod\s{1,20}+(\w{1,100}+)\s{0,20}+;")
_LONGEST_IMPORT = 4000
_LONG_VALUE = 3
"""Lines from which on a value is more than a variable: a table, a handler, a schema."""
_BETWEEN = frozenset(("extends", "implements", "with", "const", "mut", "dyn", "impl"))


class _Reader:
    """Reads one tree, without recursion: a file may be nested as deeply as it likes."""

    def __init__(self, grammar: Grammar, data: bytes) -> None:
        self._grammar = grammar
        self._data = data

    def entities(self, root: Node) -> Iterator[Entity]:
        waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
        while waiting:
            node, inside = waiting.pop()
            kind = self._grammar.kinds.get(node.type)
            entity = self._entity(node, kind, inside) if kind else None
            if entity is not None:
                yield entity
            within = self._within(node, entity, inside)
            if within is not None:
                waiting += [(child, within) for child in reversed(node.named_children)]

    def imports(self, root: Node) -> Iterator[str]:
        waiting = [(child, 0) for child in reversed(root.named_children)]
        while waiting:
            node, modules = waiting.pop()
            if node.type not in self._grammar.imports:
                continue
            inner = [n for n in _inside(node) if n.type in self._grammar.imports]
            if inner:
                within = modules + (node.type == "mod_item")
                waiting += [(child, within) for child in reversed(inner)]
                continue
            yield from self._imported(node, modules)

    def opening(self, root: Node) -> str:
        """Return what the comment at the top of the file says."""
        first = root.named_children[0] if root.named_children else None
        return said(self._text(first)) if first is not None and first.type in COMMENTS else ""

    def _within(
        self, node: Node, entity: Entity | None, inside: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """Return what children stand in; None when they are not looked at."""
        if entity is not None:
            return tuple(entity.name.split(".")) if entity.kind == "class" else None
        if node.type in self._grammar.holders:
            name = self._field(node, "type") or self._field(node, "name")
            return (*inside, _plain(name)) if name else inside
        return inside if node.type in self._grammar.passed else None

    def _entity(self, node: Node, kind: EntityKind, inside: tuple[str, ...]) -> Entity | None:
        name = _plain(
            self._field(node, "name") or self._field(node, "property") or self._declared(node)
        )
        if not name or name == "_":
            return None
        if node.type in ("variable_declarator", "public_field_definition", "field_definition"):
            found = self._script_value(node, name, inside)
            if found is None:
                return None
            kind = found
        if node.type == "field_declaration" and not name.isupper():
            return None
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            inside = (_plain(self._text(receiver).strip("()").split(" ")[-1]),)
        if kind == "function" and inside:
            kind = "method"
        body = node.child_by_field_name("body") or self._body_of_value(node)
        text = self._text(body) if body is not None and kind != "class" else ""
        return Entity(
            kind=kind,
            name=dotted((*inside, name)),
            signature=signature(node, body, self._slice),
            line=node.start_point[0] + 1,
            end=node.end_point[0] + 1,
            doc=comment_above(node, self._slice),
            calls=called_in(text, (name,)),
            mark=body_mark(text) if text else "",
            bases=tuple(self._bases(node)) if kind == "class" else (),
        )

    def _script_value(self, node: Node, name: str, inside: tuple[str, ...]) -> EntityKind | None:
        value = node.child_by_field_name("value")
        if value is not None and value.type in _FUNCTIONS:
            return "method" if inside else "function"
        if node.type != "variable_declarator" or inside:
            return None
        around = node.parent.parent if node.parent is not None else None
        is_exported = around is not None and around.type == "export_statement"
        lines = node.end_point[0] - node.start_point[0]
        is_constant = name[:1].isupper() or is_exported or lines >= _LONG_VALUE
        return "constant" if is_constant else None

    def _body_of_value(self, node: Node) -> Node | None:
        value = node.child_by_field_name("value")
        if value is None or value.type not in _FUNCTIONS:
            return None
        return value.child_by_field_name("body")

    def _declared(self, node: Node) -> str:
        """Return the name in a declarator: Java's fields have theirs there."""
        declarator = node.child_by_field_name("declarator")
        return self._field(declarator, "name") if declarator is not None else ""

    def _bases(self, node: Node) -> Iterator[str]:
        for child in node.named_children:
            if child.type in self._grammar.bases:
                names = _NAME_PART.findall(re.sub(r"<[^<>]*>", "", self._text(child)[:400]))
                yield from (name for name in names if name not in _BETWEEN)

    def _imported(self, node: Node, modules: int) -> Iterator[str]:
        """Yield what an import takes; `modules` are those of this file that it stands in."""
        if node.type == "mod_item":
            yield from () if modules else self._module_elsewhere(node)
        elif node.type == "use_declaration":
            paths = rust_paths(self._field(node, "argument")[:_LONGEST_IMPORT])
            yield from filter(None, (inside_of(path, modules) for path in paths))
        elif node.type == "macro_invocation":
            # "cfg_net! { pub mod tcp; }": modules that are there under a condition.
            inside = self._text(node)[:_LONGEST_IMPORT]
            yield from () if modules else (f"mod {name}" for name in _RUST_MOD.findall(inside))
        elif node.type in ("import_statement", "export_statement"):
            source = node.child_by_field_name("source") or _required(node)
            if source is not None:
                told = self._text(node)[:_LONGEST_IMPORT]
                yield from script_imports(told, self._text(source).strip("\"'`"))
        elif (path := node.child_by_field_name("path")) is not None:
            yield self._text(path).strip("\"'`")
        else:
            found = _JAVA_IMPORT.search(self._text(node)[:_LONGEST_IMPORT])
            if found is not None:
                yield found[1].rstrip(".*")

    def _module_elsewhere(self, node: Node) -> Iterator[str]:
        """Yield a module of Rust that is in another file, with its path where that is told."""
        if node.child_by_field_name("body") is not None:
            return
        name, before = self._field(node, "name").removeprefix("r#"), node.prev_sibling
        while before is not None and before.type == "attribute_item":
            told = _RUST_PATH.search(self._text(before)[:400])
            if told is not None:
                name = f"{name}={told[1]}"
            before = before.prev_sibling
        yield f"mod {name}"

    def _field(self, node: Node, name: str) -> str:
        child = node.child_by_field_name(name)
        return self._text(child) if child is not None else ""

    def _text(self, node: Node) -> str:
        return self._slice(node.start_byte, node.end_byte)

    def _slice(self, start: int, end: int) -> str:
        return self._data[start:end].decode("utf-8", "replace")


def _inside(node: Node) -> list[Node]:
    """Return the children of an import that may be imports themselves."""
    if node.type in ("import_spec_list", "import_declaration"):
        return node.named_children
    body = node.child_by_field_name("body") if node.type == "mod_item" else None
    return body.named_children if body is not None else []


def _required(node: Node) -> Node | None:
    """Return the source of `import x = require("./x")`."""
    clauses = (child for child in node.named_children if child.type == "import_require_clause")
    clause = next(clauses, None)
    return clause.child_by_field_name("source") if clause is not None else None


def _plain(name: str) -> str:
    """Return a name without what makes it generic, a pointer or a reference."""
    return name.split("<", 1)[0].split("[", 1)[0].strip("*&# ").replace("::", ".")[:120]

"""What a Python file defines, read with `ast`."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence

from ..files import Entity, EntityKind, Parsed, Unparsable, body_mark, called_in, dotted, first_line
from ..files import short_signature as short

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PythonDefinition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# Parsing warns of odd escapes in strings, and whether to listen is a setting of the whole process.
_QUIET = threading.Lock()
_VALUE = 160
"""Characters that are kept of a constant and its value."""


def parse_python(text: str) -> Parsed:
    """Return what a Python file defines and imports."""
    tree = _tree(text)
    # As the parser counts lines: a form feed or another separator inside a line ends none.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Parsed(
        entities=tuple(_entities(tree.body, (), lines)),
        imports=tuple(dict.fromkeys(_imports(_importing(tree, text)))),
        doc=_doc(tree),
    )


def _tree(text: str) -> ast.Module:
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise Unparsable(f"its syntax is wrong in line {error.lineno}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(f"it cannot be parsed ({type(error).__name__})") from None


def _entities(
    body: Sequence[ast.stmt], inside: tuple[str, ...], lines: Sequence[str]
) -> Iterator[Entity]:
    for node in _flat(body):
        if isinstance(node, _DEFINITIONS) and not _is_overload(node):
            yield _entity(node, inside, lines)
        if isinstance(node, ast.ClassDef):
            yield from _entities(node.body, (*inside, node.name), lines)
        elif not inside and isinstance(node, ast.Assign | ast.AnnAssign):
            yield from _constants(node, lines)


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, also those that stand under `if` and `try`."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            handlers = node.handlers if isinstance(node, ast.Try) else []
            nested = [*node.body, *(stmt for handler in handlers for stmt in handler.body)]
            nested += [] if isinstance(node, ast.With) else node.orelse
            waiting += reversed(nested)


def _entity(node: PythonDefinition, inside: tuple[str, ...], lines: Sequence[str]) -> Entity:
    is_class = isinstance(node, ast.ClassDef)
    kind: EntityKind = "class" if is_class else "method" if inside else "function"
    end = node.end_lineno or node.lineno
    body = "\n".join(lines[_begin(node.body[0]) - 1 : end])
    # Examples in a docstring call nothing.
    told = node.body[0].end_lineno if _doc(node) else None
    code = "\n".join(lines[told:end]) if told else body
    return Entity(
        kind=kind,
        name=dotted((*inside, node.name)),
        signature=short(_header(node, lines), "#"),
        line=node.lineno,
        end=end,
        doc=_doc(node),
        calls=() if is_class else called_in(code, (node.name,)),
        mark="" if is_class else body_mark(body),
        bases=tuple(filter(None, map(_name, node.bases))) if isinstance(node, ast.ClassDef) else (),
    )


def _header(node: PythonDefinition, lines: Sequence[str]) -> str:
    first = node.body[0]
    begin = _begin(first)
    header = list(lines[node.lineno - 1 : begin])
    # What stands before the body in its first line; columns count bytes.
    header[-1] = header[-1].encode()[: first.col_offset].decode(errors="replace")
    return "\n".join(header)


def _is_overload(node: PythonDefinition) -> bool:
    return any(
        _name(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list
    )


def _begin(node: ast.stmt) -> int:
    decorated = node.decorator_list if isinstance(node, _DEFINITIONS) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorated)])


def _doc(node: ast.Module | PythonDefinition) -> str:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        value = first.value.value
        return first_line(value) if isinstance(value, str) else ""
    return ""


def _constants(node: ast.Assign | ast.AnnAssign, lines: Sequence[str]) -> Iterator[Entity]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    end = node.end_lineno or node.lineno
    for target in targets:
        if isinstance(target, ast.Name) and _is_constant(target.id):
            yield Entity(
                kind="constant",
                name=target.id,
                signature=short("\n".join(lines[node.lineno - 1 : end])[:_VALUE], "#"),
                line=node.lineno,
                end=end,
            )


def _is_constant(name: str) -> bool:
    return name.strip("_")[:1].isupper() and not name.startswith("__")


def _name(node: ast.expr) -> str:
    """Return a base class as it is written, without what it is made generic by."""
    parts: list[str] = []
    # Without recursion: a name may have a thousand dots.
    while isinstance(node, ast.Subscript | ast.Attribute):
        parts += [node.attr] if isinstance(node, ast.Attribute) else []
        node = node.value
    parts += [node.id] if isinstance(node, ast.Name) else []
    return dotted(parts[::-1])


def _importing(tree: ast.Module, text: str) -> Iterable[ast.AST]:
    """Return where imports may stand; few files have some inside of functions."""
    return _statements(tree) if _INDENTED.search(text) else _flat(tree.body)


_INDENTED = re.compile(r"^[ \t]++(?:from|import)\b", re.MULTILINE)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements, wherever they stand. What is in expressions is many times as much."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        blocks = (getattr(node, name, None) for name in _BLOCKS)
        # The body of a lambda is no list; but that is an expression, which is not looked into.
        waiting += reversed([inner for block in blocks for inner in block or ()])


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}:{alias.name}" for alias in node.names)

"""The folders show the pipeline: a room imports from the rooms below it, and is small enough."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ctxmw

PACKAGE = Path(ctxmw.__file__).parent
ROOMS = (
    "text",
    "runtime",
    "values",
    "tokens",
    "store",
    "search",
    "workspace",
    "code",
    "recall",
    "conversation",
    "memory",
    "learning",
    "compaction",
    "calls",
    "",  # the top: what people import, and where everything is put together
    "settings",
    "display",
    "notebook",
    "testing",
    "evaluation",
    "ui",
    "cli",
)
"""From the lowest up; CONTRIBUTING has the same table."""
SEAMS = {"ctxmw.errors": "text", "ctxmw.protocols": "values"}
"""Modules at the top that count as part of a lower room."""
LAZY = {
    ("ctxmw.runtime.displayed", "display"),
    ("ctxmw", "settings"),
    ("ctxmw", "notebook"),
    ("ctxmw.__main__", "cli"),
}
"""Imports upwards, inside a function, that a promise needs: how a value looks, and what is public
without being loaded."""
FRONTS = {"ctxmw.middleware.ContextMiddleware", "ctxmw.session.Session"}
"""Classes that may be long: a method of theirs is a signature, what it promises, and a call."""
MOST_FILES, LONGEST_CHAIN = 12, 14
MOST_PARAMETERS, LONGEST_CLASS = 6, 250
MODULES = {
    ".".join(("ctxmw", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_only_from_rooms_below_it(module):
    own = ROOMS.index(_room(module))
    upwards = {
        (module, _room(other))
        for other in _imports(module, everywhere=True)
        if ROOMS.index(_room(other)) > own
    }
    assert upwards <= LAZY


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES.values()}))
def test_a_room_has_few_files(folder):
    files = [path for path in folder.glob("*.py") if not path.name.startswith("__")]
    # One file a command, found by its name.
    assert len(files) <= MOST_FILES or folder == PACKAGE / "cli" / "commands"


def test_no_function_takes_much():
    much = {
        name
        for name, module, node in _definitions()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _parameters(node.args, options=_room(module) != "") > MOST_PARAMETERS
    }
    assert much == set()


def test_no_class_is_long():
    long = {
        name
        for name, _, node in _definitions()
        if isinstance(node, ast.ClassDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= LONGEST_CLASS
    }
    assert long <= FRONTS


def test_every_room_says_what_it_is():
    rooms = {path.parent for path in MODULES.values()}
    silent = [
        room
        for room in rooms
        if len(ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or "") < 60
    ]
    assert silent == []


def test_no_two_things_have_one_name():
    places: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        # What two databases have in common is called alike; every command is run alike.
        alike = module.replace("ctxmw.store.postgres", "ctxmw.store.sqlite")
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(alike)
    shared = {
        name: where
        for name, where in places.items()
        if len(where) > 1 and not all(".sqlite." in one or ".cli." in one for one in where)
    }
    assert shared == {}


def test_no_chain_of_imports_is_long():
    longest = max((_chain(module) for module in MODULES), key=len)
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


def _definitions() -> Iterator[tuple[str, str, ast.AST]]:
    """Yield every function and class by its name, with the module it is in."""

    def within(name: str, module: str, node: ast.AST) -> Iterator[tuple[str, str, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}"
                yield inner, module, child
            yield from within(inner, module, child)

    for module, path in MODULES.items():
        yield from within(module, module, ast.parse(path.read_text("utf-8")))


def _parameters(given: ast.arguments, *, options: bool) -> int:
    """Return how many parameters a function has; at the top, options by keyword are for people."""
    named = [*given.posonlyargs, *given.args, *(given.kwonlyargs if options else [])]
    rest = (given.vararg, given.kwarg)
    return sum(one.arg not in ("self", "cls") for one in named) + len([*filter(None, rest)])


def _room(module: str) -> str:
    if module in SEAMS:
        return SEAMS[module]
    first = module.split(".")[1:2]
    return first[0] if first and first[0] in ROOMS else ""


@cache
def _chain(module: str) -> tuple[str, ...]:
    """Return the longest way from a module along the imports at the top of modules."""
    further = (_chain(other) for other in sorted(set(_imports(module, everywhere=False))))
    return (module, *max(further, key=len, default=()))


@cache
def _imports(module: str, *, everywhere: bool) -> tuple[str, ...]:
    """Return the modules of ours that a module imports: at its top, or inside functions too."""
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    nodes = ast.walk(tree) if everywhere else iter(tree.body)
    found = {other for node in nodes for other in _named_by(node, module)}
    return tuple(sorted(found - {module}))


def _named_by(node: ast.AST, module: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom):
        base = module.split(".")
        if node.level:
            up = node.level - (MODULES[module].name == "__init__.py")
            base = base[: len(base) - up]
        named = ".".join((*(base if node.level else ()), *([node.module] if node.module else ())))
        for alias in node.names:
            inner = f"{named}.{alias.name}"
            if inner in MODULES:
                yield inner
            elif named in MODULES:
                yield named

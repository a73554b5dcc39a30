"""Prints the imports and calls of a folder's Python files as jedi knows them, as JSON.

Started by `benchmarks.code_relations` with the interpreter of an environment that has jedi.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import jedi


def main() -> None:
    root = Path(sys.argv[1]).resolve()
    project = jedi.Project(str(root), added_sys_path=[str(root)])
    imports: list[tuple[str, str]] = []
    calls: list[tuple[str, str, str, int]] = []
    unknown: list[tuple[str, str, str]] = []
    for path in sorted(root.rglob("*.py")):
        text, own = path.read_text("utf-8"), path.relative_to(root).as_posix()
        script = jedi.Script(text, path=path, project=project)
        tree = ast.parse(text)
        for node in ast.walk(tree):
            imports += [(own, found) for found in imported(script, node, root, text, path)]
        for caller, node in called(tree.body, ""):
            name, line, column = place(node)
            if not name:
                continue
            found = [one for one in goto(script, line, column) if one.module_path]
            inside = [one for one in found if Path(one.module_path).is_relative_to(root)]
            for one in inside:
                target = Path(one.module_path).relative_to(root).as_posix()
                calls.append((f"{own}::{caller}", target, name, one.line or 0))
            if not found:
                unknown.append((f"{own}::{caller}", "", name))
    print(json.dumps({"imports": imports, "calls": calls, "unknown": unknown}))


def goto(script: jedi.Script, line: int, column: int) -> list[jedi.api.classes.Name]:
    try:
        return script.goto(line, column, follow_imports=True)
    except Exception:  # noqa: BLE001 - jedi may stumble over any code
        return []


def imported(script: jedi.Script, node: ast.AST, root: Path, text: str, path: Path) -> list[str]:
    """Return the files of the folder that an import statement means."""
    found = []
    if isinstance(node, ast.Import):
        for alias in node.names:
            end = alias.col_offset + len(alias.name) - 1
            found += goto(script, alias.lineno, end)
    elif isinstance(node, ast.ImportFrom):
        line = text.splitlines()[node.lineno - 1]
        module = "." * node.level + (node.module or "")
        at = line.find(module, node.col_offset) if node.module else -1
        of_module = goto(script, node.lineno, at + len(module) - 1) if at >= 0 else []
        for alias in node.names:
            taken = [] if alias.name == "*" else goto(script, alias.lineno, alias.col_offset)
            if node.module is None and not any(one.type == "module" for one in taken):
                found.append(path.parents[node.level - 1] / "__init__.py")
                continue
            found += [one for one in taken if one.type == "module"] or of_module
    paths = [one if isinstance(one, Path) else one.module_path for one in found]
    inside = [Path(one) for one in paths if one and Path(one).is_relative_to(root)]
    return [one.relative_to(root).as_posix() for one in inside]


def called(body: list[ast.stmt], inside: str) -> list[tuple[str, ast.Call]]:
    """Return the calls of every function and method, with its name."""
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            found += called(node.body, f"{inside}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{inside}{node.name}"
            found += [(name, one) for one in ast.walk(node) if isinstance(one, ast.Call)]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            found += called([*node.body, *getattr(node, "orelse", [])], inside)
    return found


def place(node: ast.Call) -> tuple[str, int, int]:
    """Return the name that is called and where it stands."""
    function = node.func
    if isinstance(function, ast.Name):
        return function.id, function.lineno, function.col_offset
    if isinstance(function, ast.Attribute) and function.end_lineno and function.end_col_offset:
        return function.attr, function.end_lineno, function.end_col_offset - len(function.attr)
    return "", 0, 0


if __name__ == "__main__":
    main()

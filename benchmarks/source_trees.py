"""Source trees read anew, apart from the product: which files have to do with each other, and plain
BM25 over whole files as something to compare with."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import normpath

SUFFIXES = (".py", ".ts", ".tsx", ".js", ".mjs", ".jsx", ".go", ".rs")
_FROM = re.compile(r"""(?:from|import|require\()\s*["'](\.[^"']+)["']""")
_GO_IMPORT = re.compile(r'^(?:import\s+)?\s*(?:[\w.]+\s+)?"([\w./-]+)"\s*$', re.MULTILINE)
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_RUST_USE = re.compile(r"\b(crate|super)((?:::\w+)+)")
_RUST_MOD = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.MULTILINE)


def read_tree(tree: Path) -> dict[str, str]:
    """Return the source files of a tree by their paths."""
    return {
        file.relative_to(tree).as_posix(): file.read_text("utf-8", errors="replace")
        for file in sorted(tree.rglob("*"))
        if file.suffix in SUFFIXES and file.is_file()
    }


def neighbours(files: Mapping[str, str], tree: Path) -> dict[str, set[str]]:
    """Return for each file those it imports and those that import it.

    Files of one package of Go see each other without an import.
    """
    modules = {re.sub(r"(/__init__)?\.py$", "", path).replace("/", "."): path for path in files}
    manifest = tree / "go.mod"
    found = _GO_MODULE.search(manifest.read_text("utf-8")) if manifest.is_file() else None
    module = found[1] if found else ""
    near: dict[str, set[str]] = {path: set() for path in files}
    for path, text in files.items():
        if path.endswith(".py"):
            targets = _python(path, text, modules)
        elif path.endswith(".go"):
            targets = _go(path, text, files, module)
        elif path.endswith(".rs"):
            targets = _rust(path, text, files)
        else:
            targets = _script(path, text, files)
        for target in targets:
            if target != path:
                near[path].add(target)
                near[target].add(path)
    return near


def _python(path: str, text: str, modules: Mapping[str, str]) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    package = path.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (modules[name] for name in names if name in modules)


def _script(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    folder = path.rpartition("/")[0] or "."
    for spelled in _FROM.findall(text):
        target = normpath(f"{folder}/{spelled}")
        ends = ("", ".ts", ".tsx", ".js", "/index.ts", "/index.js")
        yield from [target + end for end in ends if target + end in files][:1]


def _go(path: str, text: str, files: Mapping[str, str], module: str) -> Iterator[str]:
    own = path.rpartition("/")[0]
    taken = {name[len(module) :].strip("/") for name in _GO_IMPORT.findall(text)
             if module and f"{name}/".startswith(f"{module}/")}  # fmt: skip
    for other in files:
        if other.endswith(".go") and other.rpartition("/")[0] in (own, *taken):
            yield other


def _rust(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    folder, _, name = path.rpartition("/")
    inside = folder if name in ("mod.rs", "lib.rs", "main.rs") else path.removesuffix(".rs")
    top = path.split("/src/", maxsplit=1)[0] + "/src" if "/src/" in path else "src"
    for start, rest in _RUST_USE.findall(text):
        base = top if start == "crate" else inside.rpartition("/")[0]
        names = rest.split("::")[1:]
        for end in range(len(names), 0, -1):
            target = f"{base}/{'/'.join(names[:end])}"
            if hit := [t for t in (f"{target}.rs", f"{target}/mod.rs") if t in files]:
                yield hit[0]
                break
    for spelled in _RUST_MOD.findall(text):
        target = f"{inside}/{spelled}"
        yield from [t for t in (f"{target}.rs", f"{target}/mod.rs") if t in files][:1]


class PlainRanking:
    """BM25 over whole files: identifiers in their parts, words of the path five times."""

    _K, _B, _PATH = 1.2, 0.75, 5

    def __init__(self, files: Mapping[str, str]) -> None:
        self._counts = {path: self._counted(path, text) for path, text in files.items()}
        self._held = Counter(word for counts in self._counts.values() for word in counts)
        self._lengths = {path: counts.total() for path, counts in self._counts.items()}
        self._mean = sum(self._lengths.values()) / max(1, len(files))

    def first(self, request: str, most: int) -> list[str]:
        """Return the paths of the files that fit best."""
        asked = set(_words(request))
        scores = {path: self._score(path, asked) for path in self._counts}
        ranked = sorted(scores, key=lambda path: (-scores[path], path))
        return [path for path in ranked[:most] if scores[path] > 0]

    def _counted(self, path: str, text: str) -> Counter[str]:
        counts = Counter(_words(text))
        for word in _words(path):
            counts[word] += self._PATH
        return counts

    def _score(self, path: str, asked: set[str]) -> float:
        counts = self._counts[path]
        norm = self._K * (1 - self._B + self._B * self._lengths[path] / self._mean)
        n = len(self._counts)
        return sum(
            math.log(1 + (n - self._held[word] + 0.5) / (self._held[word] + 0.5))
            * counts[word] * (self._K + 1) / (counts[word] + norm)
            for word in asked
            if counts[word]
        )  # fmt: skip


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]

"""Which file of a project imports which: true, or not told.

A name that merely ends alike is no relation: `import types` is Python's own, and Go's "context" is
not every folder of that name. Each language has its rules of what an import means.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from posixpath import normpath

from ..files import CodeFile, module_name

_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_SCRIPT_ENDS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx")
_RUST_FILES = (".rs", "/mod.rs", "/lib.rs", "/main.rs")


class ImportGraph:
    """Who imports whom in one project."""

    def __init__(self, files: Mapping[str, CodeFile]) -> None:
        self._files = files
        self._imports: dict[str, tuple[str, ...]] = {}
        self._places: _Places | None = None
        self._importers: dict[str, list[str]] | None = None

    def changed(self, path: str, *, same_paths: bool) -> None:
        """Look at a file again; at all of them when a path is new or gone."""
        self._importers = None
        if same_paths:
            self._imports.pop(path, None)
        else:
            self._imports.clear()
            self._places = None

    def imported(self, path: str) -> tuple[str, ...]:
        """Return the files of this project that a file imports."""
        known = self._imports.get(path)
        if known is None:
            known = self._imports[path] = tuple(self._resolved(self._files[path]))
        return known

    def importers(self, path: str) -> list[str]:
        """Return the files that import a file."""
        if self._importers is None:
            found: dict[str, list[str]] = defaultdict(list)
            for other in self._files:
                for target in self.imported(other):
                    found[target].append(other)
            self._importers = found
        return self._importers.get(path, [])

    def _resolved(self, file: CodeFile) -> list[str]:
        if self._places is None:
            self._places = _Places.of(self._files)
        rule = _RULES.get(file.language)
        if rule is None:
            return []
        found = dict.fromkeys(
            target for text in file.imports for target in rule(text, file.path, self._places)
        )
        found.pop(file.path, None)
        return list(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where the files of a project are, as imports name them."""

    paths: Collection[str]
    modules: Mapping[str, list[str]]
    """Python files by the dotted names they can be imported by."""
    folders: Mapping[str, list[str]]
    """What stands in a folder, tests left out."""
    classes: Mapping[str, list[str]]
    """Java files by the name of their class."""

    @classmethod
    def of(cls, files: Mapping[str, CodeFile]) -> _Places:
        modules: dict[str, list[str]] = defaultdict(list)
        folders: dict[str, list[str]] = defaultdict(list)
        classes: dict[str, list[str]] = defaultdict(list)
        packages = {path.rpartition("/")[0] for path in files if path.endswith("__init__.py")}
        for path, file in files.items():
            folder, _, name = path.rpartition("/")
            if file.language == "python":
                # The folder that was indexed may itself be the package.
                inside = f"{PurePath(file.root).name}." if "" in packages else ""
                for spelled in _importable(path, packages, inside):
                    modules[spelled].append(path)
            elif file.language == "go" and not name.endswith("_test.go"):
                folders[folder].append(path)
            elif file.language == "java":
                classes[name.partition(".")[0]].append(path)
        return cls(paths=files.keys(), modules=modules, folders=folders, classes=classes)


def _importable(path: str, packages: Collection[str], inside_of: str) -> Iterator[str]:
    """Yield the names a module has from each folder that is no package: there imports begin."""
    whole = module_name(path)
    if inside_of:
        yield f"{inside_of}{whole}".removesuffix(".__init__")
    parts, folder = whole.split("."), path.split("/")[:-1]
    for at in range(len(parts)):
        inside = "/".join(folder[:at])
        if at == 0 or inside not in packages:
            yield ".".join(parts[at:])


def _python(text: str, importer: str, places: _Places) -> Iterable[str]:
    module, _, name = text.partition(":")
    level = len(module) - len(module.lstrip("."))
    if level:
        package = importer.split("/")[:-1]
        inside = package[: len(package) - level + 1]
        spelled = ".".join([*inside, *filter(None, module.lstrip(".").split("."))])
        found = [path for path in _spelled(spelled, name, places) if _is_at(path, spelled)]
        return found[:1]
    if module.partition(".")[0] in sys.stdlib_module_names:
        return ()
    return _nearest(_spelled(module, name, places), importer)


def _spelled(module: str, name: str, places: _Places) -> list[str]:
    """Return the files of a module: the one that is taken out of it, when that is a module."""
    taken = places.modules.get(f"{module}.{name}".strip("."), []) if name else []
    return taken or places.modules.get(module, [])


def _is_at(path: str, spelled: str) -> bool:
    """Say whether a relative import means this path: it is told from the root."""
    own = module_name(path)
    return own == spelled or own.startswith(f"{spelled}.") or not spelled


def _nearest(found: Iterable[str], importer: str) -> list[str]:
    """Return the one that shares the longest beginning with who imports it."""
    return sorted(found, key=lambda path: (-_shared(path, importer), path))[:1]


def _shared(one: str, two: str) -> int:
    same = 0
    for left, right in zip(one.split("/"), two.split("/"), strict=False):
        if left != right:
            break
        same += 1
    return same


def _script(text: str, importer: str, places: _Places) -> Iterable[str]:
    if text.startswith("."):
        target = normpath(f"{importer.rpartition('/')[0] or '.'}/{text}")
    elif text.startswith("/"):
        target = text[1:]
    else:
        return ()
    plain = next((target.removesuffix(end) for end in _SCRIPT_ENDS if target.endswith(end)), target)
    endings = ["", *_SCRIPTS, *(f"/index{end}" for end in _SCRIPTS)]
    tried = [f"{base}{end}" for base in dict.fromkeys((plain, target)) for end in endings]
    # "./x.js" is x.ts where that is what there is, and x.js where both are.
    first = [target, *tried]
    return [path for path in first if path in places.paths][:1]


def _go(text: str, _: str, places: _Places) -> Iterable[str]:
    # What stands in this module begins with a slash: the indexer knows its go.mod.
    return places.folders.get(text.strip("/"), ()) if text.startswith("/") else ()


def _rust(text: str, _: str, places: _Places) -> Iterable[str]:
    if not text.startswith("/"):
        return ()
    parts = text.strip("/").split("/")
    # The last names are those of what is taken, not of files.
    for end in range(len(parts), 0, -1):
        base = "/".join(parts[:end])
        for ending in _RUST_FILES:
            if f"{base}{ending}" in places.paths:
                return (f"{base}{ending}",)
    return ()


def _java(text: str, importer: str, places: _Places) -> Iterable[str]:
    parts = text.split(".")
    # An inner class or a static method: what it stands in.
    for end in range(len(parts), 1, -1):
        ending = "/".join(parts[:end]) + ".java"
        found = [
            path
            for path in places.classes.get(parts[end - 1], ())
            if path == ending or path.endswith(f"/{ending}")
        ]
        if found:
            return _nearest(found, importer)
    return ()


_RULES: Mapping[str, Callable[[str, str, _Places], Iterable[str]]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "go": _go,
    "rust": _rust,
    "java": _java,
}

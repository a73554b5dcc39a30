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
from .rust_modules import RustModules
from .script_modules import SCRIPTS

_WRITTEN_AS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""What a script may be that is imported by the name it has when it is compiled."""


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
        # In Rust a file says what its neighbours are.
        if same_paths and not path.endswith(".rs"):
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

    def taken_from(self, path: str, name: str) -> list[str]:
        """Return the files that a file takes something of this name from, or all there is."""
        file = self._files[path]
        named = _NAMED.get(file.language)
        if named is None:
            return []
        wanted = [text for text in file.imports if named(text) in (name, "*")]
        return list(dict.fromkeys(self._targets(file, wanted)))

    def _resolved(self, file: CodeFile) -> list[str]:
        found = dict.fromkeys(self._targets(file, file.imports))
        found.pop(file.path, None)
        return list(found)

    def _targets(self, file: CodeFile, imports: Iterable[str]) -> Iterator[str]:
        if self._places is None:
            self._places = _Places.of(self._files)
        rule = _RULES.get(file.language)
        if rule is not None:
            for text in imports:
                yield from rule(text, file.path, self._places)


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
    rust: RustModules

    @classmethod
    def of(cls, files: Mapping[str, CodeFile]) -> _Places:
        modules: dict[str, list[str]] = defaultdict(list)
        folders: dict[str, list[str]] = defaultdict(list)
        classes: dict[str, list[str]] = defaultdict(list)
        packages = {path.rpartition("/")[0] for path in files if path.endswith("__init__.py")}
        for path, file in files.items():
            folder, _, name = path.rpartition("/")
            if file.language == "python":
                # The folder that was indexed may itself be the package, with or without a file
                # that says so.
                inside = f"{PurePath(file.root).name}."
                for spelled in _importable(path, packages, inside):
                    modules[spelled].append(path)
            elif file.language == "go" and not name.endswith("_test.go"):
                folders[folder].append(path)
            elif file.language == "java":
                classes[name.partition(".")[0]].append(path)
        return cls(
            paths=files.keys(),
            modules=modules,
            folders=folders,
            classes=classes,
            rust=RustModules(files),
        )


def _importable(path: str, packages: Collection[str], inside_of: str) -> Iterator[str]:
    """Yield the names a module has from each folder that is no package: there imports begin."""
    whole = module_name(path)
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
    source, colon, _ = text.rpartition(":")
    source = source if colon else text
    if not source.startswith((".", "/")):
        return ()
    folder = importer.rpartition("/")[0] or "."
    for one in source.split("|"):
        target = one[1:] if one.startswith("/") else normpath(f"{folder}/{one}")
        found = next((path for path in _script_files(target) if path in places.paths), None)
        if found is not None:
            return (found,)
    return ()


def _script_files(target: str) -> Iterator[str]:
    """Yield the files that a script's import may mean, in the order the compiler looks for them."""
    stem, dot, end = target.rpartition(".")
    yield from (f"{stem}{written}" for written in _WRITTEN_AS.get(f"{dot}{end}", ()))
    if f".{end}" in SCRIPTS:
        yield target
    yield from (f"{target}{one}" for one in SCRIPTS)
    inside = "index" if target in ("", ".") else f"{target}/index"
    yield from (f"{inside}{one}" for one in SCRIPTS)


def _go(text: str, _: str, places: _Places) -> Iterable[str]:
    # What stands in this module begins with a slash: the indexer knows its go.mod.
    return places.folders.get(text.strip("/"), ()) if text.startswith("/") else ()


def _rust(text: str, importer: str, places: _Places) -> Iterable[str]:
    return places.rust.meant(text, importer)


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
_NAMED: Mapping[str, Callable[[str], str]] = {
    "python": lambda text: text.partition(":")[2],
    "javascript": lambda text: text.rpartition(":")[2],
    "typescript": lambda text: text.rpartition(":")[2],
    "rust": lambda text: text.rpartition("::")[2],
    "java": lambda text: text.rpartition(".")[2],
}
"""The name that an import takes, in languages whose imports tell it."""

"""What an import of a script means in its folder: by tsconfig.json and package.json.

`@/cart` is what `paths` says, `cart/total` may stand under `baseUrl`, and `@shop/cart` may be a
package of the same repository. What none of them tells is somebody else's package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from posixpath import normpath
from typing import Any

from ...workspace.files import Unreadable, read_under

SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
"""How scripts end, in the order in which an import without an ending looks for them."""
_CONFIGS = ("tsconfig.json", "jsconfig.json")
_LARGEST = 256 * 1024
_DEEPEST = 8
"""How many configurations may build on one another."""
_PLACES = 12
"""Where one import may mean at most."""
_MOST_FOLDERS = 5000


@dataclass(frozen=True, slots=True)
class _Config:
    """What a configuration says about where modules are; folders are told from the root."""

    base: str | None = None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ScriptModules:
    """Tells what an import of a script means, as paths from the root."""

    def __init__(self, root: Path, paths: Collection[str]) -> None:
        self._root = root
        self._paths = paths
        self._configs: dict[str, _Config] = {}

    def local(self, text: str, importer: str) -> str:
        """Return an import of this project as "/path:name", of others without a name.

        Where it may mean several paths they stand side by side, "/a|/b": the first there is counts.
        """
        source, _, name = text.rpartition(":")
        if not source.startswith((".", "/")):
            found = list(dict.fromkeys(islice(self._places(source, importer), _PLACES)))
            if not found:
                return source
            source = "|".join(f"/{place}" for place in found)
        return f"{source}:{name}"

    def _places(self, source: str, importer: str) -> Iterator[str]:
        config = self._config(importer.rpartition("/")[0])
        yield from _by_pattern(source, config.paths)
        first = source.partition("/")[0]
        if config.base is not None and self._is_there(_joined(config.base, first)):
            yield _joined(config.base, source)
        for name in ("/".join(source.split("/")[:parts]) for parts in (1, 2)):
            if name in self._packages:
                yield from self._in_package(*self._packages[name], source[len(name) :].strip("/"))

    def _is_there(self, path: str) -> bool:
        return any(end in self._beginnings for end in (path, *(f"{path}{end}" for end in SCRIPTS)))

    @cached_property
    def _beginnings(self) -> set[str]:
        """All files and folders of the project."""
        return {*self._paths, *_folders_of(self._paths)}

    @cached_property
    def _packages(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The packages of this repository by name: where they are, and their package.json."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for folder in sorted(_folders_of(self._paths), key=lambda one: (one.count("/"), one)):
            content = self._json(_joined(folder, "package.json"))
            name = content.get("name")
            if isinstance(name, str) and name:
                found.setdefault(name, (folder, content))
        return found

    def _in_package(self, folder: str, content: dict[str, Any], inside: str) -> Iterator[str]:
        exports = content.get("exports")
        told = exports.get(f"./{inside}" if inside else ".") if isinstance(exports, dict) else None
        if not inside:
            told = [told, *(content.get(key) for key in ("source", "types", "module", "main"))]
        for path in _texts(told):
            if not path.endswith((".d.ts", ".d.cts", ".d.mts")):
                yield _joined(folder, path)
        yield _joined(folder, f"src/{inside or 'index'}")
        yield _joined(folder, inside or "index")

    def _config(self, folder: str) -> _Config:
        """Return the nearest configuration."""
        if folder not in self._configs:
            names = (_joined(folder, name) for name in _CONFIGS)
            found = next((self._read(name) for name in names if self._json(name)), None)
            if found is None:
                found = self._config(folder.rpartition("/")[0]) if folder else _Config()
            self._configs[folder] = found
        return self._configs[folder]

    def _read(self, path: str, deep: int = 0) -> _Config:
        content, folder = self._json(path), path.rpartition("/")[0]
        options = content.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base = options.get("baseUrl")
        base = _joined(folder, base) if isinstance(base, str) else None
        paths = options.get("paths")
        if isinstance(paths, dict):
            return _Config(base, tuple(_patterns(paths, folder if base is None else base)))
        if deep < _DEEPEST:
            for other in self._built_on(content, folder):
                inherited = self._read(other, deep + 1)
                if inherited != _Config():
                    return _Config(inherited.base if base is None else base, inherited.paths)
        return _Config(base)

    def _built_on(self, content: dict[str, Any], folder: str) -> Iterator[str]:
        """Yield the configurations that one extends, and those it only holds together."""
        for name in _texts(content.get("extends")):
            if name.startswith("."):
                path = _joined(folder, name)
                yield path if path.endswith(".json") else f"{path}.json"
        references = content.get("references")
        for each in references if isinstance(references, list) else []:
            told = each.get("path") if isinstance(each, dict) else None
            if isinstance(told, str):
                path = _joined(folder, told)
                yield path if path.endswith(".json") else _joined(path, _CONFIGS[0])

    def _json(self, path: str) -> dict[str, Any]:
        try:
            text = read_under(self._root, self._root / path, _LARGEST)
            content = json.loads(_AFTER_LAST.sub(r"\1", _COMMENT.sub(r"\g<kept>", text)))
        except (Unreadable, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}


# What is never closed reaches to the end: so everything is read once.
_COMMENT = re.compile(
    r"""(?P<kept>"(?:[^"\\\n]|\\.)*+"?+)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"""
)
_AFTER_LAST = re.compile(r",\s*+([}\]])")


def _patterns(paths: dict[str, Any], base: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the patterns of `paths`, the most telling first."""
    for pattern in sorted(paths, key=lambda one: -len(one.partition("*")[0])):
        places = tuple(_joined(base, place) for place in _texts(paths[pattern]))
        if places:
            yield pattern, places


def _by_pattern(source: str, paths: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    for pattern, places in paths:
        before, star, behind = pattern.partition("*")
        fits = source.startswith(before) and source.endswith(behind)
        if star and fits and len(source) >= len(before) + len(behind):
            middle = source[len(before) : len(source) - len(behind)]
            yield from (place.replace("*", middle) for place in places)
            return
        if source == pattern:
            yield from places
            return


def _texts(told: object) -> Iterator[str]:
    """Yield the texts in a value of JSON, however deep they stand."""
    waiting = [told]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list | dict):
            waiting += reversed(list(one.values() if isinstance(one, dict) else one))


def _joined(folder: str, path: str) -> str:
    """Return a path of a folder from the root; what leads out of it leads nowhere."""
    whole = normpath(f"{folder or '.'}/{path}")
    return "" if whole == "." else whole


def _folders_of(paths: Iterable[str]) -> set[str]:
    """Return the folders that scripts stand in, and those around them."""
    found = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in found and path.endswith(SCRIPTS) and len(found) < _MOST_FOLDERS:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found

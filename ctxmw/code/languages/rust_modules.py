"""The tree of Rust's modules, as `mod` declares it, and what a path means in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from posixpath import normpath

from ..files import CodeFile

_BEGINNINGS = frozenset(("mod.rs", "lib.rs", "main.rs", "build.rs"))
"""Files whose modules stand in their own folder."""
_DEEPEST = 12
"""How often something may be handed on from module to module."""
_STEPS = 300
"""How many modules are asked for one path at most."""


class RustModules:
    """Finds the file that defines what a path names."""

    def __init__(self, files: Mapping[str, CodeFile]) -> None:
        self._files = files
        self._defined: dict[str, frozenset[str]] = {}
        self._steps = 0

    def meant(self, text: str, importer: str) -> tuple[str, ...]:
        """Return the file that an import means: "mod a", "self::a::B", "/src/lib.rs::a::B"."""
        if text.startswith("mod "):
            child = self._children.get(importer, {}).get(text[4:].partition("=")[0])
            return (child,) if child is not None else ()
        self._steps = _STEPS
        found = self._file(text, importer, 0)
        return (found,) if found is not None else ()

    @cached_property
    def _children(self) -> dict[str, dict[str, str]]:
        """The files of a file's modules, by name."""
        found: dict[str, dict[str, str]] = {}
        for path, file in self._files.items():
            if file.language == "rust":
                declared = (text[4:] for text in file.imports if text.startswith("mod "))
                pairs = ((text.partition("=")[0], self._child(path, text)) for text in declared)
                found[path] = {name: child for name, child in pairs if child is not None}
        return found

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {
            child: path for path, children in self._children.items() for child in children.values()
        }

    def _child(self, path: str, declared: str) -> str | None:
        name, _, told = declared.partition("=")
        folder, _, base = path.rpartition("/")
        below = normpath(f"{folder or '.'}/{base.removesuffix('.rs')}")
        # A program or a test is the beginning of a crate, whatever its name.
        folders = [folder] if base in _BEGINNINGS else [below, folder]
        tried = [f"{folder}/{told}"] if told else []
        tried += [f"{one}/{name}{end}" for one in folders for end in (".rs", "/mod.rs")]
        there = (normpath(one.lstrip("/")) for one in tried)
        return next((one for one in there if one in self._files), None)

    def _file(self, text: str, importer: str, deep: int) -> str | None:
        names = text.split("::")
        self._steps -= 1
        if self._steps < 0:
            return None
        at: str | None
        if text.startswith("/"):
            at, names = names[0][1:], names[1:]
        elif names[0] in ("self", "super"):
            at = importer
        else:
            return None
        while at is not None and names and names[0] in ("self", "super"):
            at = self._parents.get(at) if names[0] == "super" else at
            names = names[1:]
        if at is None or at not in self._files:
            return None
        return self._below(at, names, deep)

    def _below(self, at: str, names: list[str], deep: int) -> str | None:
        """Return the file in which a path ends that begins at a file."""
        for done, name in enumerate(names):
            child = self._children.get(at, {}).get(name)
            if child is not None:
                at = child
                continue
            if name == "*" or name in self._defines(at) or deep >= _DEEPEST:
                return at
            handed_on = self._handed_on(at, name, deep + 1)
            if handed_on is None:
                return at
            return self._below(handed_on, names[done + 1 :], deep + 1)
        return at

    def _handed_on(self, at: str, name: str, deep: int) -> str | None:
        """Return the file that a module takes this name from itself."""
        for text in self._files[at].imports:
            if text.endswith(f"::{name}"):
                found = self._file(text, at, deep)
                if found is not None:
                    return found
        for text in self._files[at].imports:
            if text.endswith("::*"):
                found = self._file(text, at, deep)
                if found is not None and found != at and name in self._defines(found):
                    return found
        return None

    def _defines(self, path: str) -> frozenset[str]:
        if path not in self._defined:
            entities = self._files[path].entities[1:]
            self._defined[path] = frozenset(one.name.partition(".")[0] for one in entities)
        return self._defined[path]

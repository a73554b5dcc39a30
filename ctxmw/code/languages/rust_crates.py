"""Crates of a folder: which files they begin with, by Cargo.toml."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...workspace.files import Unreadable, read_under

_LARGEST = 64 * 1024
_LINE = re.compile(
    r"""^[ \t]*+(?: \[ (?P<table>[^\]\n]*+) \]
                  | (?P<key>name|path|edition) (?P<inherited>\.workspace)?+
                    [ \t]*+ = [ \t]*+ (?:["'] (?P<value>[^"'\n]*+) ["'])?+ )""",
    re.MULTILINE | re.VERBOSE,
)
_OWN_ROOTS = frozenset(("bin", "tests", "examples", "benches"))
"""Folders in which every file is a crate of its own."""


@dataclass(frozen=True, slots=True)
class _Crate:
    name: str
    root: str
    """The file it begins with."""
    is_old: bool
    """Of the edition 2015, in which paths begin at the crate."""


class RustCrates:
    """Tells what a path of a Rust file begins with: this crate, another one of the folder."""

    def __init__(self, root: Path, paths: Collection[str]) -> None:
        self._root = root
        self._paths = paths

    def local(self, text: str, importer: str, beside: Collection[str]) -> str:
        """Return a path with the file it begins at, "/src/lib.rs::a::B"; others as given.

        `beside` is all that this file imports: a module it declares hides a crate of that name.
        """
        first, _, rest = text.partition("::")
        if text.startswith("mod ") or first in ("self", "super"):
            return text
        own = self._around(importer)
        if first == "crate":
            return f"/{_begin(importer, own)}::{rest}" if own is not None else text
        if f"mod {first}" in beside:
            return f"self::{text}"
        if first in self._by_name:
            return f"/{self._by_name[first].root}::{rest or '*'}"
        if own is not None and own.is_old and first not in ("std", "core", "alloc"):
            return f"/{_begin(importer, own)}::{text}"
        return text

    def _around(self, importer: str) -> _Crate | None:
        folder = importer.rpartition("/")[0]
        while folder and folder not in self._crates:
            folder = folder.rpartition("/")[0]
        return self._crates.get(folder)

    @cached_property
    def _by_name(self) -> dict[str, _Crate]:
        """Crates that others can use, by the name they write."""
        own = (one for one in self._crates.values() if not one.root.endswith("/main.rs"))
        return {one.name: one for one in own}

    @cached_property
    def _crates(self) -> dict[str, _Crate]:
        """The crates of the folder, by where their Cargo.toml is."""
        folders = {""}
        for path in self._paths:
            folder = path.rpartition("/")[0]
            while folder not in folders and path.endswith(".rs"):
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        found = ((folder, self._read(folder)) for folder in sorted(folders))
        return {folder: crate for folder, crate in found if crate is not None}

    def _read(self, folder: str) -> _Crate | None:
        try:
            text = read_under(self._root, self._root / folder / "Cargo.toml", _LARGEST)
        except Unreadable:
            return None
        told = dict(_told(text))
        name = told.get("lib.name") or told.get("package.name", "")
        before = f"{folder}/" if folder else ""
        tried = (told.get("lib.path"), "src/lib.rs", "src/main.rs")
        root = next(
            (f"{before}{one}" for one in tried if one and f"{before}{one}" in self._paths), ""
        )
        if not name or not root:
            return None
        edition = told.get("package.edition", "2015")
        return _Crate(name.replace("-", "_"), root, edition == "2015")


def _told(text: str) -> Iterator[tuple[str, str]]:
    table = ""
    for line in _LINE.finditer(text):
        if line["table"] is not None:
            table = line["table"].strip()
        else:
            yield f"{table}.{line['key']}", line["value"] or "of the workspace"


def _begin(importer: str, crate: _Crate) -> str:
    """Return the file at which the crate of a file begins: programs and tests are their own."""
    *folders, name = importer.split("/")
    alone = bool(folders) and folders[-1] in _OWN_ROOTS
    return importer if alone or name in ("main.rs", "build.rs") else crate.root

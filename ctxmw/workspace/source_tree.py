"""The source files of a folder, without what git ignores, what is hidden, what others wrote."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .files import Unreadable, read_under
from .globs import Ignored
from .project import LANGUAGES

READ = frozenset(("python", "javascript", "typescript", "go", "rust", "java"))
"""Languages whose definitions are read."""
_NOT_READ = frozenset(("ipynb", "pyi"))
_MADE = (".min.js", ".d.ts", ".d.cts", ".d.mts")
_NOT_OURS = frozenset(
    "__pycache__ bower_components node_modules site-packages venv virtualenv".split()
)
DEEPEST = 40
"""Folders within folders that are looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to read; paths are relative to the root, with slashes."""

    path: str
    language: str
    size: int
    modified: int


def language_of(path: str) -> str | None:
    """Return the language of a file whose definitions are read; None for any other."""
    name = path.rpartition("/")[2].lower()
    _, dot, extension = name.rpartition(".")
    if not dot or extension in _NOT_READ or name.endswith(_MADE):
        return None
    language = LANGUAGES.get(extension)
    return language if language in READ else None


def source_files(root: Path, below: str = "") -> Iterator[SourceFile]:
    """Yield the source files of a folder under the root, in order; links are not followed."""
    start = tuple(part for part in below.split("/") if part)
    waiting = [(start, _ignored_above(root, start))]
    while waiting:
        folder, ignored = waiting.pop()
        at = root.joinpath(*folder)
        ignored = _with_ignore_file(root, at, folder, ignored)
        folders = []
        for entry in _entries(at):
            path = (*folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if _is_ours(entry.name, folder) and not ignored.covers(path, is_folder=True):
                    folders.append((path, ignored))
                continue
            language = language_of(entry.name)
            if language and not ignored.covers(path, is_folder=False):
                with suppress(FileNotFoundError):  # gone since the folder was listed
                    yield _source_file(entry, "/".join(path), language)
        waiting += reversed(folders)


def is_source(root: Path, path: str) -> bool:
    """Say whether a file under the root is one that `source_files` gives."""
    *folders, name = path.split("/")
    if language_of(name) is None:
        return False
    ignored = Ignored()
    folder: tuple[str, ...] = ()
    for part in folders:
        ignored = _with_ignore_file(root, root.joinpath(*folder), folder, ignored)
        folder = (*folder, part)
        if not _is_ours(part, folder[:-1]) or ignored.covers(folder, is_folder=True):
            return False
    ignored = _with_ignore_file(root, root.joinpath(*folder), folder, ignored)
    return not ignored.covers((*folder, name), is_folder=False)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _source_file(entry: os.DirEntry[str], path: str, language: str) -> SourceFile:
    status = entry.stat(follow_symlinks=False)
    return SourceFile(
        path=path, language=language, size=status.st_size, modified=status.st_mtime_ns
    )


def _is_ours(name: str, inside: tuple[str, ...]) -> bool:
    return not name.startswith(".") and name not in _NOT_OURS and len(inside) < DEEPEST


def _ignored_above(root: Path, start: tuple[str, ...]) -> Ignored:
    ignored = Ignored()
    for depth in range(len(start)):
        folder = start[:depth]
        ignored = _with_ignore_file(root, root.joinpath(*folder), folder, ignored)
    return ignored


def _with_ignore_file(root: Path, at: Path, folder: tuple[str, ...], ignored: Ignored) -> Ignored:
    names = (".git/info/exclude", ".gitignore") if not folder else (".gitignore",)
    for name in names:
        if not os.path.lexists(at / name):
            continue
        try:
            ignored = ignored.with_file(folder, read_under(root, at / name, _LARGEST_IGNORE))
        except Unreadable:
            continue  # it is no file
    return ignored


_LARGEST_IGNORE = 64 * 1024

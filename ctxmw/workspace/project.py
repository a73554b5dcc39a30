"""The project around a folder and its main language.

Finding only guesses, so what the caller states wins. A folder may hold anything, so finding never
raises, never follows a link, and looks at a bounded number of entries.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Literal

from ..text.cleaning import one_line
from ..text.patterns.late import late_pattern
from .files import open_safely


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a folder tells; None for what it does not."""

    root: Path | None = None
    project: str | None = None
    language: str | None = None


def detect(cwd: Path) -> Place:
    """Return the project around a folder and its main language.

    The project is the nearest folder, going up, that holds .git or a manifest (MANIFESTS); its
    name is the declared one, else that of the repository's folder. The search ends below the home
    folder and the root of the file system: dotfiles kept in git make no project of all that is
    under them. Outside any project the language of the folder itself is found.
    """
    around = _around(cwd)
    root = next(filter(_is_root, around), None)
    if root:
        return Place(root=root, project=_project(root), language=_language(root))
    return Place(language=_language(around[0]) if around else None)


def resolved(folder: Path) -> Path:
    """Return a folder with its links resolved, as far as that can be done."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError, ValueError):  # no such drive, a loop of links, a NUL
        return folder


MANIFESTS = (
    "pyproject.toml",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "package.json",
)
"""Files that make a folder a project. The first that declares a name gives it."""


def _around(cwd: Path) -> list[Path]:
    """Return the folder and those above it, up to the home folder or the file system's root."""
    try:
        here = cwd.resolve()
    except (OSError, RuntimeError, ValueError):  # no such drive, a loop of links, a NUL
        return []
    ends = (_home(), Path(here.anchor))
    return list(takewhile(lambda folder: folder not in ends, (here, *here.parents)))


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # a container's user may have none
        return None


def _is_root(folder: Path) -> bool:
    is_repository = _kind(folder / ".git") in (stat.S_IFDIR, stat.S_IFREG)
    return is_repository or any(_kind(folder / name) == stat.S_IFREG for name in MANIFESTS)


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return 0


def _project(root: Path) -> str:
    declared = (_declared_name(root / name) for name in MANIFESTS)
    return next(filter(None, declared), None) or one_line(_repository(root).name, 100)


_NAME = late_pattern(r"@?[A-Za-z0-9][\w./-]{0,99}", re.ASCII)


def _declared_name(manifest: Path) -> str | None:
    text = _read(manifest)
    if manifest.name == "package.json":
        name = _json_name(text)
    elif manifest.name == "go.mod":
        module = _GO_MODULE.search(text)
        name = _VERSION.sub("", module[1]).rpartition("/")[2] if module else None
    elif manifest.name == "pom.xml":
        artifact = _ARTIFACT.search(_PARENT.sub("", text[:_HEAD]))
        name = artifact[1] if artifact else None
    elif manifest.name in ("build.gradle", "build.gradle.kts"):
        named = manifest.name.replace("build", "settings")
        project = _GRADLE.search(_read(manifest.with_name(named)))
        name = project[1] if project else None
    else:
        names = _toml_names(text)
        name = next((names[table] for table in _TABLES if table in names), None)
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def _json_name(text: str) -> object:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content.get("name") if isinstance(content, dict) else None


_HEAD = 16_384
_GO_MODULE = late_pattern(r"^module[ \t]++\"?([^\s\"]++)", re.MULTILINE)
_VERSION = late_pattern(r"/v\d++\Z")
_PARENT = late_pattern(r"<(parent|dependencies|build|profiles)>.*?</\1>", re.DOTALL)
_ARTIFACT = late_pattern(r"<artifactId>\s*+([^<\s]++)\s*+</artifactId>")
_GRADLE = late_pattern(r"rootProject\.name\s*+=\s*+[\"']([^\"'\n]++)")
_TABLES = ("project", "tool.poetry", "package")
_TOML_LINE = late_pattern(
    r"""^[ \t]*+(?: \[ (?P<table>[^\]\n]*+) \]
                  | name [ \t]*+ = [ \t]*+ ["'] (?P<name>[^"'\n]*+) ["'] )""",
    re.MULTILINE | re.VERBOSE,
)


def _toml_names(text: str) -> dict[str, str]:
    """Return the first `name` of each table.

    Not by tomllib: a key of many dots keeps it busy for minutes, and the file may be hostile.
    """
    names: dict[str, str] = {}
    table = ""
    for line in _TOML_LINE.finditer(text):
        if line["table"] is not None:
            table = line["table"].strip()
        else:
            names.setdefault(table, line["name"])
    return names


_WORKTREE = late_pattern(r"gitdir: (?P<main>[^\n]+)/\.git/worktrees/[^/\n]+\n?")


def _repository(root: Path) -> Path:
    """Return the main folder of a git worktree, so that all worktrees are one project."""
    worktree = _WORKTREE.fullmatch(_read(root / ".git"))
    return Path(worktree["main"]) if worktree else root


_LARGEST_FILE = 256 * 1024


def _read(path: Path) -> str:
    """Return the text of a small regular file, "" for anything else."""
    try:
        with open(path, "rb", opener=open_safely) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_FILE:
                return ""
            return file.read(_LARGEST_FILE).decode("utf-8-sig")
    except (OSError, ValueError):
        return ""


_ENTRIES = 2000
_ENTRIES_OF_A_FOLDER = 500
_COST_OF_A_FOLDER = 10


def _language(root: Path) -> str | None:
    """Return the language most files near the root are written in; of equals, the first by name."""
    counts = _counts(root)
    main = {name: count for name, count in counts.items() if name not in _COMPANIONS}
    ranked = sorted((main or counts).items(), key=lambda entry: (-entry[1], entry[0]))
    return ranked[0][0] if ranked else None


def _counts(root: Path) -> Counter[str]:
    """Count files by language, nearest first, as far as _ENTRIES reach."""
    counts: Counter[str] = Counter()
    folders = deque([str(root)])
    left = _ENTRIES
    while folders and left > 0:
        # Some trees have all files deep down: with half spent and none seen, go straight down.
        straight_down = not counts and left < _ENTRIES / 2
        folder = folders.pop() if straight_down else folders.popleft()
        entries = _listed(folder, min(left, _ENTRIES_OF_A_FOLDER))
        left -= len(entries) + _COST_OF_A_FOLDER
        names = (entry.name for entry in entries if _is(entry, "file"))
        counts.update(filter(None, (LANGUAGES.get(_extension(name)) for name in names)))
        folders += sorted(entry.path for entry in entries if _is(entry, "folder"))
    return counts


def _listed(folder: str, most: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, most))
    except OSError:
        return []


def _is(entry: os.DirEntry[str], kind: Literal["file", "folder"]) -> bool:
    if entry.name.startswith(".") or entry.name.lower() in _NOT_OURS:
        return False
    try:
        check = entry.is_file if kind == "file" else entry.is_dir
        return check(follow_symlinks=False)
    except OSError:
        return False


def _extension(name: str) -> str:
    _, dot, extension = name.rpartition(".")
    return extension.lower() if dot else ""


_NOT_OURS = frozenset(
    re.findall(
        r"[\w-]+",
        """
        __pycache__ bower_components build carthage coverage deps dist env htmlcov node_modules
        obj out pods site-packages target third_party thirdparty vendor vendors venv virtualenv
        """,
    )
)
# They come along with every language; one of them is the answer only when there is no other.
_COMPANIONS = frozenset(("css", "html", "shell", "sql"))
_EXTENSIONS = """
c: c / clojure: clj cljs cljc / cpp: cc cpp cxx hh hpp hxx / csharp: cs / css: css less sass scss
dart: dart / elixir: ex exs / erlang: erl hrl / fsharp: fs fsx / go: go / groovy: groovy
haskell: hs lhs / html: htm html / java: java / javascript: cjs js jsx mjs / julia: jl
kotlin: kt kts / lua: lua / nim: nim / objective-c: m mm / ocaml: ml mli / perl: pl pm / php: php
powershell: ps1 psm1 / python: ipynb py pyi / r: r / ruby: rb / rust: rs / scala: sc scala
shell: bash fish sh zsh / solidity: sol / sql: sql / svelte: svelte / swift: swift
typescript: cts mts ts tsx / vue: vue / zig: zig
"""
LANGUAGES = {
    extension: language
    for language, extensions in re.findall(r"([\w-]+): ([\w ]+)", _EXTENSIONS)
    for extension in extensions.split()
}
"""The language of a file, by its extension."""

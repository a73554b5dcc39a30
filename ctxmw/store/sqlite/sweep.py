"""Takes the bytes of deleted text out of the files of the SQLite store.

SQLite overwrites what it deletes with zeros, and three places still keep it: the full-text index
holds the words until its segments are merged; pages keep copies of cells that were moved, about
one row in a thousand; the write-ahead log holds old pages until it starts over. What is left
over goes once no other process reads, so everything after the commit is done as far as it can be.
"""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from .file import patiently

_log = logging.getLogger("ctxmw")


def rewrite_words(connection: sqlite3.Connection) -> int | None:
    """Merge the full-text index if text has gone from it; return where the feed stands then."""
    seq, unswept = connection.execute("SELECT seq, unswept FROM state").fetchone()
    if not unswept:
        return None
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    return int(seq)


def rewrite_file(connection: sqlite3.Connection, seq: int, path: Path) -> None:
    """Write every page anew, without the gaps of the old ones."""
    try:
        patiently(connection.execute, "VACUUM")
        # Whatever was replaced since then waits for the next sweep.
        patiently(connection.execute, "UPDATE state SET unswept = 0 WHERE seq = ?", (seq,))
    except sqlite3.Error as error:
        _warn(path, error)


def truncate_log(connection: sqlite3.Connection, patience: float, path: Path) -> bool:
    """Empty the write-ahead log; say whether that went, for a reader may still need it."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {round(patience * 1_000)}")
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        _warn(path, error)
        return False
    finally:
        connection.execute("PRAGMA busy_timeout = 0")
    return not busy


def _warn(path: Path, error: sqlite3.Error) -> None:
    # The rows are gone and that is committed: raising would say that they are not.
    _log.warning("%s: deleted text may still be in the file: %s", path, error)

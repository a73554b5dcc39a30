"""The stores that tests run on. Functions at the top of a module: other processes call them too."""

from __future__ import annotations

from pathlib import Path

from ctxmw.sqlite import SqliteStore


def sqlite_in(folder: str, name: str) -> SqliteStore:
    """Return the SQLite store of this name."""
    return SqliteStore(Path(folder) / f"{name}.db")

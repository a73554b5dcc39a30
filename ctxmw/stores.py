"""Opens the store at a path or an address."""

from __future__ import annotations

from pathlib import Path

from .opening import data_folder
from .protocols import Store
from .sqlite import SqliteStore

POSTGRES = ("postgresql://", "postgres://")


def store_at(path: str | Path | None) -> Store:
    """Return the store in this file, or in the database at this address.

    No path: a file in the user's data folder (CTXMW_HOME moves it). ":memory:" keeps nothing.
    """
    if path is None:
        return SqliteStore(data_folder() / "memory.db")
    if isinstance(path, str) and path.startswith(POSTGRES):
        from .postgres import PostgresStore

        return PostgresStore(path)
    return SqliteStore(path)

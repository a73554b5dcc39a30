"""Opens the store at a path or an address."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotFound, StoreError

if TYPE_CHECKING:
    from ..protocols import Store

POSTGRES = ("postgresql://", "postgres://")


def store_at(path: str | Path | None) -> Store:
    """Return the store in this file, or in the database at this address.

    No path: a file in the user's data folder (CTXMW_HOME moves it), which is made. ":memory:"
    keeps nothing.
    """
    # Whoever keeps memory in one database need not load the other.
    if isinstance(path, str) and path.startswith(POSTGRES):
        from .postgres.store import PostgresStore

        return PostgresStore(path)
    from .sqlite.store import SqliteStore

    return SqliteStore(_made(data_folder()) / "memory.db" if path is None else path)


def data_folder() -> Path:
    """Return where memories are kept unless told otherwise; CTXMW_HOME moves it."""
    if home := os.environ.get("CTXMW_HOME"):
        return Path(home)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ctxmw"


def existing_store(path: str) -> Store:
    """Return the store at a path or an address, and make no file where there is none."""
    check_exists(path)
    return store_at(path)


def check_exists(path: str) -> None:
    """Raise when there is no file at a path; an address is not tried."""
    if not path.startswith(POSTGRES) and not Path(path).is_file():
        raise NotFound(f"there is no store at {path!r:.200}: give the path of its file.")


def _made(folder: Path) -> Path:
    """Return the user's data folder, which is ours to make; any other is the caller's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: {error.strerror or error}. Make the folder writable, set CTXMW_HOME to "
            "another one, or open the memory with a path."
        ) from error
    return folder

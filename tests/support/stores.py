"""The stores that tests run on. Functions at the top of a module: other processes call them too."""

from __future__ import annotations

import re
from pathlib import Path

from ctxmw.store.postgres.pool import Limits
from ctxmw.store.postgres.store import PostgresStore
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.waiting import PATIENCE


def sqlite_in(folder: str, name: str) -> SqliteStore:
    """Return the SQLite store of this name."""
    return SqliteStore(Path(folder) / f"{name}.db")


def postgres_in(dsn: str, prefix: str, name: str) -> PostgresStore:
    """Return the Postgres store of this name: a schema of its own."""
    schema = re.sub(r"\W", "_", f"{prefix}_{name}".lower())
    # Many threads wait for one another here, and on a busy machine that takes as long as it takes.
    limits = Limits(statement_seconds=PATIENCE)
    return PostgresStore(dsn, schema=schema[:32] + schema[32:][-31:], limits=limits)

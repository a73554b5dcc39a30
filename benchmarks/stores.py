"""The stores that benchmarks run on: SQLite in a temporary folder, or a PostgreSQL of their own."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ctxmw import SqliteStore
from ctxmw.protocols import Store

Opener = Callable[[str], Store]
"""Opens the store of a name; other processes can be given it too."""


def take_store(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be told where memories are."""
    about = "sqlite (the default), postgres (starts one), or postgresql://..."
    parser.add_argument("--store", default="sqlite", help=about)


@contextmanager
def stores(kind: str) -> Iterator[Opener]:
    """Yield what opens new stores of this kind; all of them are gone afterwards."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield partial(_sqlite, folder)
    elif kind == "postgres":
        from tests.support.postgres_server import Server

        # As it would be in production: what is acknowledged is on the disk.
        server = Server(durable=True, shared_buffers="512MB")
        try:
            yield partial(_postgres, server.dsn(), f"b{os.urandom(4).hex()}")
        finally:
            server.stop()
    else:
        yield partial(_postgres, kind, f"b{os.urandom(4).hex()}")


def _sqlite(folder: str, name: str) -> Store:
    return SqliteStore(Path(folder) / f"{name}.db")


def _postgres(dsn: str, prefix: str, name: str) -> Store:
    from ctxmw.store.postgres.store import PostgresStore

    return PostgresStore(dsn, schema=f"{prefix}_{name}"[:63])


def server_cpu(store: Store) -> float:
    """Return the seconds that a server on this machine has worked for stores; 0 for SQLite."""
    address = getattr(store, "_address", None)
    if address is None:
        return 0.0
    import psycopg

    asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'ctxmw'"
    with psycopg.connect(address.dsn, autocommit=True, application_name="benchmark") as connection:
        pids = [pid for (pid,) in connection.execute(asked)]
    files = [Path(f"/proc/{pid}/schedstat") for pid in pids]
    return sum(int(file.read_text().split()[0]) for file in files if file.exists()) / 1e9

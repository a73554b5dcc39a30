"""Makes sure that a store of this version is in the schema; touches nothing that is not ours."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from ...errors import StoreError
from .address import Address
from .driver import psycopg
from .errors import explained
from .schema import LATEST, MIGRATIONS

Connection = psycopg.Connection[Any]

_log = logging.getLogger("ctxmw")


def claim(address: Address) -> UUID:
    """Make the store, or bring an older one up to date; return what tells it from any other."""
    with (
        explained(address),
        psycopg.connect(address.dsn, autocommit=True, **address.options()) as connection,  # type: ignore[arg-type]
    ):
        if is_powerful(connection):
            _log.warning(
                "%s: row-level policies do not hold for the role %r: connect as one that is "
                "neither a superuser nor allowed to bypass them",
                address,
                connection.info.user,
            )
        if version(address, connection) < LATEST:
            _make(address, connection)
        (identity,) = connection.execute(
            psycopg.sql.SQL("SELECT identity FROM {}.about").format(_name(address))
        ).fetchone() or (UUID(int=0),)
        return UUID(str(identity))


def rewrite(address: Address) -> None:
    """Write every table anew, without what was deleted."""
    with (
        explained(address),
        psycopg.connect(address.dsn, autocommit=True, **address.options()) as connection,  # type: ignore[arg-type]
    ):
        tables = connection.execute(_OURS, [address.schema]).fetchall()
        for (table,) in tables:
            name = psycopg.sql.Identifier(address.schema, table)
            connection.execute(psycopg.sql.SQL("VACUUM (FULL, ANALYZE) {}").format(name))


def _make(address: Address, connection: Connection) -> None:
    for number, (name, statements) in sorted(MIGRATIONS.items()):
        with connection.transaction():
            # Others that open the store at the same moment wait here, and find it done.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [address.lock("\0migrations")])
            if version(address, connection) >= number:
                continue
            if number == 1:
                _begin(address, connection)
            connection.execute("SELECT set_config('search_path', %s, true)", [address.schema])
            for statement in statements:
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations (number, name) VALUES (%s, %s)", [number, name]
            )


def _begin(address: Address, connection: Connection) -> None:
    found = connection.execute(_TABLES, [address.schema]).fetchone()
    if found is not None:
        raise StoreError(
            f"{address}: the schema {address.schema!r} has tables of another program "
            f"({found[0]!r}). Choose another schema; nothing was changed."
        )
    for statement in (
        "CREATE SCHEMA IF NOT EXISTS {}",
        """CREATE TABLE {}.migrations (number integer PRIMARY KEY, name text NOT NULL,
            at timestamptz NOT NULL DEFAULT now())""",
    ):
        connection.execute(psycopg.sql.SQL(statement).format(_name(address)))


def version(address: Address, connection: Connection) -> int:
    """Return the number of the last migration; 0 where no store is."""
    if not connection.execute(_IS_OURS, [address.schema]).fetchall():
        return 0
    (number,) = connection.execute(
        psycopg.sql.SQL("SELECT coalesce(max(number), 0) FROM {}.migrations").format(_name(address))
    ).fetchone() or (0,)
    if number > LATEST:
        raise StoreError(
            f"{address}: the store was written by a newer ctxmw (schema {number}, this one knows "
            f"{LATEST}). Upgrade ctxmw; nothing was changed."
        )
    return int(number)


def is_powerful(connection: Connection) -> bool:
    """Say whether the role of a connection passes row-level policies by."""
    (powerful,) = connection.execute(_ROLE).fetchone() or (False,)
    return bool(powerful)


def _name(address: Address) -> psycopg.sql.Identifier:
    return psycopg.sql.Identifier(address.schema)


_OURS = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = %s LIMIT 1"
_IS_OURS = """SELECT 1 FROM pg_tables AS mark JOIN pg_tables AS about USING (schemaname)
    WHERE schemaname = %s AND mark.tablename = 'migrations' AND about.tablename = 'about'"""
_ROLE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"

"""Looks at a store on Postgres, and says of each thing whether it is well. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import CtxmwError, StoreError
from ..store.postgres.address import Address
from ..store.postgres.claim import is_powerful, version
from ..store.postgres.driver import psycopg
from ..store.postgres.errors import explained
from ..store.postgres.schema import LATEST
from .doctor import Finding


def look_at_postgres(dsn: str, schema: str = "ctxmw") -> Iterator[Finding]:
    """Look at the server, the store's tables, the role and pgvector."""
    try:
        address = Address(dsn, schema)
        with (
            explained(address),
            psycopg.connect(dsn, autocommit=True, **address.options()) as connection,  # type: ignore[arg-type]
        ):
            server = connection.info.server_version // 10_000
            yield Finding(about="store", level="good", says=f"{address}: PostgreSQL {server}")
            yield _tables(version(address, connection))
            yield _role(is_powerful(connection))
            found = connection.execute("SELECT extversion FROM pg_extension WHERE extname='vector'")
            yield _pgvector(found.fetchone())
    except CtxmwError as error:
        yield Finding(about="store", level="bad", says=str(error), fix=_fix(error))


def _tables(number: int) -> Finding:
    if number == LATEST:
        return Finding(about="tables", level="good", says=f"schema {number}, up to date")
    says = f"schema {number} of {LATEST}: opening the memory brings them up to date"
    return Finding(about="tables", level="note", says=says)


def _role(powerful: bool) -> Finding:
    if not powerful:
        return Finding(about="policies", level="good", says="they hold for this role")
    return Finding(
        about="policies",
        level="bad",
        says="this role passes row-level policies by",
        fix="connect as a role that is neither a superuser nor has BYPASSRLS",
    )


def _pgvector(found: tuple[object, ...] | None) -> Finding:
    if found is None:
        says = 'not installed; index="pgvector" needs CREATE EXTENSION vector'
        return Finding(about="pgvector", level="note", says=says)
    return Finding(about="pgvector", level="good", says=str(found[0]))


def _fix(error: CtxmwError) -> str:
    return "see the message" if isinstance(error, StoreError) else "correct the address"

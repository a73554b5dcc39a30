"""Statements and transactions on Postgres, each of them for one user.

Everything is local to a transaction: whose rows it sees, where the tables are, how long a statement
may take. So it makes no difference whether a pooler stands between us and the server. What a call
needs is sent at once and waits for the server once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...errors import StoreError
from .address import Address
from .driver import psycopg
from .errors import explained
from .pool import Connection, Lending, Limits

Cursor = psycopg.Cursor[Any]
Values = Sequence[Any] | dict[str, Any]
Step = tuple[str, Values]
"""A statement and what is bound to it."""

_FOR = """SELECT set_config('ctxmw.owner', %s, true), set_config('search_path', %s, true),
    set_config('statement_timeout', %s, true)"""
# A statement of its own: a new statement_timeout holds from the next one on.
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"


@dataclass(slots=True)
class Transaction:
    """A write transaction of one thread."""

    connection: Connection
    pid: int
    held: set[str]
    """The users whose only writer it is."""
    user: str
    """Whose rows it sees at the moment."""
    failed: bool = False


class Transactions:
    """Reads and writes of one store."""

    def __init__(self, address: Address, limits: Limits, *, prepare: bool) -> None:
        self._address = address
        self._lending = Lending(address, limits, prepare=prepare)
        self._path = f"{address.schema}, public, pg_temp"
        self._thread = threading.local()

    def read(
        self,
        user: str,
        sql: str,
        values: Values,
        *,
        binary: bool = False,
        before: Sequence[Step] = (),
    ) -> list[Any]:
        """Return all rows of a query, as this thread's transaction sees them if it has one.

        `before` are settings that hold for this query.
        """
        if self._current():
            with self.transaction(user, writes=False) as mine, explained(self._address):
                for step in before:
                    mine.connection.execute(*step)
                return mine.connection.execute(sql, values, binary=binary).fetchall()

        def ask(connection: Connection) -> list[Any]:
            with connection.pipeline():
                connection.execute(_FOR, self._scene(user))
                for step in before:
                    connection.execute(*step)
                found = connection.execute(sql, values, binary=binary)
            return found.fetchall()

        return self._lending.lend(ask)

    def write(self, user: str, *steps: Step) -> list[Any]:
        """Run statements as the only writer of a user; return the rows of the first.

        Outside of `transaction` they are tried again when the connection is lost, so what they do
        must be the same when it is done twice.
        """
        if self._current():
            with self.transaction(user) as mine, explained(self._address):
                with mine.connection.pipeline():
                    first = _run(mine.connection, steps)
                return _rows(first)

        def run(connection: Connection) -> list[Any]:
            with connection.pipeline():
                self._begin_on(connection, user)
                first = _run(connection, steps)
                connection.execute("COMMIT")
            return _rows(first)

        with self._lending.alone(user):
            return self._lending.lend(run)

    @contextmanager
    def transaction(self, user: str, *, writes: bool = True) -> Iterator[Transaction]:
        """Join this thread's transaction, or run one that ends with the block.

        Once anything inside has failed, nothing is kept: whoever catches the failure and goes on
        gets a StoreError from the next call, or at the end of the outermost block.
        """
        if outer := self._current():
            try:
                self._turn_to(outer, user, writes=writes)
                yield outer
            except BaseException:
                outer.failed = True
                raise
            return
        with self._lending.alone(user), self._begun(user) as mine:
            self._thread.transaction = mine
            try:
                yield mine
                self._current()
            finally:
                self._thread.transaction = None
            with explained(self._address):
                mine.connection.execute("COMMIT")

    def in_transaction(self) -> bool:
        """Say whether this thread has a transaction."""
        return self._current() is not None

    def close(self) -> None:
        """Close every connection."""
        self._lending.close()

    def _scene(self, user: str) -> list[Any]:
        """Return whose rows a transaction sees, where they are, and how long it may take."""
        seconds = f"{round(self._lending.limits.statement_seconds * 1_000)}"
        return [str(self._address.owner(user)), self._path, seconds]

    def _begin_on(self, connection: Connection, user: str) -> None:
        connection.execute(_BEGIN)
        connection.execute(_FOR, self._scene(user))
        connection.execute(_LOCK, [self._address.lock(user)])

    def _turn_to(self, mine: Transaction, user: str, *, writes: bool) -> None:
        with explained(self._address):
            if mine.user != user:
                mine.connection.execute(_FOR, self._scene(user))
                mine.user = user
            if writes and user not in mine.held:
                mine.connection.execute(_LOCK, [self._address.lock(user)])
                mine.held.add(user)

    @contextmanager
    def _begun(self, user: str) -> Iterator[Transaction]:
        """Lend a connection on which a transaction has begun; only the beginning is tried again."""

        def begin(seconds: float) -> Connection:
            connection = self._lending.take(seconds)
            try:
                with connection.pipeline():
                    self._begin_on(connection, user)
            except BaseException:
                self._lending.give_back(connection)
                raise
            return connection

        connection = self._lending.patiently(begin)
        try:
            yield Transaction(connection, os.getpid(), {user}, user)
        finally:
            self._lending.give_back(connection)

    def _current(self) -> Transaction | None:
        mine: Transaction | None = getattr(self._thread, "transaction", None)
        if mine and mine.pid != os.getpid():
            raise StoreError(f"{self._address}: forked inside atomic(). Fork before or after it.")
        if mine and mine.failed:
            raise StoreError(
                f"{self._address}: an earlier step inside atomic() failed, so nothing of it is "
                "kept. Leave the block and run it again."
            )
        return mine


def _run(connection: Connection, steps: Sequence[Step]) -> Cursor:
    first, *_ = [connection.execute(sql, values) for sql, values in steps]
    return first


def _rows(cursor: Cursor) -> list[Any]:
    return cursor.fetchall() if cursor.description else []

"""Lends connections to threads, and holds the transactions they run in.

Everything is local to a transaction: whose rows it sees, where the tables are, how long a statement
may take. So it makes no difference whether a pooler stands between us and the server. What a call
needs is sent at once and waits for the server once.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .errors import InvalidValue, StoreError
from .postgres_address import Address
from .postgres_driver import psycopg, psycopg_pool
from .postgres_errors import explained, lost, passes

T = TypeVar("T")
Connection = psycopg.Connection[Any]
Cursor = psycopg.Cursor[Any]
Pool = psycopg_pool.ConnectionPool[Connection]
Values = Sequence[Any] | dict[str, Any]
Step = tuple[str, Values]
"""A statement and what is bound to it."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_WRITERS = 256
_FOR = """SELECT set_config('ctxmw.owner', %s, true), set_config('search_path', %s, true),
    set_config('statement_timeout', %s, true)"""
# A statement of its own: a new statement_timeout holds from the next one on.
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_OPEN = (psycopg.pq.TransactionStatus.INTRANS, psycopg.pq.TransactionStatus.INERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a server one process uses, and how long it waits."""

    connections: int = 8
    """At most; more threads than that take turns."""
    patience: float = 5.0
    """Seconds in which a lost connection, a restart or a clash is tried again."""
    statement_seconds: float = 30.0
    """How long one statement may take, waiting for other writers of the same user included."""

    def __post_init__(self) -> None:
        for name, least in (("connections", 1), ("patience", 0), ("statement_seconds", 0.001)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
                raise InvalidValue(f"{name} is {value!r:.60}: give a number, {least} or more.")


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


@dataclass(slots=True)
class _Process:
    """What may not be carried over a fork: connections, the threads of their pool, and locks."""

    pool: Pool
    free: threading.Semaphore
    """One for each connection: whoever has it gets one, and waits for nobody but the server."""
    writers: list[threading.Lock]
    """Writers of one user wait here for those of their process, without a connection."""
    pid: int = field(default_factory=os.getpid)


class Connections:
    """The connections of one store."""

    def __init__(self, address: Address, limits: Limits, *, prepare: bool) -> None:
        self._address = address
        self._limits = limits
        self._prepare = prepare
        self._path = f"{address.schema}, public, pg_temp"
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._left_behind: list[_Process] = []
        self._thread = threading.local()
        self._closed = False

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

        return self._lend(ask)

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

        with self._alone(user):
            return self._lend(run)

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
        with self._alone(user), self._begun(user) as mine:
            self._thread.transaction = mine
            try:
                yield mine
                self._current()
            finally:
                self._thread.transaction = None
            with explained(self._address):
                mine.connection.execute("COMMIT")

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        here = self._process
        if here is not None and here.pid == os.getpid():
            here.pool.close()

    def _scene(self, user: str) -> list[Any]:
        """Return whose rows a transaction sees, where they are, and how long it may take."""
        seconds = f"{round(self._limits.statement_seconds * 1_000)}"
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
            connection = self._take(seconds)
            try:
                with connection.pipeline():
                    self._begin_on(connection, user)
            except BaseException:
                self._give_back(connection)
                raise
            return connection

        connection = self._patiently(begin)
        try:
            yield Transaction(connection, os.getpid(), {user}, user)
        finally:
            self._give_back(connection)

    @contextmanager
    def _alone(self, user: str) -> Iterator[None]:
        writers = self._here().writers
        # Only for the first user of a transaction: two of these held at once could lock up.
        writer = writers[self._address.lock(user) % len(writers)]
        if not writer.acquire(timeout=self._limits.statement_seconds):
            raise self._busy(f"another thread has been writing for {user!r:.60}")
        try:
            yield
        finally:
            writer.release()

    def _busy(self, why: str) -> StoreError:
        return StoreError(
            f"{self._address}: {why} for {self._limits.statement_seconds:.0f} seconds. Keep slow "
            "work out of atomic(), and try again."
        )

    def _lend(self, action: Callable[[Connection], T]) -> T:
        """Return what the action returns, with a connection of its own; it may be tried again."""

        def attempt(seconds: float) -> T:
            connection = self._take(seconds)
            try:
                return action(connection)
            finally:
                self._give_back(connection)

        return self._patiently(attempt)

    def _patiently(self, attempt: Callable[[float], T]) -> T:
        """Return what the attempt returns; when something passing is in the way, try again."""
        deadline = time.monotonic() + self._limits.patience
        pause = _FIRST_PAUSE
        with explained(self._address):
            while True:
                try:
                    return attempt(max(0.05, deadline - time.monotonic()))
                except psycopg.OperationalError as error:
                    if not passes(error) or time.monotonic() + pause > deadline:
                        raise
                    if lost(error):
                        self._here().pool.check()
                time.sleep(pause * random.uniform(0.5, 1.5))
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _take(self, seconds: float) -> Connection:
        here = self._here()
        if not here.free.acquire(timeout=self._limits.statement_seconds):
            raise self._busy("every connection has been in use")
        try:
            return here.pool.getconn(seconds)
        except BaseException:
            here.free.release()
            raise

    def _give_back(self, connection: Connection) -> None:
        if connection.info.transaction_status in _OPEN:
            with suppress(psycopg.Error):
                connection.rollback()
        # Also after the store was closed: the pool it came from takes it, and closes it.
        here = self._process
        if here is None or here.pid != os.getpid():
            return
        here.pool.putconn(connection)
        here.free.release()

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

    def _here(self) -> _Process:
        if self._closed:
            raise StoreError(f"{self._address} was closed. Open the store again to use it.")
        here = self._process
        return here if here is not None and here.pid == os.getpid() else self._new_process()

    def _new_process(self) -> _Process:
        with self._lock:
            if self._process is not None and self._process.pid != os.getpid():
                # Kept: the connections belong to the parent, and are not ours to close.
                self._left_behind.append(self._process)
                self._process = None
            if self._process is None:
                free = threading.Semaphore(self._limits.connections)
                writers = [threading.Lock() for _ in range(_WRITERS)]
                self._process = _Process(self._new_pool(), free, writers)
            return self._process

    def _new_pool(self) -> Pool:
        options = {
            **self._address.options(),
            "autocommit": True,
            "prepare_threshold": 5 if self._prepare else None,
        }
        return psycopg_pool.ConnectionPool(
            self._address.dsn,
            kwargs=options,
            min_size=0,
            max_size=self._limits.connections,
            reconnect_timeout=self._limits.patience,
            num_workers=2,
            open=True,
        )


def _run(connection: Connection, steps: Sequence[Step]) -> Cursor:
    first, *_ = [connection.execute(sql, values) for sql, values in steps]
    return first


def _rows(cursor: Cursor) -> list[Any]:
    return cursor.fetchall() if cursor.description else []

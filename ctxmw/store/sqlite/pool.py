"""Lends a few connections to any number of threads, and holds the transactions they run in.

Threads come and go by the dozen, so a connection belongs to whoever works with it now. Writers
wait for each other here, and meet SQLite's own lock only between processes.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from ...errors import StoreError
from .file import Presence, StoreConnection, Synchronous, connect, explained, patiently
from .sweep import rewrite_file, rewrite_words, truncate_log

T = TypeVar("T")

LIMIT = 8
"""Connections at most; more threads than that take turns."""
WRITER_SECONDS = 30.0
"""How long a writer waits for the other writers of its process."""
FORK_SECONDS = 5.0
"""How long a fork waits for what other threads are doing."""
SWEEP_SECONDS = 1.0
"""How long a sweep waits for readers that still need the write-ahead log."""


class Where(NamedTuple):
    """Where a large value stands: the query finds the id of its row."""

    table: str
    column: str
    query: str


Take = Callable[[sqlite3.Blob], T]
"""Reads a large value as a file."""


@dataclass(slots=True)
class Transaction:
    """A write transaction of one thread."""

    connection: StoreConnection
    pid: int
    failed: bool = False
    sweep: bool = False
    """Set by who deletes: when it is committed, the bytes leave the files."""


@dataclass(slots=True)
class _Process:
    """What may not be carried over a fork: connections, and locks that nobody would open."""

    pid: int = field(default_factory=os.getpid)
    idle: list[StoreConnection] = field(default_factory=list)
    lent: int = 0
    paused: bool = False
    waiting: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held by who looks at or changes what is above."""
    writer: threading.Lock = field(default_factory=threading.Lock)
    free: threading.Condition = field(init=False)

    def __post_init__(self) -> None:
        self.free = threading.Condition(self.lock)

    def wait_for(self, ready: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until others have made it so; the caller holds the lock."""
        self.waiting += 1
        try:
            self.free.wait_for(ready, seconds)
        finally:
            self.waiting -= 1


class Connections:
    """The connections of one store.

    Those of a private one are all opened at once: afterwards its files have no name any more, so
    there is no other way to them.
    """

    def __init__(
        self, path: Path, synchronous: Synchronous, *, private_name: str | None = None
    ) -> None:
        self._path = path
        self._synchronous: Synchronous = synchronous
        self._presence: Presence | None = Presence(path)
        self._process = _Process()
        self._left_behind: list[_Process] = []
        self._thread = threading.local()
        self._closed = False
        self._log_unswept = False
        if private_name is not None:
            self._process.idle += [self._opened() for _ in range(LIMIT)]
            for connection in self._process.idle:
                # Whatever else SQLite would put into files of its own.
                connection.execute("PRAGMA temp_store = MEMORY")
            self._path, self._presence = Path(private_name), None
        _watch_forks(self)

    def read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return all rows of a query, as this thread's transaction sees them if it has one."""
        if self.current():
            with self.transaction() as mine, explained(self._path):
                return mine.connection.execute(sql, values).fetchall()
        with self._lent() as connection:
            try:
                return _rows(connection, sql, values)
            except sqlite3.Error:  # somebody to wait for, or something to explain
                with explained(self._path):
                    return patiently(_rows, connection, sql, values)

    def read_large(self, where: Where, values: Sequence[Any], take: Take[T]) -> T | None:
        """Return what is taken from a large value; None when the query finds no row.

        It is copied once, where the query itself would copy it three times.
        """
        if self.current():
            with self.transaction() as mine, explained(self._path):
                return _large(mine.connection, where, values, take)
        with self._lent() as connection, explained(self._path):
            # Both steps see the same.
            patiently(connection.execute, "BEGIN")
            found = patiently(_large, connection, where, values, take)
            connection.execute("COMMIT")
            return found

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Join this thread's transaction, or run one that ends with the block.

        Once anything inside has failed, nothing is kept: whoever catches the failure and goes on
        gets a StoreError from the next call, or at the end of the outermost block.
        """
        return _Block(self)

    @contextmanager
    def outermost(self) -> Iterator[Transaction]:
        """Run a transaction; this thread has none."""
        # Leaving `_lent` with an error closes the connection, which undoes what was not committed.
        with self._alone(), self._lent() as connection:
            with explained(self._path):
                patiently(connection.execute, "BEGIN IMMEDIATE")
            mine = self._thread.transaction = Transaction(connection, os.getpid())
            try:
                yield mine
                self.current()
            finally:
                self._thread.transaction = None
            self._commit(mine)

    def close(self) -> None:
        """Close what is idle now and the rest when it comes back."""
        here = self._here()
        with here.lock:
            self._closed = True
            _close_all(here.idle)

    def pause_for_fork(self) -> None:
        """Let other threads finish, close every connection, and lend none until `go_on`."""
        here = self._here()
        here.lock.acquire()
        here.paused = True
        mine = int(getattr(self._thread, "transaction", None) is not None)
        here.wait_for(lambda: here.lent <= mine, FORK_SECONDS)
        if self._presence is not None:
            _close_all(here.idle)

    def go_on(self) -> None:
        """Lend connections again."""
        here = self._process
        here.paused = False
        here.free.notify_all()
        here.lock.release()

    def current(self) -> Transaction | None:
        """Return this thread's transaction, or raise when nothing of it can be kept."""
        mine: Transaction | None = getattr(self._thread, "transaction", None)
        if mine and mine.pid != os.getpid():
            raise StoreError(f"{self._path}: forked inside atomic(). Fork before or after it.")
        # Some errors, such as a full disk, make SQLite roll back by itself.
        if mine and (mine.failed or not mine.connection.in_transaction):
            raise StoreError(
                f"{self._path}: an earlier step inside atomic() failed, so nothing of it is kept. "
                "Leave the block and run it again."
            )
        return mine

    def _commit(self, mine: Transaction) -> None:
        connection = mine.connection
        with explained(self._path):
            words = rewrite_words(connection) if mine.sweep else None
            # Before, so that nothing goes into a file that is no longer ours; and afterwards, for
            # whoever is told that it was saved has to find it on the disk.
            self._check_presence(connection)
            connection.execute("COMMIT")
            self._check_presence(connection)
        if words is not None:
            rewrite_file(connection, words, self._path)
        if mine.sweep or self._log_unswept:
            patience = SWEEP_SECONDS if mine.sweep else 0.0
            self._log_unswept = not truncate_log(connection, patience, self._path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        writer = self._here().writer
        if not writer.acquire(timeout=WRITER_SECONDS):
            raise StoreError(
                f"{self._path}: another thread has been writing for {WRITER_SECONDS:.0f} seconds. "
                "Keep slow work out of atomic(), and try again."
            )
        try:
            yield
        finally:
            writer.release()

    def _lent(self) -> _Lent:
        return _Lent(self, self._here())

    def take(self, here: _Process) -> StoreConnection:
        """Return a connection that nobody else has, once there is one."""
        with here.lock:
            if here.lent >= LIMIT or here.paused:
                here.wait_for(lambda: here.lent < LIMIT and not here.paused)
            if self._closed:
                raise StoreError(f"{self._path} was closed. Open the store again to use it.")
            if not here.idle:
                here.idle.append(self._opened())
            here.lent += 1
            return here.idle.pop()

    def give_back(self, here: _Process, connection: StoreConnection, sound: bool) -> None:
        """Lend a connection to others from now on, unless something went wrong with it."""
        with here.lock:
            here.lent -= 1
            # One of a private store could not be opened again.
            if (sound or self._rolled_back(connection)) and not self._closed:
                here.idle.append(connection)
            else:
                connection.close()
            if here.waiting:
                here.free.notify_all()

    def _opened(self) -> StoreConnection:
        if self._presence is None:
            raise StoreError(
                f"{self._path} ends with the process that opened it, and this is another one. "
                "Open the memory after the fork, or with a path that both can use."
            )
        self._presence.check_file()
        with explained(self._path):
            connection = connect(self._path, self._synchronous)
            try:
                # SQLite opens the write-ahead log when something is first read.
                patiently(_rows, connection, "SELECT seq FROM state", [])
                self._presence.note(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _check_presence(self, connection: StoreConnection) -> None:
        if self._presence is not None:
            self._presence.check(connection)

    def _rolled_back(self, connection: StoreConnection) -> bool:
        """Undo what a private store's connection was doing; say whether it can be used again."""
        if self._presence is not None:
            return False
        try:
            connection.rollback()
        except sqlite3.Error:
            return False
        return True

    def _here(self) -> _Process:
        if self._process.pid != os.getpid():
            # Kept, for a connection that is collected is closed, and closing a parent's
            # connection in its child drops locks and files the parent relies on.
            self._left_behind.append(self._process)
            self._process = _Process()
        return self._process


class _Lent:
    """A connection for as long as somebody works with it."""

    # A class, like the next one: a dozen are entered a call, and a generator takes twice as long.
    __slots__ = ("_connection", "_connections", "_here")

    def __init__(self, connections: Connections, here: _Process) -> None:
        self._connections = connections
        self._here = here

    def __enter__(self) -> StoreConnection:
        self._connection = self._connections.take(self._here)
        return self._connection

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        here = self._here
        if here.pid == os.getpid():
            self._connections.give_back(here, self._connection, sound=error is None)
        else:
            here.idle.append(self._connection)


class _Block:
    """A block of a transaction: of the one its thread has when it is entered, or of its own."""

    __slots__ = ("_connections", "_joined", "_mine", "_own")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._joined = 0
        """How often it is entered inside a transaction; whoever entered last leaves first."""

    def __enter__(self) -> Transaction:
        outer = self._connections.current()
        if outer is None:
            self._own = self._connections.outermost()
            return self._own.__enter__()
        self._joined += 1
        self._mine = outer
        return outer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._joined:
            self._own.__exit__(kind, error, trace)
            return
        self._joined -= 1
        if error is not None:
            self._mine.failed = True


def _watch_forks(connections: Connections) -> None:
    """Have no connection open while the process forks.

    SQLite remembers per process which locks it holds. A child that opens the file while it has
    copies of its parent's connections believes that it holds their locks, takes none, and loses
    what it writes when the parent closes.
    """
    if not hasattr(os, "register_at_fork"):
        return
    known = weakref.ref(connections)

    def before() -> None:
        if found := known():
            found.pause_for_fork()

    def after() -> None:
        if found := known():
            found.go_on()

    os.register_at_fork(before=before, after_in_parent=after)


def _rows(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _large(
    connection: sqlite3.Connection, where: Where, values: Sequence[Any], take: Take[T]
) -> T | None:
    found = connection.execute(where.query, values).fetchone()
    if found is None:
        return None
    with connection.blobopen(where.table, where.column, found[0], readonly=True) as blob:
        return take(blob)


def _close_all(connections: list[StoreConnection]) -> None:
    while connections:
        connections.pop().close()

"""Lends connections to the threads of a process, and tries again what a moment later may work.

More threads than connections take turns. Writers of one user wait for those of their own process
before they take a connection, and meet the server's lock only between processes.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...errors import InvalidValue, StoreError
from .address import Address
from .driver import psycopg, psycopg_pool
from .errors import explained, lost, passes

T = TypeVar("T")
Connection = psycopg.Connection[Any]
Pool = psycopg_pool.ConnectionPool[Connection]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_WRITERS = 256
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
class _Process:
    """What may not be carried over a fork: connections, the threads of their pool, and locks."""

    pool: Pool
    free: threading.Semaphore
    """One for each connection: whoever has it gets one, and waits for nobody but the server."""
    writers: list[threading.Lock]
    """Writers of one user wait here for those of their process, without a connection."""
    pid: int = field(default_factory=os.getpid)


class Lending:
    """The connections of one store, in whichever process it is used."""

    def __init__(self, address: Address, limits: Limits, *, prepare: bool) -> None:
        self.limits = limits
        self._address = address
        self._prepare = prepare
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._left_behind: list[_Process] = []
        self._closed = False

    def lend(self, action: Callable[[Connection], T]) -> T:
        """Return what the action returns, with a connection of its own; it may be tried again."""

        def attempt(seconds: float) -> T:
            connection = self.take(seconds)
            try:
                return action(connection)
            finally:
                self.give_back(connection)

        return self.patiently(attempt)

    def patiently(self, attempt: Callable[[float], T]) -> T:
        """Return what the attempt returns; when something passing is in the way, try again."""
        deadline = time.monotonic() + self.limits.patience
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

    def take(self, seconds: float) -> Connection:
        """Return a connection; the server may take these seconds to make one."""
        here = self._here()
        if not here.free.acquire(timeout=self.limits.statement_seconds):
            raise self._busy("every connection has been in use")
        try:
            return here.pool.getconn(seconds)
        except BaseException:
            here.free.release()
            raise

    def give_back(self, connection: Connection) -> None:
        """Take a connection back, without what is left of a transaction."""
        here = self._process
        # In a forked child it is the parent's, and the parent goes on with it.
        if here is None or here.pid != os.getpid():
            return
        if connection.info.transaction_status in _OPEN:
            with suppress(psycopg.Error):
                connection.rollback()
        here.pool.putconn(connection)
        here.free.release()

    @contextmanager
    def alone(self, user: str) -> Iterator[None]:
        """Be the only writer of a user in this process."""
        writers = self._here().writers
        # Only for the first user of a transaction: two of these held at once could lock up.
        writer = writers[self._address.lock(user) % len(writers)]
        if not writer.acquire(timeout=self.limits.statement_seconds):
            raise self._busy(f"another thread has been writing for {user!r:.60}")
        try:
            yield
        finally:
            writer.release()

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        here = self._process
        if here is not None and here.pid == os.getpid():
            here.pool.close()

    def _busy(self, why: str) -> StoreError:
        return StoreError(
            f"{self._address}: {why} for {self.limits.statement_seconds:.0f} seconds. Keep slow "
            "work out of atomic(), and try again."
        )

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
                free = threading.Semaphore(self.limits.connections)
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
            max_size=self.limits.connections,
            reconnect_timeout=self.limits.patience,
            num_workers=2,
            open=True,
        )

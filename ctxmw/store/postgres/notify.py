"""Tells at once when somebody writes, on whichever machine, by LISTEN and NOTIFY.

The changes feed itself is in the tables, and whoever needs the truth asks there. A notification
only says that it is worth asking. One connection listens for all who wait in a process; it must
reach the server itself, for a pooler that shares connections by transaction cannot listen. Where
nothing is heard, those who wait look by themselves once in a while.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from .address import Address
from .driver import psycopg

_log = logging.getLogger("ctxmw")

LOOK_SECONDS = 1.0
"""How often those who wait look by themselves."""


class Listener:
    """The notifications of one store, heard by one thread while somebody waits."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._heard = threading.Condition()
        self._count = 0
        self._waiting = 0
        self._listening = False
        self._closed = False

    def wait(self, happened: Callable[[], bool], seconds: float) -> bool:
        """Wait until it happened, for these seconds at most; say whether it did."""
        deadline = time.monotonic() + seconds
        self._enter()
        try:
            while True:
                heard = self._count
                if happened():
                    return True
                left = deadline - time.monotonic()
                if left <= 0 or self._closed:
                    return False
                with self._heard:
                    self._heard.wait_for(
                        lambda heard=heard: self._count != heard,  # type: ignore[misc]
                        min(left, LOOK_SECONDS),
                    )
        finally:
            with self._heard:
                self._waiting -= 1

    def close(self) -> None:
        """Let those who wait go, and stop listening."""
        self._closed = True
        self._tell()

    def _enter(self) -> None:
        with self._heard:
            self._waiting += 1
            if not self._listening:
                self._listening = True
                threading.Thread(target=self._listen, name="ctxmw-feed", daemon=True).start()

    def _tell(self) -> None:
        with self._heard:
            self._count += 1
            self._heard.notify_all()

    def _listen(self) -> None:
        try:
            options: dict[str, Any] = self._address.options()
            with psycopg.connect(self._address.dsn, autocommit=True, **options) as connection:
                name = psycopg.sql.Identifier(self._address.schema)
                connection.execute(psycopg.sql.SQL("LISTEN {}").format(name))
                self._tell()  # whatever happened before is looked at now
                while self._goes_on():
                    for _ in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                        self._tell()
        except psycopg.Error as error:
            _log.info("%s: no notifications are heard: %s", self._address, error)
            with self._heard:
                self._listening = False

    def _goes_on(self) -> bool:
        with self._heard:
            self._listening = self._waiting > 0 and not self._closed
            return self._listening

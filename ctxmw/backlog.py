"""Embeds what has no vector yet in a thread of its own, a few records at a time, user by user.

Nothing is kept here that matters: what waits is seen in the store, after a crash too.
"""

from __future__ import annotations

import logging
import threading

from .errors import CtxmwError
from .vectors import Vectors

log = logging.getLogger("ctxmw")

LONGEST_PAUSE = 60.0
"""Seconds between attempts when the embedder keeps failing."""
SECONDS_TO_STOP = 5.0
_OTHERS_AT_IT = 0.05


class Backlog:
    """The records of all users that wait to be embedded. Any thread may use it."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._users: dict[str, None] = {}
        self._waiting: dict[str, int] = {}
        self._counts = {"embedding.embedded": 0, "embedding.failures": 0}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def work_off(self, user: str) -> None:
        """Embed what the user has waiting; returns at once."""
        with self._lock:
            if self._stop.is_set():
                return
            self._users[user] = None
            # A thread does not live on in a forked child.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="ctxmw-backlog", daemon=True)
                self._thread.start()

    def counts(self) -> dict[str, int]:
        """Return how many records wait, and what became of the others."""
        with self._lock:
            return {**self._counts, "embedding.waiting": sum(self._waiting.values())}

    def close(self) -> None:
        """Stop after the records at hand; a model that hangs is not waited for."""
        self._stop.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(SECONDS_TO_STOP)

    def _run(self) -> None:
        failures = 0
        while (user := self._next()) is not None:
            try:
                done, left = self._vectors.freshen(user)
                failures = 0
            except CtxmwError as error:
                done, left = 0, 1
                failures += 1
                self._failed(error, failures)
            self._report(user, done, left)
            if failures or (left and not done):
                self._stop.wait(min(2.0**failures, LONGEST_PAUSE) if failures else _OTHERS_AT_IT)

    def _next(self) -> str | None:
        """Return whose turn it is; None ends the thread."""
        with self._lock:
            if self._stop.is_set() or not self._users:
                self._thread = None
                return None
            user = next(iter(self._users))
            del self._users[user]
            return user

    def _report(self, user: str, done: int, left: int) -> None:
        with self._lock:
            self._counts["embedding.embedded"] += done
            if left:
                self._users[user] = None
                self._waiting[user] = left
            else:
                self._waiting.pop(user, None)

    def _failed(self, error: CtxmwError, failures: int) -> None:
        with self._lock:
            self._counts["embedding.failures"] += 1
        if failures == 1 and not self._stop.is_set():
            log.warning("records wait to be embedded: %s", error)

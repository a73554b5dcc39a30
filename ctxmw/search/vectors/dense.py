"""The dense leg of search: how near in meaning records are to a question, and their vectors.

What has no vector yet is embedded in a thread of its own, a few records at a time, user by user.
Nothing is kept here that matters: what waits is seen in the store, after a crash too.
"""

from __future__ import annotations

import logging
import statistics
import threading
import time
from dataclasses import dataclass

from ...errors import CtxmwError
from ..offered_meaning import OfferedMeaning
from .vectors import Vectors

HANDFUL = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """How near one record is."""

    rank: float
    """0 for no better than most, 1 for the nearest; for ranking."""
    match: float
    """How well it matches by itself, 0 to 1; for the gate."""


class Dense:
    """Nearness by vectors.

    Without a backlog, what has no vector yet gets one first, however long that takes. With one,
    records are embedded beside the requests: a search embeds the newest few at most.
    """

    def __init__(
        self,
        vectors: Vectors,
        backlog: Backlog | None = None,
        offered: OfferedMeaning | None = None,
    ) -> None:
        """`offered` are the vectors of what the application offers."""
        self.vectors = vectors
        self.offered = offered
        self._backlog = backlog

    def near(self, user: str, query: str, n: int, *, in_haste: bool = False) -> dict[str, Near]:
        """Return the records nearest in meaning, by ref.

        In haste nothing but the question is embedded.
        """
        if self._backlog is None:
            self.vectors.refresh(user)
        elif not in_haste:
            self.vectors.freshen(user)
        found = self.vectors.similar(user, query, n)
        if self.vectors.waiting(user):
            self.embed_soon(user)
        if not found:
            return {}
        cosines = [cosine for _, cosine in found]
        low = _no_better_than_most(cosines, n)
        span = max(max(cosines) - low, 1e-6)
        return {
            ref: Near(
                rank=min(1.0, max(0.0, (cosine - low) / span)),
                match=self.vectors.calibrated(cosine),
            )
            for ref, cosine in found
        }

    def embed_soon(self, user: str) -> None:
        """Say that the user has something new."""
        if self._backlog is not None:
            self._backlog.work_off(user)

    def counts(self) -> dict[str, int]:
        """Return how far the backlog is."""
        return self._backlog.counts() if self._backlog is not None else {}

    def close(self) -> None:
        """Close the index; closing twice is fine."""
        if self._backlog is not None:
            self._backlog.close()
        self.vectors.close()


def _no_better_than_most(cosines: list[float], n: int) -> float:
    """Return the cosine that counts nothing.

    Of all records that of the middle one, of the nearest that of the last. Of a handful it is 0:
    there is no "most".
    """
    if len(cosines) < HANDFUL:
        return 0.0
    return statistics.median(cosines) if len(cosines) < n else min(cosines)


log = logging.getLogger("ctxmw")

LONGEST_PAUSE = 60.0
"""Seconds between attempts when the embedder keeps failing."""
SECONDS_TO_STOP = 5.0
_OTHERS_AT_IT = 0.05


class Backlog:
    """The records of all users that wait to be embedded. Any thread may use it."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._users: dict[str, float] = {}
        """Whose turn it is next, and not before which time."""
        self._failures: dict[str, int] = {}
        """How often in a row it went wrong for a user; the others do not wait for that."""
        self._waiting: dict[str, int] = {}
        self._counts = {"embedding.embedded": 0, "embedding.failures": 0}
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def work_off(self, user: str) -> None:
        """Embed what the user has waiting; returns at once."""
        with self._lock:
            if self._stop.is_set():
                return
            self._users.setdefault(user, 0.0)
            self._changed.notify_all()
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
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(SECONDS_TO_STOP)

    def _run(self) -> None:
        while (user := self._next()) is not None:
            try:
                done, left = self._vectors.freshen(user)
            # An index may be anybody's, and a fault of one user must not end the thread of all.
            except Exception as error:  # noqa: BLE001
                self._failed(user, error)
            else:
                self._report(user, done, left)

    def _next(self) -> str | None:
        """Return whose turn it is, once it is somebody's; None ends the thread."""
        with self._lock:
            while self._users and not self._stop.is_set():
                user = min(self._users, key=lambda name: self._users[name])
                left = self._users[user] - time.monotonic()
                if left <= 0:
                    del self._users[user]
                    return user
                self._changed.wait(left)
            self._thread = None
            return None

    def _report(self, user: str, done: int, left: int) -> None:
        with self._lock:
            self._failures.pop(user, None)
            self._counts["embedding.embedded"] += done
            if left:
                self._users[user] = time.monotonic() + (0.0 if done else _OTHERS_AT_IT)
                self._waiting[user] = left
            else:
                self._waiting.pop(user, None)

    def _failed(self, user: str, error: Exception) -> None:
        with self._lock:
            self._counts["embedding.failures"] += 1
            times = self._failures[user] = self._failures.get(user, 0) + 1
            self._users[user] = time.monotonic() + min(2.0**times, LONGEST_PAUSE)
            self._waiting[user] = max(1, self._waiting.get(user, 0))
        if times == 1 and not self._stop.is_set():
            says = error if isinstance(error, CtxmwError) else type(error).__name__
            log.warning("records wait to be embedded: %s", says)

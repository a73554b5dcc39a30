"""How long the search for a turn's part may take, and calls that nobody waits for longer."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import TypeVar

from .async_twins import Workers

MILLISECONDS = 200.0
LATE = "deadline"
"""What a record says of that which was not there in time."""
AT_ONCE = 16
"""Calls that may be under way aside, those given up on among them."""
HANGING = 3
"""Who has so many calls that were given up on is not asked again until one of them ends."""

T = TypeVar("T")


class Late(Exception):
    """There was no answer in time. The call goes on by itself, and what it makes is kept."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Until when an answer is of use."""

    at: float
    """On the clock of `time.monotonic`."""

    @classmethod
    def within(cls, milliseconds: float, since: float | None = None) -> Deadline:
        """Return the deadline that so many milliseconds from then is, or from now."""
        return cls((time.monotonic() if since is None else since) + milliseconds / 1000)

    def left(self) -> float:
        """Return how many seconds are left, 0 when it has passed."""
        return max(0.0, self.at - time.monotonic())


class Aside:
    """Calls in threads of their own, so that whoever asks can go on without an answer."""

    def __init__(self, before_waiting: Callable[[], None] | None = None) -> None:
        """`before_waiting` is called by whoever asks, before the answer is waited for."""
        self._before_waiting = before_waiting
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._hanging: Counter[str] = Counter()
        self._lock = threading.Lock()

    def call(self, work: Callable[[], T], deadline: Deadline | None, name: str) -> T:
        """Return the result of the call; raise Late when it is not there in time.

        Without a deadline the call is made right here. `name` says who is asked: one who hangs is
        soon not waited for any more, and leaves the others room.
        """
        if self._before_waiting is not None:
            self._before_waiting()
        if deadline is None:
            return work()
        if self._hanging[name] >= HANGING:
            raise Late
        if not self._slots.acquire(timeout=deadline.left()):
            raise Late
        answer: Future[T] = Future()
        run = contextvars.copy_context().run
        # A daemon: a model that never answers must not keep the process from ending.
        thread = threading.Thread(
            target=run, args=(self._run, work, answer), name="ctxmw-aside", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, or there are too many threads
            self._slots.release()
            raise Late from None
        if not wait([answer], timeout=deadline.left()).done:
            self._count(name, 1)
            answer.add_done_callback(lambda _: self._count(name, -1))
            raise Late
        return answer.result()

    def _count(self, name: str, by: int) -> None:
        with self._lock:
            self._hanging[name] += by

    def _run(self, work: Callable[[], T], answer: Future[T]) -> None:
        try:
            answer.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            answer.set_exception(error)
        finally:
            self._slots.release()


class TimeLimit:
    """How long a call may wait for what memory adds to it."""

    def __init__(self, milliseconds: float | None, workers: Workers) -> None:
        """None: as long as it takes."""
        self.milliseconds = milliseconds
        self.workers = workers
        self.aside = Aside(before_waiting=workers.leave)

    def due(self) -> Deadline | None:
        """Return until when an answer is of use; waiting for a thread is part of that time."""
        if self.milliseconds is None:
            return None
        return Deadline.within(self.milliseconds, self.workers.mine.began)

    @property
    def patience(self) -> float | None:
        """Seconds after which a call that was not begun goes out without memory; None: never.

        Past the deadline it still gets what needs no search, for half as long again.
        """
        return None if self.milliseconds is None else 1.5 * self.milliseconds / 1000

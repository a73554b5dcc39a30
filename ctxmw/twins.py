"""Async twins of the methods that read or write: the same method, run off the event loop."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from .errors import StoreError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


THREADS = 8
AT_WORK = 2
"""Threads that work at a time: more would take Python's lock from each other at every step."""
PATIENCE = 0.5
"""Seconds after which a thread no longer waits its turn: those at work may be held up."""


class Workers:
    """A few threads, made when they are first needed, that take turns."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(AT_WORK)
        self._mine = threading.local()

    async def run(self, call: Callable[[], R]) -> R:
        """Return the result of the call, made in a thread with the caller's context variables."""
        # Who does not wait for us in a loop need not wait for it to be imported.
        import asyncio

        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        try:
            future = loop.run_in_executor(self._threads(), context.run, self._in_turn, call)
        except RuntimeError as error:
            raise StoreError("this memory was closed: open it again.") from error
        return await future

    def leave(self) -> None:
        """Let another thread work: this one is about to wait for somebody else."""
        if getattr(self._mine, "turn", False):
            self._mine.turn = False
            self._turns.release()

    def close(self) -> None:
        """Let running calls end and take no more."""
        with self._lock:
            if self._executor is not None:
                self._executor.shutdown(wait=True)

    def _in_turn(self, call: Callable[[], R]) -> R:
        self._mine.turn = self._turns.acquire(timeout=PATIENCE)
        try:
            return call()
        finally:
            self.leave()

    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="ctxmw")
            return self._executor


class HasWorkers(Protocol):
    """Whatever has twins has workers."""

    @property
    def workers(self) -> Workers: ...


S = TypeVar("S", bound=HasWorkers)
P = ParamSpec("P")
R = TypeVar("R")


def twin(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async twin of a method: the same arguments, the same result, off the loop."""

    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.workers.run(partial(method, self, *args, **kwargs))

    run.__name__ = f"a{method.__name__}"
    run.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{run.__name__}"
    run.__wrapped__ = method  # type: ignore[attr-defined]
    run.__doc__ = f"Async twin of `{method.__name__}`."
    return run


def forgiving_twin(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async twin of a method that forgives: also when there are no threads any more."""

    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        call = partial(method, self, *args, **kwargs)
        try:
            return await self.workers.run(call)
        except StoreError:
            # The memory is closed, so this ends at once, and the method knows how.
            return call()

    run.__name__ = f"a{method.__name__}"
    run.__doc__ = f"Async twin of `{method.__name__}`."
    return run

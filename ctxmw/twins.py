"""Async twins of the methods that read or write: the same method, run off the event loop."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from .errors import StoreError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


class Workers:
    """A few threads, made when they are first needed. More would only wait for each other."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    async def run(self, call: Callable[[], R]) -> R:
        """Return the result of the call, made in a thread with the caller's context variables."""
        # Who does not wait for us in a loop need not wait for it to be imported.
        import asyncio

        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        try:
            future = loop.run_in_executor(self._threads(), partial(context.run, call))
        except RuntimeError as error:
            raise StoreError("this memory was closed: open it again.") from error
        return await future

    def close(self) -> None:
        """Let running calls end and take no more."""
        with self._lock:
            if self._executor is not None:
                self._executor.shutdown(wait=True)

    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._executor is None:
                size = (os.cpu_count() or 2) + 2
                self._executor = ThreadPoolExecutor(size, thread_name_prefix="ctxmw")
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

"""Async twins of the methods that read or write: the same method, run off the event loop.

Calls wait in two queues and not in threads. One is for calls that are made in any case: they may be
the ones that write what was said. The other is for calls whose answer is of use for a short time
only; it has an end, and who waits in it for too long is told so. Threads take from both in turn. So
more calls than a process can make are answered with less, never late without end, and waiting
takes little memory.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from ..errors import Overloaded, StoreError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


THREADS = 8
AT_WORK = 1
"""Threads that work at a time: more would take Python's lock from each other at every step."""
AT_WORK_REMOTELY = 4
"""The same where the store is a server: then most of a call is waiting for it."""
PATIENCE = 0.5
"""Seconds after which a thread no longer waits for a turn: those at work may be held up."""
WAITING = 100
"""Calls in haste that may wait; one more would not be in time, nor would the others."""


class _Mine(threading.local):
    """What a thread knows of itself."""

    turn = False
    """Whether it is one that works now."""
    began: float | None = None
    """When the call that it makes was handed in; None in a thread of the caller's."""


class Workers:
    """A few threads, made when they are first needed, that take turns."""

    def __init__(self, at_work: int = AT_WORK) -> None:
        self._closed = False
        self._at_work = at_work
        self._begin()

    def _begin(self) -> None:
        """Begin without threads, and with nothing that waits."""
        self._process = os.getpid()
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(self._at_work)
        self.mine = _Mine()
        self._queues: deque[deque[_Call]] = deque([deque(), deque()])
        self._patient, self._in_haste = self._queues
        # A thread is asked to make one call for each that waits. Who gives up leaves one such
        # request over: the next call takes it, or there would be more and more of them.
        self._left_over = 0

    async def run(self, call: Callable[[], R], *, within: float | None = None) -> R:
        """Return the result of the call, made in a thread with the caller's context variables.

        With `within`, Overloaded is raised when it was not begun after so many seconds, or when too
        many wait already; and it is not made any more when its caller has gone. Without, it is made
        in any case.
        """
        # Who does not wait for us in a loop need not wait for it to be imported.
        import asyncio

        made = self._submit(call, in_haste=within is not None)
        if within is None:
            return await asyncio.shield(asyncio.wrap_future(made.answer))
        late = asyncio.get_running_loop().call_later(within, self._give_up, made, within)
        try:
            return await asyncio.wrap_future(made.answer)
        except asyncio.CancelledError:
            self._withdraw(made)
            raise
        finally:
            late.cancel()

    async def run_or_make(self, call: Callable[[], R]) -> R:
        """Return the result of the call, made in a thread; right here once there are none."""
        import asyncio

        try:
            made = self._submit(call)
        except StoreError:
            # The memory is closed, so this ends at once, and the call knows how.
            return call()
        return await asyncio.shield(asyncio.wrap_future(made.answer))

    def hand_in(self, call: Callable[[], object]) -> None:
        """Have a call made that nobody waits for; none any more, once they are closed."""
        with suppress(StoreError):
            self._submit(call)

    def leave(self) -> None:
        """Let another thread work: this one is about to wait for somebody else."""
        if self.mine.turn:
            self.mine.turn = False
            self._turns.release()

    def close(self) -> None:
        """Let calls that were handed in end and take no more."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            self._closed = True
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _submit(self, work: Callable[[], object], *, in_haste: bool = False) -> _Call:
        if self._process != os.getpid():
            # This process was forked: the threads, and who waits for them, are in the other one.
            self._begin()
        call = _Call(partial(contextvars.copy_context().run, work))
        with self._lock:
            if in_haste and len(self._in_haste) >= WAITING:
                raise Overloaded(f"{WAITING} calls wait already: {_REMEDY}")
            if self._closed:
                raise StoreError("this memory was closed: open it again.")
            if self._left_over:
                self._left_over -= 1
            else:
                self._threads().submit(self._make_one)
            (self._in_haste if in_haste else self._patient).append(call)
            return call

    def _withdraw(self, call: _Call) -> bool:
        """Take a call in haste out of its queue; say whether it still waited there."""
        with self._lock:
            if call not in self._in_haste:
                return False
            self._in_haste.remove(call)
            self._left_over += 1
            return True

    def _give_up(self, call: _Call, seconds: float) -> None:
        if self._withdraw(call) and call.answer.set_running_or_notify_cancel():
            waited = f"the call was not begun within {1000 * seconds:.0f} ms"
            call.answer.set_exception(Overloaded(f"{waited}: {_REMEDY}"))

    def _make_one(self) -> None:
        """Wait for a turn, then make the call that has waited longest in one of the queues."""
        self.mine.turn = self._turns.acquire(timeout=PATIENCE)
        try:
            call = self._next()
            if call is not None:
                self.mine.began = call.began
                call.make()
        finally:
            self.mine.began = None
            self.leave()

    def _next(self) -> _Call | None:
        with self._lock:
            self._queues.rotate()
            queue = next(filter(None, self._queues), None)
            if queue is None:
                self._left_over -= 1
                return None
            return queue.popleft()

    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        if self._executor is None:
            self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="ctxmw")
        return self._executor


_REMEDY = "send fewer at once, or spread them over more processes."


class _Call:
    """A call that waits to be made."""

    __slots__ = ("answer", "began", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        from concurrent.futures import Future

        self.work = work
        self.began = time.monotonic()
        self.answer: Future[Any] = Future()

    def make(self) -> None:
        if not self.answer.set_running_or_notify_cancel():
            return
        try:
            result = self.work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self.answer.set_exception(error)
        else:
            self.answer.set_result(result)


class Watched:
    """A block, `with` or `async with`: whoever watches is told of the error that ends it."""

    def __init__(self, workers: Workers, ended: Callable[[BaseException], object]) -> None:
        self._workers = workers
        self._ended = ended

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            self._ended(error)

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            await self._workers.run_or_make(partial(self._ended, error))


class HasWorkers(Protocol):
    """Whatever has twins has workers."""

    @property
    def workers(self) -> Workers: ...


S = TypeVar("S", bound=HasWorkers)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Callable[..., Any])


def twin(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async twin of a method: the same arguments, the same result, off the loop."""

    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.workers.run(partial(method, self, *args, **kwargs))

    return _named(run, method)


def forgiving_twin(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Return the async twin of a method that forgives: also when there are no threads any more."""

    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.workers.run_or_make(partial(method, self, *args, **kwargs))

    return _named(run, method)


def _named(run: T, method: Callable[..., Any]) -> T:
    """Return the twin under the name that goes with its method."""
    name = f"a{method.__name__}"
    run.__name__ = name
    run.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{name}"
    run.__wrapped__ = method  # type: ignore[attr-defined]
    run.__doc__ = f"Async twin of `{method.__name__}`."
    return run

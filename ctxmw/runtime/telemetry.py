"""What operators and applications are told: counts, times, spans, warnings, and what was set aside.

The names of OpenTelemetry's conventions for generative AI, which are still in development, stand
here and nowhere else. What has no name there begins with "ctxmw.".

Faults are the border around one record or one conversation: what fails there stops nobody else.
Much is done in passing. A call takes what others wrote into its indexes, reads what waits, and ends
conversations that nobody ended. What cannot be read or done there is set aside: it stays in the
store as it is, it is counted, logged once, told to `on_error`, and tried again later. Only what
leaves nothing half done may fail here: reading a row, or a transaction of its own. Stages of the
pipeline have names, so that a fault tells where it happened.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from ..errors import CtxmwError, MissingPackage, StageError
from ..text.secrets.redaction import redact
from .lru import LruCache

RECENT = 1024
"""How many of the last calls of a kind the percentiles are made from."""
# What conventions call our operations; the others are "ctxmw.NAME".
OPERATIONS = {
    "edit": "update_memory",
    "forget": "delete_memory",
    "remember": "create_memory",
    "search": "search_memory",
}
CONVERSATION = "gen_ai.conversation.id"
FOUND = "gen_ai.memory.record.count"
QUERY = "gen_ai.memory.query.text"
OPERATION = "gen_ai.operation.name"
ERROR = "error.type"
LIMIT, USED, DROPPED = "ctxmw.budget.limit", "ctxmw.budget.used", "ctxmw.budget.dropped"
DEGRADED = "ctxmw.degraded"
log = logging.getLogger("ctxmw")
QUIET = timedelta(minutes=1)
"""How long after a warning the next ones of the same stage are only counted."""


class Stats:
    """Named counters and times, safe for threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def count(self, name: str, by: int = 1) -> int:
        """Add to a counter and return what it stands at."""
        with self._lock:
            self._counts[name] += by
            return self._counts[name]

    def took(self, name: str, milliseconds: float) -> None:
        """Count a call and keep how long it took."""
        with self._lock:
            self._counts[f"{name}.calls"] += 1
            self._times.setdefault(name, deque(maxlen=RECENT)).append(milliseconds)

    def snapshot(self) -> dict[str, float]:
        """Return every counter by name, with the percentiles of recent calls in milliseconds."""
        with self._lock:
            counts: dict[str, float] = dict(self._counts)
            times = {name: sorted(kept) for name, kept in self._times.items()}
        for name, ordered in times.items():
            for share in (50, 99):
                at = min(len(ordered) - 1, len(ordered) * share // 100)
                counts[f"{name}.ms.p{share}"] = round(ordered[at], 3)
        if shown := counts.get("items.shown"):
            counts["items.share_recurring"] = round(counts.get("items.recurring", 0) / shown, 3)
        return dict(sorted(counts.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Spans by OpenTelemetry, with whatever provider the application has set up."""

    content: bool = False
    """Whether spans carry what was asked for. Off: they carry counts and names only."""


class Observer:
    """Times every operation, and makes a span of it when tracing is on."""

    def __init__(self, stats: Stats, tracing: Tracing | None) -> None:
        self._stats = stats
        self._tracing = tracing
        self._tracer = _tracer() if tracing is not None else None

    @contextmanager
    def operation(self, name: str, *, query: str = "", **told: Any) -> Iterator[dict[str, Any]]:
        """Observe what happens inside; what is put into the dict is told with the span."""
        started = time.perf_counter()
        if query and self._tracing is not None and self._tracing.content:
            told[QUERY] = redact(query).text
        try:
            traced = nullcontext() if self._tracer is None else _traced(self._tracer, name, told)
            with traced:
                yield told
        finally:
            self._stats.took(name, 1000 * (time.perf_counter() - started))

    @property
    def traces(self) -> bool:
        """Whether anything that is told reaches anybody."""
        return self._tracer is not None

    def event(self, name: str, told: Mapping[str, Any]) -> None:
        """Tell the span that is current, where there is one, that something happened."""
        if self._tracer is not None:
            from opentelemetry import trace

            trace.get_current_span().add_event(f"ctxmw.{name}", dict(told))

    def spent(self, lanes: Mapping[str, tuple[int, int]]) -> None:
        """Count what a prompt was given, by lane, of what each had."""
        for lane, (tokens, _) in lanes.items():
            if tokens:
                self._stats.count(f"tokens.{lane}", tokens)


@contextmanager
def _traced(tracer: Any, name: str, told: dict[str, Any]) -> Iterator[None]:
    operation = OPERATIONS.get(name)
    # What an exception says may quote what was stored: its type has to do.
    options = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(operation or f"ctxmw.{name}", **options) as span:
        if operation:
            span.set_attribute(OPERATION, operation)
        try:
            yield
        except Exception as error:
            span.set_attribute(ERROR, type(error).__name__)
            raise
        finally:
            span.set_attributes({key: value for key, value in told.items() if value is not None})


def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise MissingPackage('tracing needs OpenTelemetry: pip install "ctxmw[otel]"') from error
    return trace.get_tracer("ctxmw")


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """Counters, spans, warnings, and who is told of errors."""

    stats: Stats
    observer: Observer
    on_error: Callable[[str, Exception], None] | None
    strict: bool
    """Whether adapters raise what fails at run time instead of going on without memory."""
    warned: LruCache[str, datetime] = field(default_factory=lambda: LruCache(64))
    """When each stage was last warned about."""

    def degraded(self, stage: str, error: Exception, now: datetime) -> None:
        """Tell that a call goes on without memory, because this failed."""
        kind = type(error).__name__
        self.stats.count(f"degraded.{stage}.{kind}")
        last = self.warned.get(stage)
        if last is None or not timedelta(0) <= now - last < QUIET:
            self.warned.put(stage, now)
            log.warning("%s failed (%s); the call goes on without memory", stage, kind)
            # What an error says may quote what was stored: that is for those who ask for it.
            log.debug("%s failed", stage, exc_info=error)
        if self.on_error is not None:
            self.on_error(stage, error)


log = logging.getLogger("ctxmw")

TOLD = 1024
"""How many faults are remembered as told."""


class Stored(Protocol):
    """What names a row of a store; a store's own type is of a room above."""

    @property
    def user(self) -> str: ...
    @property
    def ref(self) -> str: ...
    @property
    def type(self) -> str: ...


R = TypeVar("R", bound=Stored)
T = TypeVar("T")


class Faults:
    """What was set aside. Any thread may use it."""

    def __init__(
        self,
        stats: Stats | None = None,
        on_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        self.stats = stats or Stats()
        self._on_error = on_error
        self._told: LruCache[tuple[str, str, str], bool] = LruCache(TOLD)

    def read(
        self,
        rows: Iterable[R],
        read: Callable[[R], T],
        unread: Callable[[str], object] | None = None,
    ) -> list[T]:
        """Return what is read of each row, without those that cannot be read.

        `unread` is called with the ref of each of these.
        """
        found: list[T] = []
        for row in rows:
            try:
                found.append(read(row))
            except MemoryError:
                raise
            # A newer version or a damaged disk may have left anything. Reading a row touches
            # nothing else, so whatever it raises is about this row alone.
            except Exception as error:  # noqa: BLE001
                self.tell("read", (row.user, row.ref), error, f"the {row.type} {row.ref} is unread")
                if unread is not None:
                    unread(row.ref)
        return found

    def tell(self, stage: str, about: tuple[str, str], error: Exception, says: str) -> None:
        """Tell once that something of one user was set aside; `about` names both.

        What the error says may quote what was stored: that is for those who ask for it.
        """
        if self._told.put((stage, *about), True):
            return
        kind = type(error).__name__
        self.stats.count(f"set_aside.{stage}.{kind}")
        log.warning("%s (%s); everything else goes on, and nothing is lost", says, kind)
        log.debug("%s", says, exc_info=error)
        if self._on_error is not None:
            self._on_error(stage, error)


class stage(AbstractContextManager[Any], ContextDecorator):  # noqa: N801 - as it reads
    """Raise whatever fails inside as an error of ours that names the stage.

    An error of ours says enough already, and passes; so does a cancellation.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CtxmwError):
            raise StageError(self._name, error) from error


def where(error: Exception, otherwise: str) -> tuple[str, Exception]:
    """Return the stage an error comes from, and what went wrong there."""
    if isinstance(error, StageError):
        return error.stage, error.cause
    return otherwise, error

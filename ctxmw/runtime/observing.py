"""What an operator sees: how long calls take, and OpenTelemetry spans where they are asked for.

The names of OpenTelemetry's conventions for generative AI, which are still in development, stand
here and nowhere else. What has no name there begins with "ctxmw.".
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackage
from ..text.secrets.redaction import redact

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .stats import Stats

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
            with self._span(name, told):
                yield told
        finally:
            self._stats.took(name, 1000 * (time.perf_counter() - started))

    @property
    def traces(self) -> bool:
        """Whether anything that is told reaches anybody."""
        return self._tracer is not None

    def spent(self, lanes: Mapping[str, tuple[int, int]]) -> None:
        """Count what a prompt was given, by lane, of what each had."""
        for lane, (tokens, _) in lanes.items():
            if tokens:
                self._stats.count(f"tokens.{lane}", tokens)

    def _span(self, name: str, told: dict[str, Any]) -> AbstractContextManager[None]:
        return nullcontext() if self._tracer is None else _traced(self._tracer, name, told)


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

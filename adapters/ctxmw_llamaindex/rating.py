"""Feedback on an answer, by whatever an application has at hand: the response, or an event.

Responses of engines and agents carry the record of their call. Whoever follows LlamaIndex's
instrumentation has the event of the call instead, which stands in a span with an id of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxmw import ContextMiddleware, ContextRecord, Feedback, InvalidValue, NotFound

from .events import ContextPrepared

_KEY = "ctxmw"


def rate(
    ctx: ContextMiddleware,
    answer: Any,
    ref: str | None = None,
    value: int | None = None,
    *,
    note: str = "",
    missing: str = "",
    user: str | None = None,
) -> Feedback:
    """Say whether what a model call was shown has helped: 1 it did, -1 it did not, 0 takes it back.

    `answer` is what an engine, an agent or a model returned, its text, the `ContextPrepared` event
    of the call, or the ref of our record. The rest is as in `ContextMiddleware.rate`.
    """
    record = _record(ctx, answer, user)
    return ctx.rate(record, ref, value, note=note, missing=missing, user=user)


async def arate(ctx: ContextMiddleware, answer: Any, *args: Any, **options: Any) -> Feedback:
    """Async twin of `rate`."""
    return await ctx.workers.run(lambda: rate(ctx, answer, *args, **options))


def _record(ctx: ContextMiddleware, answer: Any, user: str | None) -> ContextRecord:
    if isinstance(answer, ContextRecord):
        return answer
    for name in _names(answer):
        if name.strip() and (found := ctx.why(name, user=user)):
            return found
    raise NotFound(
        f"no call of this user is known by {str(answer)[:60]!r}: give the response of an engine or "
        "agent that has a memory, its event ContextPrepared, or the ref of the record."
    )


def _names(answer: Any) -> Iterator[str]:
    """Yield what the record of a call may be known by."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, ContextPrepared):
        yield answer.record
    elif answer is None or isinstance(answer, int | float | bytes | Mapping):
        raise InvalidValue(
            f"answer is {answer!r:.60}: give a response, the event of its call, or our record."
        )
    else:
        told = (getattr(answer, "metadata", None) or {}).get(_KEY)
        yield str(told.get("record") or "") if isinstance(told, dict) else ""
        yield str(getattr(getattr(answer, "message", answer), "content", None) or "")

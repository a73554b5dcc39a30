"""Feedback on an answer, by whatever an application has at hand: the message, or a run's id.

LangSmith and interfaces made for it know an answer by the id of a run. LangChain gives the message
of a model's run an id made of it, by which the memory finds the record of the call again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage

from ctxmw import ContextMiddleware, ContextRecord, Feedback, InvalidValue, NotFound

from .convert import KEY

_OF_A_RUN = ("lc_run--{}", "lc_run--{}-0", "run--{}", "run--{}-0", "run-{}", "run-{}-0")
"""The ids that LangChain gives to the message of a run."""
_MOST = 1000
"""Runs below one that are looked at."""


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

    `answer` is the message that the model returned, the id of the model's run, a run as LangSmith
    and LangChain's tracers have it (the last model call in it that had a memory counts), or the ref
    of our record. The rest is as in `ContextMiddleware.rate`.
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
        if name and (found := ctx.why(name, user=user)):
            return found
    raise NotFound(
        f"no call of this user is known by {_told(answer)}: give the message that the model "
        "returned, the id of the model's own run (not of the chain or agent around it), or a run "
        "with its child_runs."
    )


def _names(answer: Any) -> Iterator[str]:
    """Yield what the record of a call may be known by."""
    if isinstance(answer, BaseMessage):
        told = answer.response_metadata.get(KEY)
        yield str(told.get("record") or "") if isinstance(told, dict) else ""
        yield answer.id or ""
    elif isinstance(answer, UUID | str):
        yield str(answer)
        yield from (form.format(answer) for form in _OF_A_RUN)
    elif hasattr(answer, "id"):
        for run in reversed(_runs(answer)):
            yield from (form.format(run) for form in _OF_A_RUN)
    else:
        raise InvalidValue(
            f"answer is {answer!r:.60}: give a message, the id of a run, a run, or our record."
        )


def _runs(run: Any) -> list[str]:
    """Return the ids of a run and all below it, in the order in which they were begun."""
    found: list[str] = []
    open_ = [run]
    while open_ and len(found) < _MOST:
        at = open_.pop()
        found.append(str(at.id))
        open_ += reversed(getattr(at, "child_runs", None) or ())
    return found


def _told(answer: Any) -> str:
    return repr(getattr(answer, "id", answer))[:80]

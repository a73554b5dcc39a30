"""Several memories around one model call: each sees what was said, not what another one brought.

Without this a memory would search with, and capture as a person's words, the text that the one
around it has placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import BaseMessage

from ctxmw import ContextMiddleware

Pairs = Sequence[tuple[BaseMessage, BaseMessage]]
"""Messages with something placed in them, each with what was said."""

_PLACED: ContextVar[tuple[tuple[ContextMiddleware, Pairs], ...]] = ContextVar(
    "ctxmw_langchain_placed", default=()
)


@contextmanager
def placed_by(ctx: ContextMiddleware, pairs: Pairs) -> Iterator[None]:
    """Tell the memories inside what this one has placed."""
    token = _PLACED.set((*_PLACED.get(), (ctx, pairs)))
    try:
        yield
    finally:
        _PLACED.reset(token)


def said_by_people(ctx: ContextMiddleware, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages without what other memories placed; our own text is known by its hash."""
    said = {
        id(placed): original
        for other, pairs in _PLACED.get()
        if other is not ctx
        for placed, original in pairs
    }
    return [said.get(id(message), message) for message in messages]


def said_by_anybody(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages without what any memory around the caller has placed."""
    said = {id(placed): original for _, pairs in _PLACED.get() for placed, original in pairs}
    return [said.get(id(message), message) for message in messages]


def carried_over(said: Any, changed: Any, shown: Any) -> Any:
    """Return `shown`, which holds what was said and more, changed as `said` was changed."""
    if isinstance(said, str) and isinstance(shown, str):
        if changed.endswith(said):
            return changed[: len(changed) - len(said)] + shown
        return shown + changed[len(said) :]
    added = [part for part in changed if part not in said]
    return [*added, *shown]

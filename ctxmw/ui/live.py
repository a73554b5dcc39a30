"""Tells open pages that something was written, as server-sent events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

PAUSE = 0.5
"""Seconds between two looks."""
QUIET = 30
"""Looks after which a line is sent that says nothing: who is gone is noticed by it."""


class News:
    """Counts the changes of one user's memory, for whoever listens until it is closed.

    Positions of the changes feed are not for pages: they tell how much others write.
    """

    def __init__(self, ctx: ContextMiddleware, pause: float = PAUSE) -> None:
        self._ctx = ctx
        self._pause = pause
        self._closed = False
        self._lock = threading.Lock()
        self._head = -1
        self._changes = 0

    def count(self) -> int:
        """Return how often something new was seen so far."""
        return self._counted(self._ctx.position())

    def _counted(self, head: int) -> int:
        with self._lock:
            self._changes += head != self._head
            self._head = head
            return self._changes

    def close(self) -> None:
        """Let listeners go: the server ends."""
        self._closed = True

    def events(self, request: Request) -> Response:
        """Answer with every new count, from the one on that the page has seen."""
        seen = request.query_params.get("after", "")
        after = int(seen) if seen.isdecimal() and len(seen) < 19 else -1
        return StreamingResponse(self.after(after), media_type="text/event-stream")

    async def after(self, seen: int) -> AsyncIterator[str]:
        """Yield an event for every change that is noticed."""
        yield "retry: 2000\n\n"
        looks = 0
        while not self._closed:
            looks += 1
            now = self._counted(await self._ctx.aposition())
            if now != seen:
                seen = now
                yield f"data: {now}\n\n"
            elif looks % QUIET == 0:
                yield ": quiet\n\n"
            await asyncio.sleep(self._pause)

"""A memory block for LlamaIndex's `Memory`: context goes in with the history, what leaves is kept.

The native shape, for where a model cannot be wrapped. The block shows everything anew at each call,
so it knows only the last question; and it never sees an answer before it leaves the history. What
left is archived, and a note of it takes half of the block from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field

from ctxmw import Budget, ContextMiddleware, Session

from .binding import Binding
from .convert import convert
from .events import announce

log = logging.getLogger("ctxmw")


class ContextMemoryBlock(BaseMemoryBlock[str]):
    """What matters for the last question, within a budget of its own."""

    name: str = Field(default="ctxmw")
    ctx: ContextMiddleware = Field(exclude=True)
    session: str | None = None
    """The conversation, where no `with chat:` says it; without, the one of the `Memory`."""
    user: str | None = None
    budget: int = 1000
    """Tokens the block may have, frame and headings included."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        question = _last_question(messages or ())
        if question is None:
            return ""
        session = str(block_kwargs.get("session_id") or "")
        left = await self._chat(session, self.budget).forgiving().anote_of_left()
        rest = self.budget - (self.budget // 2 if left else 0)
        chat = self._chat(session, rest).forgiving()
        # It is kept when it leaves the history, in its place there.
        prepared = await chat.aprepare(convert([question]).dicts, capture=False)
        announce(prepared.context)
        await chat.abegan(prepared)
        return prepared.context.text + left

    async def _aput(self, messages: list[ChatMessage]) -> None:
        # Whatever it is: an error here would come out of somebody's chat, after its history moved.
        try:
            session = next((_session_of(message) for message in messages), "")
            chat = self._chat(session, self.budget).forgiving()
            await chat.aleave(convert(messages).dicts, limit=self.budget // 2)
        except Exception:
            log.exception("messages that left the history could not be kept")

    def _chat(self, session: str, budget: int) -> Session:
        binding = Binding(ctx=self.ctx, session=self.session, user=self.user, own=session or None)
        chat = binding.chat()
        return self.ctx.session(chat.id, user=chat.user, budget=Budget(total=budget))


def _last_question(messages: Sequence[ChatMessage]) -> ChatMessage | None:
    users = (message for message in reversed(messages) if message.role == MessageRole.USER)
    return next(users, None)


def _session_of(message: ChatMessage) -> str:
    return str(message.additional_kwargs.get("session_id") or "")

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
from pydantic import Field, PrivateAttr

from ctxmw import Budget, ContextMiddleware, InvalidValue, Session

from .binding import Binding
from .convert import convert
from .events import announce
from .turn import current_turn

log = logging.getLogger("ctxmw")


class ContextMemoryBlock(BaseMemoryBlock[str]):
    """What matters for the last question, within a budget of its own."""

    # LlamaIndex puts the text into a tag of this name: ours would stand in itself.
    name: str = Field(default="recalled")
    ctx: ContextMiddleware = Field(exclude=True)
    session: str | None = None
    """The conversation, where no `with chat:` says it; without, the one of the `Memory`."""
    user: str | None = None
    budget: int = 1000
    """Tokens the block may have, frame and headings included."""

    _told: bool = PrivateAttr(default=False)

    def __init__(self, ctx: ContextMiddleware | None = None, /, **fields: Any) -> None:
        # The memory may come first, as with everything else of ours.
        fields |= {} if ctx is None else {"ctx": ctx}
        # Errors of ours, and not pydantic's, say what is wrong and what would do.
        for name in ("session", "user"):
            if not isinstance(fields.get(name), str | None):
                raise InvalidValue(f"{name} is {fields[name]!r:.60}: give its name as text.")
        Binding(ctx=fields.get("ctx"), session=fields.get("session"), user=fields.get("user"))  # type: ignore[arg-type]
        budget = fields.get("budget", 1)
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidValue(f"budget is {budget!r:.60}: give a number of tokens, 1 or more.")
        super().__init__(**fields)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        question = _last_question(messages or ())
        if question is None:
            return ""
        session = str(block_kwargs.get("session_id") or "")
        left = await self._chat(session, self.budget).forgiving().anote_of_left()
        if self._is_beside_a_wrapper():
            return left
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
            await chat.aleave(convert(messages).dicts, limit=max(1, self.budget // 2))
        except Exception:
            log.exception("messages that left the history could not be kept")

    def _is_beside_a_wrapper(self) -> bool:
        """Say whether the engine or agent brings the same memory by itself; warn of it once."""
        turn = current_turn()
        if turn is None or not self.ctx.owns(turn.session):
            return False
        if not self._told:
            self._told = True
            log.warning(
                "ContextMemoryBlock stands beside with_context of the same memory: with_context "
                "brings what matters, and the block only a note of what left the history"
            )
        return True

    def _chat(self, session: str, budget: int) -> Session:
        binding = Binding(ctx=self.ctx, session=self.session, user=self.user, own=session or None)
        chat = binding.chat()
        return self.ctx.session(chat.id, user=chat.user, budget=Budget(total=budget))


def _last_question(messages: Sequence[ChatMessage]) -> ChatMessage | None:
    users = (message for message in reversed(messages) if message.role == MessageRole.USER)
    return next(users, None)


def _session_of(message: ChatMessage) -> str:
    return str(message.additional_kwargs.get("session_id") or "")

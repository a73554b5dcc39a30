"""One model call: prepared, sent, and answered, failed or abandoned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage

from ctxmw import ForgivingSession, Prepared, Session

from .convert import Given, as_dict, stamped


class ModelCall:
    """A call on its way. A fault of ours does not stop it, unless the memory is strict."""

    def __init__(self, chat: ForgivingSession, given: Given, prepared: Prepared) -> None:
        self._chat = chat
        self.prepared = prepared
        self.messages: list[AnyMessage] = given.back(prepared.messages)
        """What the model is sent."""
        self.placed = given.placed
        """Those of them that we changed, each with what was said in it."""

    @classmethod
    def begin(
        cls,
        session: Session,
        messages: Sequence[BaseMessage],
        said: Sequence[BaseMessage] | None = None,
    ) -> Self:
        """Prepare a call; `said` is what the messages were before others placed text in them."""
        chat, given = session.forgiving(), Given(messages, said)
        return cls(chat, given, chat.prepare(given.dicts))

    @classmethod
    async def abegin(
        cls,
        session: Session,
        messages: Sequence[BaseMessage],
        said: Sequence[BaseMessage] | None = None,
    ) -> Self:
        """Async twin of `begin`."""
        chat, given = session.forgiving(), Given(messages, said)
        return cls(chat, given, await chat.aprepare(given.dicts))

    def bound(self, names: Sequence[str]) -> list[str]:
        """Return which of an agent's tools this call offers to the model."""
        return self._chat.bound(self.prepared, names)

    async def abound(self, names: Sequence[str]) -> list[str]:
        """Async twin of `bound`."""
        return await self._chat.abound(self.prepared, names)

    def began(self, chunk: AIMessage) -> Any:
        """Say that the answer is coming; return its first chunk with the provenance on it."""
        self._chat.began(self.prepared)
        return stamped(chunk, self.prepared.context)

    async def abegan(self, chunk: AIMessage) -> Any:
        """Async twin of `began`."""
        await self._chat.abegan(self.prepared)
        return stamped(chunk, self.prepared.context)

    def answered(self, reply: AIMessage) -> Any:
        """Keep the answer; return it with its provenance on it."""
        return stamped(reply, self._chat.finish(self.prepared, as_dict(reply)))

    async def aanswered(self, reply: AIMessage) -> Any:
        """Async twin of `answered`."""
        return stamped(reply, await self._chat.afinish(self.prepared, as_dict(reply)))

    def ended(self, error: BaseException) -> None:
        """Keep that there is no answer, and why."""
        self._chat.finish(self.prepared, error=_told(error))

    async def aended(self, error: BaseException) -> None:
        """Async twin of `ended`."""
        await self._chat.afinish(self.prepared, error=_told(error))


def joined(chunks: Sequence[Any]) -> AIMessage | None:
    """Return the whole answer of a stream; None when nothing came."""
    if not chunks:
        return None
    first, *others = chunks
    if others and isinstance(first, AIMessageChunk):
        first = first + others
    return first if isinstance(first, AIMessage) else None


def _told(error: BaseException) -> str:
    """Return what a record says of the error; "" when the caller gave up (abandoned)."""
    if not isinstance(error, Exception):
        return ""
    return f"{type(error).__name__}: {error}"

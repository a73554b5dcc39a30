"""One model call: prepared, sent, and answered, failed or abandoned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage

from ctxmw import ForgivingSession, Prepared, Session

from .authors import Authors
from .convert import Given, as_dict, stamped
from .room import Room


class ModelCall:
    """A call on its way. A fault of ours does not stop it, unless the memory is strict."""

    def __init__(self, chat: ForgivingSession, given: Given, prepared: Prepared) -> None:
        self._chat = chat
        self._prepared = prepared
        self.ref = prepared.context.ref
        """The record of the call; "" when there is none."""
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
        *,
        room: Room,
        authors: Authors,
    ) -> ModelCall:
        """Prepare a call; `said` is what the messages were before others placed text in them."""
        if not messages:
            return _EmptyCall()
        chat = session.forgiving()
        given = Given(messages, said, by_application=authors.mark(messages))
        prepared = chat.prepare(given.dicts, window=room.window, tools=room.tools)
        return cls(chat, given, prepared)

    @classmethod
    async def abegin(
        cls,
        session: Session,
        messages: Sequence[BaseMessage],
        said: Sequence[BaseMessage] | None = None,
        *,
        room: Room,
        authors: Authors,
    ) -> ModelCall:
        """Async twin of `begin`."""
        if not messages:
            return _EmptyCall()
        chat = session.forgiving()
        given = Given(messages, said, by_application=authors.mark(messages))
        prepared = await chat.aprepare(given.dicts, window=room.window, tools=room.tools)
        return cls(chat, given, prepared)

    def bound(self, names: Sequence[str]) -> list[str]:
        """Return which of an agent's tools this call offers to the model."""
        return self._chat.bound(self._prepared, names)

    async def abound(self, names: Sequence[str]) -> list[str]:
        """Async twin of `bound`."""
        return await self._chat.abound(self._prepared, names)

    def in_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        """Return an agent's messages as they are after compaction; None when that is no other."""
        given = Given(state)
        return _other(state, given.back(self._chat.in_view(given.dicts)))

    async def ain_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        """Async twin of `in_view`."""
        given = Given(state)
        return _other(state, given.back(await self._chat.ain_view(given.dicts)))

    def began(self, chunk: AIMessage) -> Any:
        """Say that the answer is coming; return its first chunk with the provenance on it."""
        self._chat.began(self._prepared)
        return stamped(chunk, self._prepared.context)

    async def abegan(self, chunk: AIMessage) -> Any:
        """Async twin of `began`."""
        await self._chat.abegan(self._prepared)
        return stamped(chunk, self._prepared.context)

    def answered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        """Keep the answer; return it with its provenance on it.

        One that others may still change is captured later, when it is said again.
        """
        record = self._chat.finish(self._prepared, as_dict(reply), capture=capture)
        return stamped(reply, record)

    async def aanswered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        """Async twin of `answered`."""
        record = await self._chat.afinish(self._prepared, as_dict(reply), capture=capture)
        return stamped(reply, record)

    def ended(self, error: BaseException) -> None:
        """Keep that there is no answer, and why."""
        self._chat.finish(self._prepared, error=_told(error))

    async def aended(self, error: BaseException) -> None:
        """Async twin of `ended`."""
        await self._chat.afinish(self._prepared, error=_told(error))


class _EmptyCall(ModelCall):
    """A call without a message: nothing to prepare or keep; the model says what it makes of it."""

    def __init__(self) -> None:
        self.ref = ""
        self.messages = []
        self.placed = []

    def bound(self, names: Sequence[str]) -> list[str]:
        return list(names)

    async def abound(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def in_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        return None

    async def ain_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        return None

    def began(self, chunk: AIMessage) -> Any:
        return chunk

    async def abegan(self, chunk: AIMessage) -> Any:
        return chunk

    def answered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        return reply

    async def aanswered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        return reply

    def ended(self, error: BaseException) -> None:
        pass

    async def aended(self, error: BaseException) -> None:
        pass


def joined(chunks: Sequence[Any]) -> AIMessage | None:
    """Return the whole answer of a stream; None when nothing came."""
    if not chunks:
        return None
    first, *others = chunks
    if others and isinstance(first, AIMessageChunk):
        first = first + others
    return first if isinstance(first, AIMessage) else None


def _other(before: Sequence[BaseMessage], after: list[AnyMessage]) -> list[AnyMessage] | None:
    same = [message.content for message in before] == [message.content for message in after]
    return None if same else after


def _told(error: BaseException) -> str:
    """Return what a record says of the error; "" when the caller gave up (abandoned)."""
    if not isinstance(error, Exception):
        return ""
    return f"{type(error).__name__}: {error}"

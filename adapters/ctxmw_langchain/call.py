"""One model call: prepared, sent, and answered, failed or abandoned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage

from ctxmw import ForgivingSession, Prepared, Session

from .authors import Authors
from .convert import Given, as_dict, stamped
from .events import atell_compaction, tell_compaction
from .room import Room


class NewCall:
    """A call that is still to be prepared."""

    def __init__(
        self,
        session: Session,
        messages: Sequence[BaseMessage],
        said: Sequence[BaseMessage] | None = None,
        *,
        room: Room,
        authors: Authors,
    ) -> None:
        """`said` is what the messages were before others placed text in them."""
        self._session = session
        self._chat = session.forgiving()
        self._given = Given(messages, said, speakers=authors.mark(messages))
        self._given.bring(authors.brought(), before=authors.among_documents)
        self._given.restore(authors.originals(messages))
        asked = {
            "messages": self._given.dicts,
            "window": room.window,
            "tools": room.tools,
            "choose_tools": room.choose_tools,
        }
        self._asked: dict[str, Any] = asked if messages else {}

    def begin(self) -> ModelCall:
        """Prepare the call."""
        prepared = self._chat.prepare(**self._asked) if self._asked else None
        tell_compaction(prepared)
        return self._begun(prepared)

    async def abegin(self) -> ModelCall:
        """Async twin of `begin`."""
        prepared = await self._chat.aprepare(**self._asked) if self._asked else None
        await atell_compaction(prepared)
        return self._begun(prepared)

    def _begun(self, prepared: Prepared | None) -> ModelCall:
        if prepared is None:
            return _EmptyCall(self._session, self._chat)
        return ModelCall(self._session, self._chat, self._given, prepared)


class ModelCall:
    """A call on its way. A fault of ours does not stop it, unless the memory is strict.

    Async code has its methods made by `off_loop`.
    """

    def __init__(
        self, session: Session, chat: ForgivingSession, given: Given, prepared: Prepared
    ) -> None:
        self.session = session
        self.off_loop = chat.off_loop
        """Makes a call off the event loop."""
        self.watched = chat.watched(self.ended)
        """A block, `with` or `async with`, for what may fail: then there is no answer."""
        self._chat = chat
        self._prepared = prepared
        self.ref = prepared.context.ref
        """The record of the call; "" when there is none."""
        self.messages: list[AnyMessage] = given.back(prepared.messages)
        """What the model is sent."""
        self.placed = given.placed
        """Those of them that we changed, each with what was said in it."""

    def bound(self, tools: Sequence[Any]) -> Sequence[Any]:
        """Return those of the tools on offer that this call sends to the model."""
        return self._prepared.sent_tools(tools)

    def in_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        """Return an agent's messages as they are after compaction; None when that is no other."""
        given = Given(state)
        after = given.back(self._chat.in_view(given.dicts))
        same = [message.content for message in state] == [message.content for message in after]
        return None if same else after

    def began(self, chunk: AIMessage) -> Any:
        """Say that the answer is coming; return its first chunk with the provenance on it."""
        self._chat.began(self._prepared)
        return stamped(chunk, self._prepared.context)

    def answered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        """Keep the answer; return it with its provenance on it.

        One that others may still change is captured later, when it is said again.
        """
        record = self._chat.finish(self._prepared, as_dict(reply), capture=capture)
        return stamped(reply, record)

    def streamed(self, chunks: Sequence[Any]) -> None:
        """Keep the answer that came in chunks; when nothing came, nothing."""
        if not chunks:
            return
        first, *others = chunks
        if others and isinstance(first, AIMessageChunk):
            first = first + others
        if isinstance(first, AIMessage):
            self.answered(first)

    def ended(self, error: BaseException) -> None:
        """Keep that there is no answer, and why: "" when the caller gave up (abandoned)."""
        told = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else ""
        self._chat.finish(self._prepared, error=told)


class _EmptyCall(ModelCall):
    """A call without a message: nothing to prepare or keep; the model says what it makes of it."""

    def __init__(self, session: Session, chat: ForgivingSession) -> None:
        self.session = session
        self.off_loop = chat.off_loop
        self.watched = chat.watched(self.ended)
        self.ref = ""
        self.messages = []
        self.placed = []

    def bound(self, tools: Sequence[Any]) -> Sequence[Any]:
        return tools

    def in_view(self, state: Sequence[BaseMessage]) -> list[AnyMessage] | None:
        return None

    def began(self, chunk: AIMessage) -> Any:
        return chunk

    def answered(self, reply: AIMessage, *, capture: bool = True) -> Any:
        return reply

    def ended(self, error: BaseException) -> None:
        pass

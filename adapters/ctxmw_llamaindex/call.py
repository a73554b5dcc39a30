"""One model call: prepared before, written down after."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, MessageRole
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW

from ctxmw import ForgivingSession, Prepared, known_window

from .authors import Nobody
from .binding import Binding
from .convert import Conversion, Message, add_text, convert
from .dropped import with_dropped
from .events import announce, announce_compaction
from .turn import Turn, current_turn

if TYPE_CHECKING:
    from llama_index.core.memory import BaseMemory

    from .llm import ContextModel

_ABOUT_TOOLS = ("tools", "tool_choice", "parallel_tool_calls")
_INSIDE: ContextVar[object] = ContextVar("ctxmw_llamaindex_inside", default=None)


def is_inside(model: object) -> bool:
    """Say whether the caller is the model itself, which has its messages from us already."""
    return _INSIDE.get() is model


@contextmanager
def inside(model: object) -> Iterator[None]:
    """Mark what is called here as the model itself: `achat` of many models calls their `chat`."""
    token = _INSIDE.set(model)
    try:
        yield
    finally:
        _INSIDE.reset(token)


class NewCall:
    """A call that is still to be prepared."""

    def __init__(
        self,
        model: ContextModel,
        messages: Sequence[ChatMessage],
        system_role: MessageRole,
        tools: Sequence[Any] = (),
        *,
        choose_tools: bool = True,
    ) -> None:
        """`choose_tools`: some of the tools may be left out."""
        self._turn, self._chat = _place(model._ctxmw)
        self._model = model
        self._given = list(messages)
        self._system_role = system_role
        self._window = window_of(model.metadata)
        self._tools: dict[str, Any] = {"tools": tools, "choose_tools": choose_tools}

    def begin(self) -> ModelCall:
        """Prepare the call."""
        whole = self._memory.get_all() if self._memory is not None else []
        conversion = self._converted(whole)
        return self._begun(conversion, self._chat.prepare(**self._asked(conversion)))

    async def abegin(self) -> ModelCall:
        """Async twin of `begin`."""
        whole = await self._memory.aget_all() if self._memory is not None else []
        conversion = self._converted(whole)
        return self._begun(conversion, await self._chat.aprepare(**self._asked(conversion)))

    @property
    def _memory(self) -> BaseMemory | None:
        """The memory that holds all of the conversation, where that may be more than the prompt."""
        if self._turn is None or not self._chat.compacts(self._window):
            return None
        return self._turn.memory

    def _converted(self, whole: Sequence[ChatMessage]) -> Conversion:
        asked = self._turn.asked if self._turn else ""
        messages = with_dropped(self._given, whole, asked) if whole else self._given
        return _converted(self._turn, messages, self._system_role)

    def _asked(self, conversion: Conversion) -> dict[str, Any]:
        return {
            "messages": conversion.dicts,
            "window": self._window,
            "capture": self._turn is not None,
            **self._tools,
        }

    def _begun(self, conversion: Conversion, prepared: Prepared) -> ModelCall:
        announce(prepared.context)
        announce_compaction(prepared.compaction)
        if self._turn:
            self._turn.note(prepared.context)
        return ModelCall(
            model=self._model,
            chat=self._chat,
            turn=self._turn,
            prepared=prepared,
            conversion=conversion,
            given=tuple(self._given),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call on its way: a bare model's is recorded, a turn's is the turn's to end.

    Async code has its methods made by `chat.off_loop`.
    """

    model: object
    chat: ForgivingSession
    turn: Turn | None
    prepared: Prepared
    conversion: Conversion
    given: tuple[ChatMessage, ...]
    """What the model was called with."""

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages for the model."""
        if self.prepared.context.degraded and len(self.conversion.dicts) > len(self.given):
            # Without us nothing is compacted: then what the buffer left has to do.
            return list(self.given)
        return self.conversion.back(self.prepared.messages)

    def bound(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return a call's arguments with those of its tools that go with it."""
        tools = kwargs.get("tools")
        bound = self.prepared.sent_tools(tools) if tools else []
        if bound or not tools:
            return {**kwargs, "tools": bound} if tools else kwargs
        # Providers refuse an empty list of tools, and what is said about its use.
        return {name: value for name, value in kwargs.items() if name not in _ABOUT_TOOLS}

    def prompt(self, given: str) -> str:
        """Return the prompt for a model that completes text: the blocks, then what was given."""
        *before, last = self.prepared.messages
        opening = "".join(f"{message['content']}\n" for message in before)
        return opening + add_text(str(self.conversion.dicts[-1]["content"]), last["content"], given)

    def began(self) -> None:
        """Say that the answer is coming: what waited to be shown has arrived."""
        if self.prepared.context.entries:
            self.chat.began(self.prepared)

    def answered(self, reply: Message) -> None:
        """Write down the answer, or leave it to the turn."""
        if self.turn and self.turn.keep(self.prepared, reply):
            self.began()
            return
        self.chat.finish(self.prepared, reply, capture=self.turn is not None)

    def streamed(self, reply: Message | None) -> None:
        """Write down the answer of a stream that is over; None when nothing came."""
        if reply is None:
            self.chat.finish(self.prepared)
        else:
            self.answered(reply)

    def ended(self, error: BaseException) -> None:
        """Write down that the call failed, unless the caller has simply had enough."""
        gone = isinstance(error, GeneratorExit | asyncio.CancelledError)
        told = "" if gone else f"{type(error).__name__}: {error}"
        self.chat.finish(self.prepared, error=told)


def window_of(metadata: LLMMetadata) -> int | None:
    """Return the model's window, where it is known: 3,900 is what LlamaIndex says of any other."""
    if metadata.context_window != DEFAULT_CONTEXT_WINDOW:
        return metadata.context_window
    return known_window(metadata.model_name)


def _place(binding: Binding) -> tuple[Turn | None, ForgivingSession]:
    turn, chat = current_turn(), binding.chat()
    # Inside of a turn its conversation is the current one, unless somebody entered another since.
    if turn and binding.ctx.owns(turn.session) and turn.is_of(chat):
        return turn, turn.chat
    return None, chat.forgiving()


def _converted(
    turn: Turn | None, messages: Sequence[ChatMessage], system_role: MessageRole
) -> Conversion:
    if turn is None:
        # What a bare model is asked may be anything: nobody is known to have said it.
        return convert(messages, system_role=system_role, said_by=Nobody())
    return convert(
        messages, asked=turn.asked, system_role=system_role, said_by=turn, failed=turn.failed
    )

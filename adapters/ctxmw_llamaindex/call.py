"""One model call: prepared before, written down after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, MessageRole
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW

from ctxmw import ForgivingSession, Prepared, known_window

from .authors import Nobody
from .binding import Binding
from .convert import Conversion, Message, add_text, convert
from .events import announce
from .turn import Turn, current_turn

if TYPE_CHECKING:
    from .llm import ContextModel

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call on its way: a bare model's is recorded, a turn's is the turn's to end."""

    model: object
    chat: ForgivingSession
    turn: Turn | None
    prepared: Prepared
    conversion: Conversion

    @classmethod
    def begin(
        cls,
        model: ContextModel,
        messages: Sequence[ChatMessage],
        system_role: MessageRole,
        tools: Sequence[Any] = (),
    ) -> Self:
        """Prepare a call."""
        turn, chat = _place(model._ctxmw)
        conversion = _converted(turn, messages, system_role)
        window = window_of(model.metadata)
        prepared = chat.prepare(
            conversion.dicts, window=window, tools=tools, capture=turn is not None
        )
        call = cls(model=model, chat=chat, turn=turn, prepared=prepared, conversion=conversion)
        return call._announced()

    @classmethod
    async def abegin(
        cls,
        model: ContextModel,
        messages: Sequence[ChatMessage],
        system_role: MessageRole,
        tools: Sequence[Any] = (),
    ) -> Self:
        """Async twin of `begin`."""
        turn, chat = _place(model._ctxmw)
        conversion = _converted(turn, messages, system_role)
        window = window_of(model.metadata)
        prepared = await chat.aprepare(
            conversion.dicts, window=window, tools=tools, capture=turn is not None
        )
        call = cls(model=model, chat=chat, turn=turn, prepared=prepared, conversion=conversion)
        return call._announced()

    def _announced(self) -> Self:
        announce(self.prepared.context)
        if self.turn:
            self.turn.note(self.prepared.context)
        return self

    @property
    def messages(self) -> list[ChatMessage]:
        """The messages for the model."""
        return self.conversion.back(self.prepared.messages)

    def prompt(self, given: str) -> str:
        """Return the prompt for a model that completes text: the blocks, then what was given."""
        *before, last = self.prepared.messages
        opening = "".join(f"{message['content']}\n" for message in before)
        return opening + add_text(str(self.conversion.dicts[-1]["content"]), last["content"], given)

    def began(self) -> None:
        """Say that the answer is coming: what waited to be shown has arrived."""
        if self.prepared.context.entries:
            self.chat.began(self.prepared)

    async def abegan(self) -> None:
        """Async twin of `began`."""
        if self.prepared.context.entries:
            await self.chat.abegan(self.prepared)

    def answered(self, reply: Message) -> None:
        """Write down the answer, or leave it to the turn."""
        if self.turn and self.turn.keep(self.prepared, reply):
            self.began()
            return
        self.chat.finish(self.prepared, reply, capture=self.turn is not None)

    async def aanswered(self, reply: Message) -> None:
        """Async twin of `answered`."""
        if self.turn and self.turn.keep(self.prepared, reply):
            await self.abegan()
            return
        await self.chat.afinish(self.prepared, reply, capture=self.turn is not None)

    def ended(self, error: BaseException | None) -> None:
        """Write down that the call failed; without an error, that nobody wanted the rest."""
        self.chat.finish(self.prepared, error=_told(error))

    async def aended(self, error: BaseException | None) -> None:
        """Async twin of `ended`."""
        await self.chat.afinish(self.prepared, error=_told(error))


def window_of(metadata: LLMMetadata) -> int | None:
    """Return the model's window, where it is known: 3,900 is what LlamaIndex says of any other."""
    if metadata.context_window != DEFAULT_CONTEXT_WINDOW:
        return metadata.context_window
    return known_window(metadata.model_name)


def _place(binding: Binding) -> tuple[Turn | None, ForgivingSession]:
    turn = current_turn()
    if turn and binding.ctx.owns(turn.session):
        return turn, turn.chat
    return None, binding.chat().forgiving()


def _converted(
    turn: Turn | None, messages: Sequence[ChatMessage], system_role: MessageRole
) -> Conversion:
    if turn is None:
        # What a bare model is asked may be anything: nobody is known to have said it.
        return convert(messages, system_role=system_role, said_by=Nobody())
    return convert(messages, asked=turn.asked, system_role=system_role, said_by=turn)


def _told(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}" if error else ""

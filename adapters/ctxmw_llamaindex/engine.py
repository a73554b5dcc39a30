"""A chat engine with a memory: each chat is a turn of a conversation."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine, SimpleChatEngine
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.llms import LLM
from llama_index.core.response_synthesizers import BaseSynthesizer

from ctxmw import InvalidValue, Session

from .binding import Binding
from .histories import CLAIM, Who, claim, history_of
from .llm import ContextModel
from .turn import Turn
from .wrapping import wrapped

if TYPE_CHECKING:
    from llama_index.core.chat_engine.types import BaseChatEngine
    from llama_index.core.memory import BaseMemory
else:
    BaseChatEngine = object

E = TypeVar("E")


class ContextEngine(BaseChatEngine):
    """What `with_context` adds to the class of a chat engine."""

    if TYPE_CHECKING:
        _ctxmw: Binding
        _ctxmw_history_of: Who | None

    def unwrap(self) -> BaseChatEngine:
        """Return the engine that was wrapped."""
        original: BaseChatEngine = self._ctxmw.original
        return original

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The messages of the conversation that is current."""
        return self._at(self._ctxmw.chat()).chat_history

    def reset(self) -> None:
        """Forget the messages of the conversation that is current; the memory stays."""
        self._at(self._ctxmw.chat()).reset()

    def chat(self, message: str, *args: Any, **kwargs: Any) -> Any:
        engine, turn = self._turn(message)
        with turn.watched, turn.entered():
            response = engine.chat(message, *args, **kwargs)
        turn.finish(str(response))
        return _with_metadata(response, turn)

    async def achat(self, message: str, *args: Any, **kwargs: Any) -> Any:
        engine, turn = self._turn(message)
        async with turn.watched:
            with turn.entered():
                response = await engine.achat(message, *args, **kwargs)
        await turn.chat.off_loop(turn.finish, str(response))
        return _with_metadata(response, turn)

    def stream_chat(self, message: str, *args: Any, **kwargs: Any) -> StreamingAgentChatResponse:
        engine, turn = self._turn(message)
        with turn.watched, turn.entered():
            response = engine.stream_chat(message, *args, **kwargs)
        # Whoever reads the stream to its end waits for this thread, and so for the record.
        writer = response.write_response_to_history_thread
        follower = Thread(target=_follow, args=(response, writer, turn), name="ctxmw-follower")
        response.write_response_to_history_thread = follower
        follower.start()
        return _with_metadata(response, turn)

    async def astream_chat(
        self, message: str, *args: Any, **kwargs: Any
    ) -> StreamingAgentChatResponse:
        engine, turn = self._turn(message)
        async with turn.watched:
            with turn.entered():
                response = await engine.astream_chat(message, *args, **kwargs)
        writer = response.awrite_response_to_history_task
        follower = asyncio.create_task(_afollow(response, writer, turn))
        response.awrite_response_to_history_task = follower
        return _with_metadata(response, turn)

    def _turn(self, message: Any) -> tuple[BaseChatEngine, Turn]:
        chat = self._ctxmw.chat()
        before = [_text(one) for one in getattr(self, "_prefix_messages", None) or ()]
        turn = Turn(
            chat,
            _text(message),
            name=type(self._ctxmw.original).__name__,
            around=before,
            # Every engine but this one retrieves; what others do cannot be known.
            among_documents=not isinstance(self._ctxmw.original, SimpleChatEngine),
        )
        turn.memory = self._history(chat)
        return self._at(chat), turn

    def _at(self, chat: Session) -> BaseChatEngine:
        """Return the engine as it is in a conversation."""
        engine: Any = copy.copy(self)
        engine._memory = self._history(chat)
        return cast("BaseChatEngine", super(ContextEngine, engine))

    def _history(self, chat: Session) -> BaseMemory:
        return history_of(chat, cast("Any", self)._memory, self._ctxmw_history_of)


def wrap_engine(engine: BaseChatEngine, binding: Binding) -> BaseChatEngine:
    """Return the engine with a memory; the model that answers is wrapped, no other."""
    twin = wrapped(engine, ContextEngine, binding)
    if isinstance(engine, CondenseQuestionChatEngine):
        # Its own model only condenses; the query engine's model answers.
        vars(twin)["_query_engine"] = _with_model(engine._query_engine, binding)
        return _with_history(twin, binding)
    names = [name for name in _MODELS if isinstance(getattr(engine, name, None), LLM)]
    if not names:
        kind = type(engine).__name__
        raise InvalidValue(
            f"{kind} has no model that can be reached: build it with a wrapped model, "
            "with_context(llm, ctx), and chat inside `with chat:`."
        )
    for name in names:
        setattr(twin, name, wrap_model(getattr(engine, name), binding))
    return _with_history(twin, binding)


def wrap_model(model: LLM, binding: Binding) -> LLM:
    """Return the model with a memory; one that has a memory already gets this one instead."""
    bare = model.unwrap() if isinstance(model, ContextModel) else model
    return wrapped(bare, ContextModel, replace(binding, original=bare))


_MODELS = ("_llm", "_multi_modal_llm")


def _with_history(twin: BaseChatEngine, binding: Binding) -> BaseChatEngine:
    vars(twin)[CLAIM] = claim(binding.original, binding)
    return twin


def _with_model(engine: BaseQueryEngine, binding: Binding) -> BaseQueryEngine:
    """Return a copy of a query engine whose answers come from a wrapped model."""
    twin = copy.copy(engine)
    parts = vars(twin)
    if isinstance(parts.get("_query_engine"), BaseQueryEngine):
        parts["_query_engine"] = _with_model(parts["_query_engine"], binding)
    elif isinstance(parts.get("_response_synthesizer"), BaseSynthesizer):
        parts["_response_synthesizer"] = _synthesizer(parts["_response_synthesizer"], binding)
    elif not any(isinstance(part, ContextModel) for part in parts.values()):
        kind = type(engine).__name__
        raise InvalidValue(
            f"the model of a {kind} cannot be reached: build the query engine with a wrapped "
            "model, with_context(llm, ctx)."
        )
    return twin


def _synthesizer(synthesizer: BaseSynthesizer, binding: Binding) -> BaseSynthesizer:
    twin = copy.copy(synthesizer)
    twin._llm = wrap_model(synthesizer._llm, binding)
    for name, value in list(vars(twin).items()):
        # Methods it keeps of itself are bound to the original, and to its model.
        if getattr(value, "__self__", None) is synthesizer:
            setattr(twin, name, value.__func__.__get__(twin))
    return twin


def _follow(response: StreamingAgentChatResponse, writer: Thread | None, turn: Turn) -> None:
    if writer is not None:
        writer.join()
    if response.exception is None:
        turn.finish(response.response)
    else:
        turn.fail()


async def _afollow(
    response: StreamingAgentChatResponse, writer: asyncio.Task[Any] | None, turn: Turn
) -> None:
    async with turn.watched:
        if writer is not None:
            await writer
    await turn.chat.off_loop(turn.finish, response.response)


def _with_metadata(response: E, turn: Turn) -> E:
    known = getattr(response, "metadata", None) or {}
    response.metadata = {**known, "ctxmw": turn.metadata}  # type: ignore[attr-defined]
    return response


def _text(message: Any) -> str:
    return message if isinstance(message, str) else str(getattr(message, "content", "") or "")

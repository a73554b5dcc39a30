"""A model that prepares its calls: the same class as before, with a memory.

Every engine and agent reaches its model through the methods here, so this is where context goes
in. What a model is called with inside a prepared call is left alone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, TypeVar, cast

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    MessageRole,
)

from .call import ModelCall, NewCall, inside, is_inside
from .convert import Message, reply_of
from .events import dispatcher

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from .binding import Binding
else:
    # A mixin for subclasses of the model's own class, which bring the base.
    LLM = object

Chunk = TypeVar("Chunk", ChatResponse, CompletionResponse)


class ContextModel(LLM):
    """What `with_context` adds to the class of a model."""

    if TYPE_CHECKING:
        _ctxmw: Binding

    def unwrap(self) -> LLM:
        """Return the model that was wrapped."""
        original: LLM = self._ctxmw.original
        return original

    @dispatcher.span
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        model = cast("LLM", super())
        if is_inside(self):
            return model.chat(messages, **kwargs)
        call = self._new_chat(messages, kwargs).begin()
        with call.chat.watched(call.ended), inside(self):
            response = model.chat(call.messages, **call.bound(kwargs))
        call.answered(reply_of(response.message))
        return response

    @dispatcher.span
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        model = cast("LLM", super())
        if is_inside(self):
            return await model.achat(messages, **kwargs)
        call = await self._new_chat(messages, kwargs).abegin()
        async with call.chat.watched(call.ended):
            with inside(self):
                response = await model.achat(call.messages, **call.bound(kwargs))
        await call.chat.off_loop(call.answered, reply_of(response.message))
        return response

    @dispatcher.span
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        model = cast("LLM", super())
        if is_inside(self):
            return model.stream_chat(messages, **kwargs)
        call = self._new_chat(messages, kwargs).begin()
        with call.chat.watched(call.ended), inside(self):
            stream = model.stream_chat(call.messages, **call.bound(kwargs))
        return _streamed(call, stream, _said)

    @dispatcher.span
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        model = cast("LLM", super())
        if is_inside(self):
            return await model.astream_chat(messages, **kwargs)
        call = await self._new_chat(messages, kwargs).abegin()
        async with call.chat.watched(call.ended):
            with inside(self):
                stream = await model.astream_chat(call.messages, **call.bound(kwargs))
        return _astreamed(call, stream, _said)

    @dispatcher.span
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return model.complete(prompt, formatted=formatted, **kwargs)
        call = self._new_completion(prompt).begin()
        with call.chat.watched(call.ended), inside(self):
            response = model.complete(call.prompt(prompt), formatted=True, **kwargs)
        call.answered(_completed(response, ""))
        return response

    @dispatcher.span
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return await model.acomplete(prompt, formatted=formatted, **kwargs)
        call = await self._new_completion(prompt).abegin()
        async with call.chat.watched(call.ended):
            with inside(self):
                response = await model.acomplete(call.prompt(prompt), formatted=True, **kwargs)
        await call.chat.off_loop(call.answered, _completed(response, ""))
        return response

    @dispatcher.span
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return model.stream_complete(prompt, formatted=formatted, **kwargs)
        call = self._new_completion(prompt).begin()
        with call.chat.watched(call.ended), inside(self):
            stream = model.stream_complete(call.prompt(prompt), formatted=True, **kwargs)
        return _streamed(call, stream, _completed)

    @dispatcher.span
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return await model.astream_complete(prompt, formatted=formatted, **kwargs)
        call = await self._new_completion(prompt).abegin()
        async with call.chat.watched(call.ended):
            with inside(self):
                stream = await model.astream_complete(call.prompt(prompt), formatted=True, **kwargs)
        return _astreamed(call, stream, _completed)

    def _is_answering(self, formatted: bool) -> bool:
        # Engines condense and rewrite with unformatted prompts: those are no turns. A chat model
        # that completes does so to the same end, as its answers come through chat.
        return formatted and not self.metadata.is_chat_model and not is_inside(self)

    def _new_chat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> NewCall:
        tools = list(kwargs.get("tools") or ())
        free = kwargs.get("tool_choice") in (None, "", "auto", "none")
        return NewCall(self, messages, self.metadata.system_role, tools, choose_tools=free)

    def _new_completion(self, prompt: str) -> NewCall:
        return NewCall(self, [ChatMessage(content=prompt)], MessageRole.SYSTEM)


def _streamed(
    call: ModelCall,
    stream: Generator[Chunk, None, None],
    reply: Callable[[Chunk, str], Message],
) -> Generator[Chunk, None, None]:
    last, told = None, ""
    with closing(stream), call.chat.watched(call.ended):
        # Some models start their work with the first step, and call themselves there.
        while (chunk := _next(call, stream)) is not None:
            if last is None:
                call.began()
            last, told = chunk, told + (chunk.delta or "")
            yield chunk
    call.streamed(None if last is None else reply(last, told))


async def _astreamed(
    call: ModelCall,
    stream: AsyncGenerator[Chunk, None],
    reply: Callable[[Chunk, str], Message],
) -> AsyncGenerator[Chunk, None]:
    last, told = None, ""
    async with aclosing(stream), call.chat.watched(call.ended):
        while (chunk := await _anext(call, stream)) is not None:
            if last is None:
                await call.chat.off_loop(call.began)
            last, told = chunk, told + (chunk.delta or "")
            yield chunk
    await call.chat.off_loop(call.streamed, None if last is None else reply(last, told))


def _next(call: ModelCall, stream: Generator[Chunk, None, None]) -> Chunk | None:
    with inside(call.model):
        return next(stream, None)


async def _anext(call: ModelCall, stream: AsyncGenerator[Chunk, None]) -> Chunk | None:
    with inside(call.model):
        return await anext(stream, None)


def _said(last: ChatResponse, told: str) -> Message:
    return reply_of(last.message, text=last.message.content or told)


def _completed(last: CompletionResponse, told: str) -> Message:
    return {"role": "assistant", "content": last.text or told}

"""A model that prepares its calls: the same class as before, with a memory.

Every engine and agent reaches its model through the methods here, so this is where context goes
in. What a model is called with inside a prepared call is left alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
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

from .call import ModelCall, inside, is_inside
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
        call = ModelCall.begin(self, messages, self.metadata.system_role, _tools(kwargs))
        with _watched(call):
            response = model.chat(call.messages, **kwargs)
        call.answered(reply_of(response.message))
        return response

    @dispatcher.span
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        model = cast("LLM", super())
        if is_inside(self):
            return await model.achat(messages, **kwargs)
        call = await ModelCall.abegin(self, messages, self.metadata.system_role, _tools(kwargs))
        async with _awatched(call):
            response = await model.achat(call.messages, **kwargs)
        await call.aanswered(reply_of(response.message))
        return response

    @dispatcher.span
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        model = cast("LLM", super())
        if is_inside(self):
            return model.stream_chat(messages, **kwargs)
        call = ModelCall.begin(self, messages, self.metadata.system_role, _tools(kwargs))
        with _watched(call):
            stream = model.stream_chat(call.messages, **kwargs)
        return _streamed(call, stream, _said)

    @dispatcher.span
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        model = cast("LLM", super())
        if is_inside(self):
            return await model.astream_chat(messages, **kwargs)
        call = await ModelCall.abegin(self, messages, self.metadata.system_role, _tools(kwargs))
        async with _awatched(call):
            stream = await model.astream_chat(call.messages, **kwargs)
        return _astreamed(call, stream, _said)

    @dispatcher.span
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return model.complete(prompt, formatted=formatted, **kwargs)
        call = ModelCall.begin(self, [ChatMessage(content=prompt)], _USUAL)
        with _watched(call):
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
        call = await ModelCall.abegin(self, [ChatMessage(content=prompt)], _USUAL)
        async with _awatched(call):
            response = await model.acomplete(call.prompt(prompt), formatted=True, **kwargs)
        await call.aanswered(_completed(response, ""))
        return response

    @dispatcher.span
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return model.stream_complete(prompt, formatted=formatted, **kwargs)
        call = ModelCall.begin(self, [ChatMessage(content=prompt)], _USUAL)
        with _watched(call):
            stream = model.stream_complete(call.prompt(prompt), formatted=True, **kwargs)
        return _streamed(call, stream, _completed)

    @dispatcher.span
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        model = cast("LLM", super())
        if not self._is_answering(formatted):
            return await model.astream_complete(prompt, formatted=formatted, **kwargs)
        call = await ModelCall.abegin(self, [ChatMessage(content=prompt)], _USUAL)
        async with _awatched(call):
            stream = await model.astream_complete(call.prompt(prompt), formatted=True, **kwargs)
        return _astreamed(call, stream, _completed)

    def _is_answering(self, formatted: bool) -> bool:
        # Engines condense and rewrite with unformatted prompts: those are no turns. A chat model
        # that completes does so to the same end, as its answers come through chat.
        return formatted and not self.metadata.is_chat_model and not is_inside(self)


_USUAL = MessageRole.SYSTEM


@contextmanager
def _watched(call: ModelCall) -> Iterator[None]:
    try:
        with inside(call.model):
            yield
    except BaseException as error:
        call.ended(_fault(error))
        raise


@asynccontextmanager
async def _awatched(call: ModelCall) -> AsyncIterator[None]:
    try:
        with inside(call.model):
            yield
    except BaseException as error:
        await call.aended(_fault(error))
        raise


def _streamed(
    call: ModelCall,
    stream: Generator[Chunk, None, None],
    reply: Callable[[Chunk, str], Message],
) -> Generator[Chunk, None, None]:
    last, told = None, ""
    try:
        # Some models start their work with the first step, and call themselves there.
        while (chunk := _next(call, stream)) is not None:
            if last is None:
                call.began()
            last, told = chunk, told + (chunk.delta or "")
            yield chunk
    except BaseException as error:
        call.ended(_fault(error))
        raise
    finally:
        stream.close()
    if last is None:
        call.ended(None)
    else:
        call.answered(reply(last, told))


async def _astreamed(
    call: ModelCall,
    stream: AsyncGenerator[Chunk, None],
    reply: Callable[[Chunk, str], Message],
) -> AsyncGenerator[Chunk, None]:
    last, told = None, ""
    try:
        while (chunk := await _anext(call, stream)) is not None:
            if last is None:
                await call.abegan()
            last, told = chunk, told + (chunk.delta or "")
            yield chunk
    except BaseException as error:
        await call.aended(_fault(error))
        raise
    finally:
        await stream.aclose()
    if last is None:
        await call.aended(None)
    else:
        await call.aanswered(reply(last, told))


def _next(call: ModelCall, stream: Generator[Chunk, None, None]) -> Chunk | None:
    with inside(call.model):
        return next(stream, None)


async def _anext(call: ModelCall, stream: AsyncGenerator[Chunk, None]) -> Chunk | None:
    with inside(call.model):
        return await anext(stream, None)


def _tools(kwargs: dict[str, Any]) -> list[Any]:
    """Return the schemas of the tools that a call offers."""
    return list(kwargs.get("tools") or ())


def _fault(error: BaseException) -> BaseException | None:
    """Return the error, unless the caller has simply had enough."""
    return None if isinstance(error, GeneratorExit | asyncio.CancelledError) else error


def _said(last: ChatResponse, told: str) -> Message:
    return reply_of(last.message, text=last.message.content or told)


def _completed(last: CompletionResponse, told: str) -> Message:
    return {"role": "assistant", "content": last.text or told}

"""Watches LangChain's typed event stream ("v3"), which hands out a stream object and no chunks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from .call import ModelCall


class Watch(BaseCallbackHandler):
    """Keeps how one call ends."""

    raise_error = True
    """What a strict memory raises is the caller's to see."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self._call.answered(_reply(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._call.ended(error)


class AsyncWatch(AsyncCallbackHandler):
    """Async twin of `Watch`."""

    raise_error = True

    def __init__(self, call: ModelCall) -> None:
        self._call = call

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        await self._call.off_loop(self._call.answered, _reply(response))

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        await self._call.off_loop(self._call.ended, error)


def _reply(response: LLMResult) -> AIMessage:
    (generation,) = response.generations[0]
    assert isinstance(generation, ChatGeneration)
    assert isinstance(generation.message, AIMessage)
    return generation.message

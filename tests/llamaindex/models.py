"""A model that answers from a script and keeps what it was sent, chat by chat."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from pydantic import PrivateAttr

REPLY = "It verifies the token."


def calling(name: str, args: dict[str, Any], call_id: str = "call_1") -> ChatMessage:
    """An answer that calls one tool."""
    block = ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=args)
    return ChatMessage(role="assistant", blocks=[block])


class RecordingLLM(FunctionCallingLLM):
    """Answers in the order of its script (an exception is raised), then with `otherwise`."""

    otherwise: str = REPLY
    window: int = 100_000
    _script: list[Any] = PrivateAttr(default_factory=list)
    _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)
    _given: list[Sequence[ChatMessage]] = PrivateAttr(default_factory=list)
    _completed: list[str] = PrivateAttr(default_factory=list)
    _answer: Callable[[Sequence[ChatMessage]], Any] | None = PrivateAttr(default=None)

    def __init__(self, script: Sequence[Any] = (), answer: Any = None, **fields: Any) -> None:
        super().__init__(**fields)
        self._script = list(script)
        self._answer = answer

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        return self._prompts

    @property
    def given(self) -> list[Sequence[ChatMessage]]:
        """The very lists it was called with."""
        return self._given

    @property
    def completed(self) -> list[str]:
        return self._completed

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.window, is_chat_model=True, is_function_calling_model=True
        )

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        self._given.append(messages)
        self._prompts.append(copy.deepcopy(list(messages)))
        said = self._script.pop(0) if self._script else self.otherwise
        if self._answer is not None:
            said = self._answer(messages)
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, ChatMessage):
            return said
        return ChatMessage(role=MessageRole.ASSISTANT, content=said)

    def _chunks(self, messages: Sequence[ChatMessage]):
        reply = self._next(messages)
        told = ""
        for word in (reply.content or "").split(" "):
            told = f"{told} {word}" if told else word
            delta = word if told == word else f" {word}"
            blocks = [TextBlock(text=told)]
            yield ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), delta=delta)
        if any(isinstance(block, ToolCallBlock) for block in reply.blocks):
            yield ChatResponse(message=reply, delta="")

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        return ChatResponse(message=self._next(messages))

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        return self._chunks(messages)

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        return ChatResponse(message=self._next(messages))

    @llm_chat_callback()
    async def astream_chat(self, messages, **kwargs):
        async def gen():
            for chunk in self._chunks(messages):
                yield chunk

        return gen()

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        self._completed.append(prompt)
        return CompletionResponse(text=prompt.splitlines()[-1])

    @llm_completion_callback()
    async def acomplete(self, prompt, formatted=False, **kwargs):
        self._completed.append(prompt)
        return CompletionResponse(text=prompt.splitlines()[-1])

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError

    @llm_completion_callback()
    async def astream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs):
        said = [ChatMessage(content=user_msg)] if isinstance(user_msg, str) else [user_msg]
        return {"messages": [*(chat_history or []), *(said if user_msg else [])]}

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        blocks = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(
                tool_id=block.tool_call_id or "",
                tool_name=block.tool_name,
                tool_kwargs=dict(block.tool_kwargs),
            )
            for block in blocks
        ]


class CompletingLLM(CustomLLM):
    """A model that only completes text; its async and chat methods call its own others."""

    _prompts: list[str] = PrivateAttr(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, is_chat_model=False)

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        self._prompts.append(prompt)
        return CompletionResponse(text=REPLY)

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        # A generator: nothing runs before the first step.
        self._prompts.append(prompt)
        told = ""
        for word in REPLY.split(" "):
            told = f"{told} {word}".strip()
            yield CompletionResponse(text=told, delta=f"{word} ")

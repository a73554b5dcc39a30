"""A model that answers from a list: it takes the place of yours, so that examples run offline."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM


def scripted(*answers: str | ChatMessage) -> MockFunctionCallingLLM:
    """Return a model that gives these answers, one after the other."""
    given = iter(answers)

    def answer(*_: Any, **__: Any) -> ChatMessage:
        said = next(given)
        return (
            said if isinstance(said, ChatMessage) else ChatMessage(role="assistant", content=said)
        )

    return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)


def calling(tool: str, **arguments: Any) -> ChatMessage:
    """Return an answer that calls a tool."""
    call = ToolCallBlock(tool_call_id="call_1", tool_name=tool, tool_kwargs=arguments)
    return ChatMessage(role="assistant", blocks=[call])

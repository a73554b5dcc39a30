"""A chat model that answers from a script and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

REPLY = "It verifies the token."


def calling(name: str, args: dict[str, Any], call_id: str = "call_1") -> AIMessage:
    """An answer that calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id}])


class RecordingModel(BaseChatModel):
    """Answers in the order of its script (an exception is raised), then always with `otherwise`."""

    script: list[Any] = Field(default_factory=list)
    otherwise: Any = REPLY
    answer: Callable[[list[BaseMessage]], str] | None = None
    prompts: list[list[BaseMessage]] = Field(default_factory=list, repr=False)
    options: list[dict[str, Any]] = Field(default_factory=list, repr=False)

    @property
    def _llm_type(self) -> str:
        return "recording"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def texts(self) -> list[str]:
        """Every prompt as one text."""
        return ["\n".join(str(message.content) for message in sent) for sent in self.prompts]

    def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        self.prompts.append(list(messages))
        self.options.append(options)
        given = self.script.pop(0) if self.script else self.otherwise
        if isinstance(given, BaseException):
            raise given
        if self.answer is not None:
            given = self.answer(messages)
        return given if isinstance(given, AIMessage) else AIMessage(given)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        reply = self._next(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=reply.model_copy())])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs) -> Iterator[Any]:
        reply = self._next(messages, kwargs)
        for word in str(reply.content).split(" ") if reply.content else []:
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))
        for at, call in enumerate(reply.tool_calls):
            said = json.dumps(call["args"])
            for name, id_, piece in ((call["name"], call["id"], said[:3]), (None, None, said[3:])):
                part = {"name": name, "id": id_, "args": piece, "index": at}
                yield ChatGenerationChunk(
                    message=AIMessageChunk(
                        "", tool_call_chunks=[{**part, "type": "tool_call_chunk"}]
                    )
                )

"""Models that say what they are told to, and keep what they were sent: one for each framework."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from pydantic import Field, PrivateAttr

Say = str | list[tuple[str, dict[str, Any]]]
"""What a model says: text, or calls of tools with their arguments."""
Sent = tuple[list[dict[str, Any]], list[Any]]
"""A prompt as it went out: messages with role, text, calls and call id; and the tools."""


class LangChainStandIn(BaseChatModel):
    """Says what is in `script`, the first first."""

    script: list[Any] = Field(default_factory=list)
    sent: list[Any] = Field(default_factory=list, repr=False)
    made: int = 0

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], *_: Any, tools: Sequence[Any] = (), **__: Any
    ) -> ChatResult:
        self.sent.append(([_plain(message) for message in messages], list(tools)))
        said: Say = self.script.pop(0)
        reply = AIMessage(said) if isinstance(said, str) else AIMessage("", tool_calls=[])
        for name, args in said if isinstance(said, list) else ():
            self.made += 1
            reply.tool_calls.append(
                {"name": name, "args": args, "id": f"call_{self.made}", "type": "tool_call"}
            )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _plain(message: BaseMessage) -> dict[str, Any]:
    roles = {"human": "user", "ai": "assistant"}
    plain: dict[str, Any] = {
        "role": roles.get(message.type, message.type),
        "content": str(message.text),
    }
    if calls := getattr(message, "tool_calls", None):
        plain["tool_calls"] = calls
    if called := getattr(message, "tool_call_id", None):
        plain["tool_call_id"] = called
    return plain


class LlamaIndexStandIn(FunctionCallingLLM):
    """The same for LlamaIndex."""

    window: int = 100_000
    _script: list[Any] = PrivateAttr(default_factory=list)
    _sent: list[Sent] = PrivateAttr(default_factory=list)
    _made: list[int] = PrivateAttr(default_factory=list)

    @property
    def script(self) -> list[Any]:
        """What it says next."""
        return self._script

    @property
    def sent(self) -> list[Sent]:
        """What it was sent."""
        return self._sent

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.window, is_chat_model=True, is_function_calling_model=True
        )

    def _said(self, messages: Sequence[ChatMessage], tools: Sequence[Any]) -> ChatResponse:
        self._sent.append(([_plain_of(one) for one in copy.deepcopy(list(messages))], list(tools)))
        said: Say = self._script.pop(0)
        blocks: list[Any] = [TextBlock(text=said)] if isinstance(said, str) else []
        for name, args in said if isinstance(said, list) else ():
            self._made.append(0)
            id_ = f"call_{len(self._made)}"
            blocks.append(ToolCallBlock(tool_call_id=id_, tool_name=name, tool_kwargs=args))
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks))

    @llm_chat_callback()
    def chat(self, messages: Any, tools: Any = (), **kwargs: Any) -> Any:
        return self._said(messages, tools)

    @llm_chat_callback()
    async def achat(self, messages: Any, tools: Any = (), **kwargs: Any) -> Any:
        return self._said(messages, tools)

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_chat(self, messages: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return CompletionResponse(text="")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return CompletionResponse(text="")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        said = [ChatMessage(content=user_msg)] if isinstance(user_msg, str) else [user_msg]
        messages = [*(chat_history or []), *(said if user_msg else [])]
        return {"messages": messages, "tools": [one.metadata.to_openai_tool() for one in tools]}

    def get_tool_calls_from_response(
        self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=block.tool_call_id or "",
                tool_name=block.tool_name,
                tool_kwargs=dict(block.tool_kwargs),
            )
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]


def _plain_of(message: ChatMessage) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role.value, "content": message.content or ""}
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if calls:
        plain["tool_calls"] = [
            {"id": one.tool_call_id, "name": one.tool_name, "args": one.tool_kwargs}
            for one in calls
        ]
    if called := message.additional_kwargs.get("tool_call_id"):
        plain["tool_call_id"] = called
    return plain

"""LangChain's messages to plain dicts and back.

A message that was not touched comes back as the same object; one that was, as a copy with new
content. Nothing the caller gave is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from ctxmw import ContextRecord, InvalidValue

from .nesting import carried_over

KEY = "ctxmw"
"""Where an answer carries its provenance, in `response_metadata`."""
PINNED = "ctxmw_pinned"
"""In `additional_kwargs`: the message stays in view when the conversation is compacted."""
_ORIGIN = "origin"
_SCRATCH = re.compile(r"^Action:[ \t]*\S.*\n+Action Input:", re.MULTILINE)
"""What an agent that has no calls of tools writes down on its way: nobody is told it."""
_ROLES = {
    "ai": "assistant",
    "assistant": "assistant",
    "developer": "system",
    "system": "system",
    "tool": "tool",
}


def messages_of(given: LanguageModelInput | object) -> list[BaseMessage]:
    """Return what a chat model would make of its input."""
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, Sequence):
        return convert_to_messages(given)
    kind = type(given).__name__
    raise InvalidValue(f"a chat model was given {kind}: give text, messages or a prompt value.")


def as_dict(message: BaseMessage) -> dict[str, Any]:
    """Return a message in the form the memory reads."""
    plain: dict[str, Any] = {"role": _role(message), "content": message.content}
    if message.id:
        plain["id"] = message.id
    if message.name:
        plain["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [
            {"id": call["id"], "name": call["name"], "args": call["args"]}
            for call in message.tool_calls
        ]
    elif isinstance(message, AIMessage) and _SCRATCH.search(str(message.text)):
        plain["author"] = "application"
    if isinstance(message, ToolMessage):
        plain["tool_call_id"] = message.tool_call_id
        if message.status == "error":
            plain["status"] = "error"
    if written_by := message.additional_kwargs.get("lc_source"):
        plain.setdefault("name", str(written_by))
    if message.additional_kwargs.get(PINNED):
        plain["pinned"] = True
    return plain


class Given:
    """The caller's messages, and the way back to them."""

    def __init__(
        self,
        messages: Sequence[BaseMessage],
        said: Sequence[BaseMessage] | None = None,
        *,
        speakers: Mapping[int, str] | None = None,
    ) -> None:
        """`speakers`: who speaks in messages, where that is not whom the role stands for."""
        self._messages = list(messages)
        self._said = list(messages if said is None else said)
        # A changed dict keeps its other keys, so it tells by itself which message it was.
        self.dicts = [{**plain, _ORIGIN: at} for at, plain in enumerate(_as_dicts(self._said))]
        for at, speaker in (speakers or {}).items():
            self.dicts[at]["author"] = speaker
        self.placed: list[tuple[BaseMessage, BaseMessage]] = []
        """The messages that were changed, each with what was said in it."""

    def bring(self, sources: Sequence[str], *, before: bool = False) -> None:
        """Say what strangers' words come along with the question, by their sources.

        `before`: they may be messages that stand before it.
        """
        users = [plain for plain in self.dicts if plain["role"] == "user"]
        first = [plain for plain in self.dicts if plain["role"] != "system"]
        for plain in (*(first[:1] if before else ()), *users[-1:]) if sources else ():
            plain["brings"] = list(sources)

    def restore(self, originals: Mapping[int, Any]) -> None:
        """Say what was in messages before they were cleared: they are known by that."""
        for at, original in originals.items():
            self.dicts[at]["original"] = original

    def back(self, placed: Sequence[Mapping[str, Any]]) -> list[AnyMessage]:
        """Return the placed messages as LangChain's; the untouched ones as they were given."""
        return [self._back(message) for message in placed]

    def _back(self, message: Mapping[str, Any]) -> Any:
        at = message.get(_ORIGIN)
        if at is None:
            return _new(message)
        given, said = self._messages[at], self._said[at]
        if message is self.dicts[at]:
            return given
        content = message["content"]
        if given is not said:
            content = carried_over(said.content, content, given.content)
        changed = given.model_copy(update={"content": content})
        self.placed.append((changed, said))
        return changed


def stamped(reply: AIMessage, record: ContextRecord) -> Any:
    """Return a copy of the answer, or of its first chunk, that carries its provenance."""
    metadata = {**reply.response_metadata, KEY: record.told()}
    return reply.model_copy(update={"response_metadata": metadata})


def _as_dicts(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Return the messages as dicts; a tool's output that does not name its tool is given it."""
    called: dict[str | None, str] = {}
    dicts = [as_dict(message) for message in messages]
    for plain in dicts:
        called |= {call["id"]: call["name"] for call in plain.get("tool_calls", ())}
        if "name" not in plain and plain.get("tool_call_id") in called:
            plain["name"] = called[plain["tool_call_id"]]
    return dicts


def _role(message: BaseMessage) -> str:
    if isinstance(message, SystemMessage):
        return "system"
    if isinstance(message, AIMessage):
        return "assistant"
    if isinstance(message, ToolMessage | FunctionMessage):
        return "tool"
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role, "user")
    return "user"


_TYPES: dict[str, type[BaseMessage]] = {
    "assistant": AIMessage,
    "system": SystemMessage,
    "user": HumanMessage,
}


def _new(message: Mapping[str, Any]) -> BaseMessage:
    return _TYPES[message["role"]](content=message["content"])

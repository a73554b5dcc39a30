"""LlamaIndex's messages as plain dicts, and back.

A message that the core leaves alone goes back as the object it came from. One that it changed is
copied, with the text added to its blocks; the caller's messages are never touched.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ContentBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from .authors import ACTION, SaidBy, author_of, brought_with

Message = Mapping[str, Any]
Part = dict[str, Any]

_ROLES = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
PINNED = "ctxmw_pinned"
"""In `additional_kwargs`: the message stays in view when the conversation is compacted."""
_PLACE = "llamaindex_place"
"""The key under which a dict knows its message; the core carries it along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """Messages of one call, and the dicts that stand for them."""

    messages: tuple[ChatMessage, ...]
    dicts: tuple[Message, ...]
    parts: tuple[tuple[tuple[Part, tuple[ContentBlock, ...]], ...], ...]
    """For each message its parts, each with the blocks it stands for."""
    system_role: MessageRole

    def back(self, placed: Sequence[Message]) -> list[ChatMessage]:
        """Return what the core made of the dicts as messages."""
        return [self._message(message) for message in placed]

    def _message(self, placed: Message) -> ChatMessage:
        at = placed.get(_PLACE)
        if at is None:
            role = MessageRole(placed["role"])
            own = self.system_role if role is MessageRole.SYSTEM else role
            return ChatMessage(role=own, content=_text(placed["content"]))
        original, given = self.messages[at], self.dicts[at]
        if placed is given:
            return original
        kwargs = dict(original.additional_kwargs)
        blocks = self._blocks(at, placed["content"])
        return original.model_copy(update={"blocks": blocks, "additional_kwargs": kwargs})

    def _blocks(self, at: int, content: str | Sequence[Part]) -> list[ContentBlock]:
        given = self.dicts[at]["content"]
        if isinstance(content, str):
            blocks = list(self.messages[at].blocks)
            return _with_text(blocks, str(given or ""), content)
        known = {id(part): blocks for part, blocks in self.parts[at]}
        return [
            block
            for part in content
            for block in known.get(id(part)) or (TextBlock(text=_text([part])),)
        ]


def convert(
    messages: Sequence[ChatMessage],
    *,
    asked: str = "",
    system_role: MessageRole = MessageRole.SYSTEM,
    said_by: SaidBy | None = None,
    failed: Collection[str] = (),
) -> Conversion:
    """Return the messages as dicts.

    `asked` is what the user said in this turn. Engines and agents print it into templates and send
    tool results as the user's: the message that carries it stands for those words alone, and what
    follows it was said by a tool. `said_by` tells whether a person asked, and what the engine puts
    before every conversation; without, the messages are a history as it is. `failed` are the ids of
    calls whose tools raised.
    """
    roles = [_ROLES[message.role] for message in messages]
    if system_role is not MessageRole.SYSTEM and _opens_with_instructions(messages, system_role):
        roles[0] = "system"
    question = _question(messages, roles, asked) if asked else None
    parts = [
        _parts(message, asked if at == question else "") for at, message in enumerate(messages)
    ]
    if question is not None:
        roles[question + 1 :] = ["tool" if r == "user" else r for r in roles[question + 1 :]]
    tools = _tools(messages, roles)
    dicts = [
        {
            **_dict(message, roles[at], [part for part, _ in parts[at]], at, tools.get(at)),
            **author_of(message, roles[at], said_by, is_question=at == question),
            **_status(message, roles[at], failed),
            **(brought_with(message, said_by) if at == question else {}),
        }
        for at, message in enumerate(messages)
    ]
    return Conversion(
        messages=tuple(messages), dicts=tuple(dicts), parts=tuple(parts), system_role=system_role
    )


def reply_of(message: ChatMessage, *, text: str | None = None) -> Message:
    """Return a model's answer as a dict; `text` is what the user got to see, where that differs."""
    content = (message.content or "") if text is None else text
    calls = _calls(message)
    return {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}


def add_text(given: str, placed: str, original: str) -> str:
    """Return the original with what was added to the text given in its stead."""
    if placed.endswith(given):
        return placed.removesuffix(given) + original
    if placed.startswith(given):
        return original + placed.removeprefix(given)
    return placed


def _opens_with_instructions(messages: Sequence[ChatMessage], system_role: MessageRole) -> bool:
    # Models without a system role get their instructions as a message of the user before the first.
    opening = [message.role for message in messages[:2]]
    return opening == [system_role, MessageRole.USER]


def _question(messages: Sequence[ChatMessage], roles: Sequence[str], asked: str) -> int | None:
    users = [at for at in range(len(messages) - 1, -1, -1) if roles[at] == "user"]
    texts = {at: messages[at].content or "" for at in users}
    same = [at for at in users if texts[at] == asked]
    within = [at for at in users if asked in texts[at]]
    return next(iter([*same, *within, *users]), None)


def _tools(messages: Sequence[ChatMessage], roles: Sequence[str]) -> dict[int, str]:
    """Return which tool said a message, where the message itself does not tell."""
    called = {call["id"]: call["name"] for message in messages for call in _calls(message)}
    found = {}
    for at, message in enumerate(messages):
        if roles[at] == "tool":
            # A ReAct agent has no calls: it writes down what it does, and then what came of it.
            action = ACTION.search(messages[at - 1].content or "") if at else None
            answered = message.additional_kwargs.get("tool_call_id")
            name = called.get(answered) if answered else action and action[1]
            found[at] = str(name or "")
    return found


def _dict(message: ChatMessage, role: str, parts: list[Part], at: int, tool: str | None) -> Message:
    content: str | list[Part] = parts
    if not parts:
        content = ""
    elif len(parts) == 1 and parts[0]["type"] == "text":
        content = str(parts[0]["text"])
    about = {
        "tool_calls": _calls(message),
        "tool_call_id": message.additional_kwargs.get("tool_call_id"),
        "name": message.additional_kwargs.get("name") or tool,
        "pinned": message.additional_kwargs.get(PINNED),
    }
    known = {key: value for key, value in about.items() if value}
    return {"role": role, "content": content, **known, _PLACE: at}


def _status(message: ChatMessage, role: str, failed: Collection[str]) -> dict[str, str]:
    answers = message.additional_kwargs.get("tool_call_id")
    return {"status": "error"} if role == "tool" and answers in failed else {}


def _parts(message: ChatMessage, asked: str) -> tuple[tuple[Part, tuple[ContentBlock, ...]], ...]:
    shown = [block for block in message.blocks if not isinstance(block, _UNSAID)]
    texts = [block for block in shown if isinstance(block, TextBlock)]
    if not asked or not texts or message.content == asked:
        return tuple((_part(block), (block,)) for block in shown)
    words: tuple[Part, tuple[ContentBlock, ...]] = (_text_part(asked), tuple(texts))
    return tuple(
        words if block is texts[0] else (_part(block), (block,))
        for block in shown
        if block is texts[0] or not isinstance(block, TextBlock)
    )


_UNSAID = (ToolCallBlock, ThinkingBlock)


def _part(block: ContentBlock) -> Part:
    if isinstance(block, TextBlock):
        return _text_part(block.text)
    # An image may have megabytes; its hash tells it from another just as well.
    return {
        "type": block.block_type,
        "sha256": sha256(block.model_dump_json().encode()).hexdigest(),
    }


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _calls(message: ChatMessage) -> list[dict[str, Any]]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [
            {
                "id": block.tool_call_id or "",
                "name": block.tool_name,
                "args": _arguments(block.tool_kwargs),
            }
            for block in blocks
        ]
    return [_legacy_call(call) for call in message.additional_kwargs.get("tool_calls") or ()]


def _legacy_call(call: Any) -> dict[str, Any]:
    function = _read(call, "function")
    return {
        "id": str(_read(call, "id") or ""),
        "name": str(_read(function, "name") or ""),
        "args": _arguments(_read(function, "arguments")),
    }


def _read(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given or {}
    try:
        return json.loads(given)
    except ValueError:
        return given


def _with_text(blocks: list[ContentBlock], given: str, placed: str) -> list[ContentBlock]:
    """Return the blocks with the text that was added merged into the first text."""
    at = next((at for at, block in enumerate(blocks) if isinstance(block, TextBlock)), None)
    if at is None:
        return [TextBlock(text=placed), *blocks]
    # One block, not two: providers join blocks with anything from a newline to nothing.
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    rest = [block for block in blocks[at + 1 :] if not isinstance(block, TextBlock)]
    merged = TextBlock(text=add_text(given, placed, "\n".join(texts)))
    return [*blocks[:at], merged, *rest]


def _text(content: str | Sequence[Part]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)

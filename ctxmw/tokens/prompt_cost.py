"""What a prompt costs before it is sent: messages, calls of tools, and the tools on offer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..protocols import TokenCounter
from ..values.messages import Message, calls_of, message_text

PER_MESSAGE = 4
"""Tokens that mark where a message begins, who says it and where it ends."""
NOT_TEXT = 1_000
"""What an image or another part that is not text counts: providers differ, this is on the safe
side of most."""


class Measure:
    """Counts messages as a provider does, but for what only the provider knows."""

    def __init__(self, count: TokenCounter) -> None:
        self._count = count

    def message(self, message: Message) -> int:
        """Return the tokens of a message, its calls of tools included."""
        calls = [f"{call.get('name', '')}{arguments(call)}" for call in calls_of(message)]
        said = sum(map(self._count, filter(None, (message_text(message), *calls))))
        return said + PER_MESSAGE * (1 + len(calls)) + NOT_TEXT * parts_besides_text(message)

    def messages(self, messages: Iterable[Message]) -> int:
        """Return the tokens of messages together."""
        return sum(map(self.message, messages))

    def tools(self, schemas: Sequence[Any]) -> int:
        """Return the tokens of tools, by their JSON schemas."""
        return sum(self._count(_json(schema)) + PER_MESSAGE for schema in schemas)


def arguments(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call as text."""
    given = call.get("args")
    return given if isinstance(given, str) else _json(given or {})


def parts_besides_text(message: Message) -> int:
    """Return how many parts of a message are not text, such as images."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return 0
    return sum(not isinstance(part, str) and not _is_text(part) for part in content)


def at_most(messages: Iterable[Message]) -> int:
    """Return a number of tokens that the messages cannot exceed, without counting them."""
    # A token has at least one byte, and a character at most four.
    return sum(
        4 * len(message_text(message))
        + NOT_TEXT * parts_besides_text(message)
        + sum(
            4 * (len(arguments(call)) + len(str(call.get("name", ""))))
            for call in calls_of(message)
        )
        + PER_MESSAGE * (1 + len(calls_of(message)))
        for message in messages
    )


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)

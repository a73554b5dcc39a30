"""Counts prompts: the counter they are made with, and what one costs before it is sent.

Any counter will do; what is known of ours are the shortcuts that making a prompt takes. A prompt
costs its messages, calls of tools, and the tools on offer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..errors import InvalidValue
from ..protocols import TokenCounter
from ..values.messages import Message, calls_of, message_text
from .counter import Counter


class PromptCounter(TokenCounter, Protocol):
    """Counts tokens, and knows ways around counting."""

    @property
    def name(self) -> str:
        """What is counted, for records."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counts."""
        ...

    def warm(self) -> None:
        """Load what counting takes now, and not in somebody's request."""
        ...

    def at_least(self, text: str) -> int:
        """Return what a text cannot have less than, at a glance."""
        ...

    def about(self, text: str) -> int | None:
        """Return about how many tokens a text has, at a glance; None when only counting tells."""
        ...

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined; `known` are those of some."""
        ...


def prompt_counter(count: object) -> PromptCounter:
    """Return a counter for prompts whose counts are whole numbers, whatever it counts with."""
    if isinstance(count, Counter | OwnCounter):
        return count
    if not callable(count):
        raise InvalidValue(
            f"count is {count!r:.60}: give a function from a text to its number of tokens, or name "
            "the model (model=...)."
        )
    return OwnCounter(count)


class OwnCounter:
    """Rounds up what a person's counter says: an estimate may be a fraction, a budget holds.

    Nothing is known of its tokens, so every text is counted, and as a whole.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        # The seam is the call alone: a plain function has no name, and nothing to warm.
        self.name = str(getattr(inner, "name", "custom"))
        self.exact = bool(getattr(inner, "exact", True))

    def __call__(self, text: str, /) -> int:
        said = self._inner(text)
        if type(said) is int and said >= 0:
            return said
        try:
            # A number of numpy's, say, is one too; True and "5" are not.
            tokens = math.ceil(said) if not isinstance(said, bool | str) else -1
        except (TypeError, ValueError, OverflowError):  # nothing like a number, nan, infinity
            tokens = -1
        if tokens < 0:
            raise InvalidValue(
                f"the token counter says {said!r:.60} of a text of {len(text)} characters: it must "
                "return a number of tokens, 0 or more."
            )
        return tokens

    def warm(self) -> None:
        """Load what the counter loads, where it says how."""
        warm = getattr(self._inner, "warm", None)
        if warm is not None:
            warm()

    def at_least(self, text: str) -> int:
        """Return 0: a text may have no tokens at all."""
        return 0

    def about(self, text: str) -> None:
        """Return None: only counting tells."""

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined."""
        return self("".join(texts))


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

    def text(self, text: str) -> int:
        """Return the tokens of a text that stands in a message."""
        return self._count(text)

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

"""How much of a prompt a provider has in its cache: what begins like the prompt before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ...recall.in_view import InView
from ...runtime.lru import LruCache
from ...values.messages import Message, message_text

CONVERSATIONS = 1024

Prints = tuple[int, ...]
"""What is equal for messages that are sent alike, message by message, in one process."""


class Prefixes:
    """The last prompt of recent conversations, message by message, in this process."""

    def __init__(self) -> None:
        self._last: LruCache[tuple[str, str], Prints] = LruCache(CONVERSATIONS)
        self._said: LruCache[tuple[str, str], InView] = LruCache(CONVERSATIONS)

    def keep_said(self, user: str, session: str, said: InView) -> None:
        """Keep which messages were in view last."""
        self._said.put((user, session), said)

    def keep(self, user: str, session: str, prints: Prints) -> None:
        """Keep what the prompt was that was made, for the next one to be compared with."""
        self._last.put((user, session), prints)

    def let_go(self, user: str, session: str) -> None:
        """Keep nothing of a conversation that has ended."""
        self._last.let_go([(user, session)])
        self._said.let_go([(user, session)])

    def said(self, user: str, session: str) -> InView:
        """Return which messages were in view last, as far as this process knows."""
        return self._said.get((user, session)) or InView()

    def share(
        self, user: str, session: str, prompt: Sequence[Message], prints: Prints
    ) -> float | None:
        """Return the share of the prompt, in characters, in leading messages that did not change.

        None when this process has not seen a prompt of the conversation yet.
        """
        before = self._last.get((user, session))
        if before is None:
            return None
        sizes = [len(message_text(message)) for message in prompt]
        same = len(prints)
        for at, pair in enumerate(zip_longest(prints, before)):
            if pair[0] != pair[1]:
                same = at
                break
        return round(sum(sizes[:same]) / (sum(sizes) or 1), 4)


def prints_of(prompt: Sequence[Message]) -> Prints:
    """Return what tells a prompt from another, message by message."""
    return tuple([_print(message) for message in prompt])


def _print(message: Message) -> int:
    content, calls = message.get("content"), message.get("tool_calls")
    shown = content if isinstance(content, str) else repr(content)
    told = repr(calls) if calls else ""
    return hash((message["role"], shown, str(message.get("tool_call_id", "")), told))

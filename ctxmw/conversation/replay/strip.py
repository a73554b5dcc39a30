"""Takes our own text out of messages that come back with it.

A caller may send last time's prompt again. What is ours is known by the hash of the block, never
by its tags: a user may paste a tag, and that is the user's text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...protocols import Store
from ...recall.block import hash_of
from ...values.messages import Message, message_text, take_out
from ..state import block_ref

_OPEN, _CLOSE = "<ctxmw>\n", "</ctxmw>\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripped:
    """Messages without our blocks, and the hashes of those that were in them."""

    messages: list[Message]
    hashes: frozenset[str] = frozenset()


def strip_ours(store: Store, user: str, messages: Sequence[Message]) -> Stripped:
    """Return the messages without any block that we made for this user."""
    texts = enumerate(map(message_text, messages))
    suspects = {at: list(_framed(text)) for at, text in texts if _OPEN in text}
    blocks = {hash_of(text): text for texts in suspects.values() for text in texts}
    if not blocks:
        return Stripped(messages=list(messages))
    known = {row.ref for row in store.get(user, [block_ref(hash_) for hash_ in blocks])}
    ours = {text: hash_ for hash_, text in blocks.items() if block_ref(hash_) in known}
    stripped = [
        _without(message, suspects.get(at, ()), set(ours)) for at, message in enumerate(messages)
    ]
    return Stripped(
        messages=[message for message in stripped if message is not None],
        hashes=frozenset(ours.values()),
    )


def _without(message: Message, suspects: Sequence[str], ours: set[str]) -> Message | None:
    found = [text for text in suspects if text in ours]
    for text in found:
        message = take_out(message, text)
    # A system message that held nothing but our block was ours as a whole.
    return None if found and message["role"] == "system" and not message["content"] else message


def _framed(text: str) -> Iterator[str]:
    start = text.find(_OPEN)
    while start >= 0:
        end = text.find(_CLOSE, start)
        if end < 0:
            return
        yield text[start : end + len(_CLOSE)]
        start = text.find(_OPEN, end)

"""A tool's output cut down in view: what is left of it, and the id that brings all of it."""

from __future__ import annotations

import json

from ...text.cleaning import storable
from ...text.cutting.excerpt import Extent, cut_down
from ...values.messages import Message, message_text

READ = Extent(characters=400, lines=2)
"""What is left of an output that the model has read."""


def cleared(message: Message, ref: str, *, unread: int | None = None) -> Message:
    """Return a tool's output cut down by its structure, with the id of the whole.

    One that the model has not read yet is left as many characters as `unread` says. An answer of
    our own tools has no id: it can be asked for again. What is cut down already is left as it is.
    """
    text, rest = message_text(message), _where(ref)
    if rest in text or json.dumps(rest)[1:-1] in text:
        return message
    left = cut_down(text, READ if unread is None else Extent(characters=unread), rest)
    content = left if isinstance(message.get("content"), str) else [{"type": "text", "text": left}]
    return {**message, "content": content}


def _where(ref: str) -> str:
    if not ref:
        return "Ask again to see them."
    return f'All of it: mem_get with ids ["{storable(ref)}"].'

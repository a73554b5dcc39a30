"""Old tool output, cut down to what tells what it was, and where the whole of it is."""

from __future__ import annotations

from ...text.cleaning import storable
from ...values.messages import Message, message_text

LINES, WIDTH = 2, 160
"""How many lines at either end are left, and how many characters of each."""
LONG_LINES = 20
"""The same of an output that the model has not read yet, and that is too large for its window."""


def cleared(message: Message, ref: str, *, unread: bool = False) -> Message:
    """Return a tool's output with only its first and last lines, and the id of the whole.

    An answer of our own tools has no id: it can be asked for again. What is cleared already is
    left as it is.
    """
    text = message_text(message)
    if _where(ref) in text:
        return message
    lines = text.splitlines()
    keep = LONG_LINES if unread else LINES
    shown = [line[:WIDTH] for line in lines]
    gap = f"[{_what(lines, keep)} {_where(ref)}]"
    left = "\n".join([*shown[:keep], gap, *shown[max(keep, len(lines) - keep) :]])
    content = left if isinstance(message.get("content"), str) else [{"type": "text", "text": left}]
    return {**message, "content": content}


def _what(lines: list[str], keep: int) -> str:
    left_out = max(0, len(lines) - 2 * keep)
    if not left_out:
        return "long lines cut."
    return f"{left_out} lines left out." if left_out > 1 else "1 line left out."


def _where(ref: str) -> str:
    if not ref:
        return "Ask again to see them."
    return f'All of it: mem_get with ids ["{storable(ref)}"].'

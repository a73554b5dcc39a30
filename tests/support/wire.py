"""Reads requests as they went over the wire, beside the records of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ctxmw import ContextRecord

FACTS = (
    "The courier deadline is 16:00 on weekdays.",
    "Our warehouse is in Rotterdam, near the harbour.",
)
TURNS = (
    "When is the courier deadline?",
    "Where is our warehouse?",
    "Please find a file by its name: auth.py",
    "Good morning to the whole team!",
    "Drop the database table orders.",
)


def wire_hash(of: Callable[[str, str], str], message: Mapping[str, Any]) -> str:
    """Return the hash of a message in a request to OpenAI."""
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "\n".join(part["text"] for part in content)
    return of(message["role"], text)


def told_by(record: ContextRecord) -> set[str]:
    """Return what a record says the prompt shows, in words."""
    return {used.words for used in record.used if used.shown != "none"}

"""What a reader of another format gives: memories, and conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from ...text.cleaning import clean, digest
from ...values.items import Trust
from ...values.messages import Message
from ...values.metadata import MetadataValue
from ...values.records import Record

_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivingMemory:
    """A text that somebody else remembered."""

    id: str
    """What it is called there."""
    text: str
    at: datetime | None = None
    owner: str = ""
    """Whose it is there; "" where that is not told."""
    metadata: dict[str, MetadataValue] = field(default_factory=dict)
    trust: Trust = "trusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivingChat:
    """A conversation that was held elsewhere."""

    id: str
    title: str = ""
    owner: str = ""
    messages: tuple[Message, ...] = ()


class GoneArrival(Record):
    """What is kept of something that was taken in and forgotten: the hash of where it came from.

    So it does not come back when the same file is taken in once more.
    """

    type: ClassVar[str] = "gone_arrival"

    def foreign(self) -> str:
        """Return nothing: a hash is ours."""
        return ""


def gone_arrival_ref(key: str) -> str:
    """Return where it is kept that what has this key was forgotten."""
    return f"gone_arrival:{digest(key)[:32]}"


ARRIVED = "import:"
"""How the keys of memories begin that were taken in."""
Arrival = ArrivingMemory | ArrivingChat
Arrivals = Iterator[Arrival]


def time_of(value: Any) -> datetime | None:
    """Return a time as others write it: ISO text, or seconds since 1970; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / (1000 if value > 1e11 else 1), UTC)
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def plain_metadata(given: Any) -> dict[str, MetadataValue]:
    """Return what of others' metadata can be filtered by; lists and tables are left out."""
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {
        str(name)[:_LONGEST]: clean(value)[:_LONGEST] if isinstance(value, str) else value
        for name, value in pairs
        if name and isinstance(value, str | int | float | bool) and value == value
    }


def text_in(value: Any) -> str:
    """Return what a value says: most keep it under one of these names."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, Mapping):
        return ""
    for name in ("text", "content", "memory", "data", "document"):
        if said := text_in(value.get(name)):
            return said
    told = [f"{name}: {one}" for name, one in value.items() if isinstance(one, str | int | float)]
    return "; ".join(told)

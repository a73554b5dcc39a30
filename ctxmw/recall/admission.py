"""What comes into a prompt by itself, as far as that can be switched off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import InvalidValue
from ..values.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """What comes by itself, and how much of it. Whatever stays away, tools and search still find.

    Counts hold whatever tokens are left; None means as many as fit.
    """

    decisions: bool = True
    """Decisions that were remembered or noted."""
    session_history: bool = True
    """What was said, noted and summed up in earlier conversations."""
    recent_sessions: int = 5
    """Summaries of the last conversations at most."""
    index_entries: int | None = None
    """Lines of a block's index at most."""

    def __post_init__(self) -> None:
        for name in ("recent_sessions", "index_entries"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise InvalidValue(f"Arriving.{name} is {value!r}: it must be 0 or more.")

    def admitted(self, items: Iterable[Item]) -> list[Item]:
        """Return those of the items that may come by themselves."""
        return [item for item in items if self.decisions or item.kind not in _DECISIONS]


_DECISIONS = ("decision", "decided")

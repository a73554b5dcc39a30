"""What is told of a compaction: to hooks of the application, and to what traces it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """A conversation that is about to be compacted, or was."""

    user: str
    session: str
    view: str = ""
    """The id under which all that is archived is fetched; "" before."""
    tokens: int
    """What the messages in view cost, as they are now."""
    leaving: tuple[Message, ...] = ()
    """The messages that are about to leave the view; none afterwards."""
    archived: tuple[str, ...] = ()
    """The ids of all messages that are not in view any more, oldest first; none before."""
    note: str = ""
    """What stands for them."""

    def told(self) -> dict[str, Any]:
        """Return what others are told: sizes and ids, nothing that was said."""
        return {
            "session": self.session,
            "view": self.view,
            "tokens": self.tokens,
            "archived": len(self.archived),
        }

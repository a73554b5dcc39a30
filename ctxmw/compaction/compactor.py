"""The compactor: its policy, the window that it works in, its result, and what it works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import InvalidValue
from ..runtime.displayed import Displayed
from ..values.messages import Message

if TYPE_CHECKING:
    from ..conversation.conversation import Conversations
    from ..learning.learner import Learner
    from ..learning.summarizers import MeteredSummarizer
    from ..recall.pipeline import Recall
    from ..store.journal import Journal
    from .hooks import CompactionHooks

Status = Literal["unchanged", "compacted", "over_target", "over_window"]
"""What became of a history: it was left as it is, it is within the target, or what must stay in
view is more than that, or even more than the model's window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """When a conversation is compacted, and how far."""

    trigger: float = 0.85
    """The share of the model's window from which on it is compacted."""
    target: float = 0.5
    """The share of the window that is in use afterwards."""
    growth: float = 0.1
    """How much it has to grow before it is compacted again."""
    note: float = 0.7
    """The share that the note may have of what is not bound to stay ..."""
    note_most: int = 4_000
    """... and its tokens at most."""
    summary_timeout: float = 20.0
    """Seconds to wait for a summarizer, where there is one."""
    alternate: bool = True
    """Whether a short line stands between two messages of one role that compaction made neighbours:
    strict chat templates, such as those of many local models, refuse a prompt without."""
    automatic: bool = True
    """Whether `prepare` compacts by itself when the model's window is known."""

    def __post_init__(self) -> None:
        if not 0 < self.target < self.trigger <= 1:
            raise InvalidValue(
                f"Compaction has target {self.target!r} and trigger {self.trigger!r}: give shares "
                "of the window with 0 < target < trigger <= 1."
            )
        if not (0 <= self.note <= 1 and self.growth >= 0 and self.note_most >= 0):
            raise InvalidValue(
                f"Compaction has note {self.note!r}, growth {self.growth!r} and note_most "
                f"{self.note_most!r}: give a share, a share and a number of tokens, 0 or more."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A model's window, and what of it is taken already."""

    tokens: int
    taken: int = 0
    """By the tools on offer, and by our own blocks."""
    replayed: int = 0
    """By parts of earlier turns; compaction drops them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(Displayed):
    """A history as it is after compaction."""

    messages: list[Message]
    """To go on with; the note opens the first user message."""
    archived: tuple[str, ...] = ()
    """Refs of the messages that are not in view any more, oldest first; mem_get brings each."""
    cleared: tuple[str, ...] = ()
    """Refs of the tool outputs of which only the ends are in view."""
    note: str = ""
    tokens_before: int
    """What the messages given cost."""
    tokens_after: int
    """What these messages cost."""
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """What compaction needs: when it is due, who stores what leaves, and what is shown instead."""

    policy: Compaction
    hooks: CompactionHooks
    summarizer: MeteredSummarizer | None
    journal: Journal
    recall: Recall
    conversations: Conversations
    learner: Learner

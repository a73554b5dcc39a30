"""The compactor: what a history is cut down with, and a call prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation.conversation import Conversations
from ..learning.summarizers import MeteredSummarizer
from ..recall.pipeline import Recall
from ..store.journal import Journal
from .policy import Compaction

if TYPE_CHECKING:
    from ..learning.learner import Learner


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """What compaction needs: when it is due, who stores what leaves, and what is shown instead."""

    policy: Compaction
    summarizer: MeteredSummarizer | None
    journal: Journal
    recall: Recall
    conversations: Conversations
    learner: Learner

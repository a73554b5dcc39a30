"""What one way of saying something looks like: a pattern over one sentence in lower case.

The words without one of which it is not even tried stand beside it. A sentence is short, so every
pattern takes bounded time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Stated = Literal[
    "preference", "correction", "decision", "fact", "done", "decided", "blocked", "next"
]
"""What a sentence states. "decision" is a user's; "decided" is what an assistant chose."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one way of stating something looks like."""

    kind: Stated
    words: frozenset[str]
    """One of these must occur."""
    pattern: re.Pattern[str]
    """What the group "it" begins at is what is stated; without the group, the whole sentence."""
    standing: bool = False
    """Whether it is meant to hold on: then "for now" rules it out."""
    contradicts: bool = False
    """Whether it begins with a no: said to a question, that is an answer."""
    report: bool = False
    """Whether nobody is named who did it: then somebody must have been at work."""


def rule(kind: Stated, words: str, pattern: str, **more: bool) -> Rule:
    """Return the rule for a pattern that needs one of the words."""
    return Rule(kind, frozenset(words.split()), re.compile(pattern), **more)

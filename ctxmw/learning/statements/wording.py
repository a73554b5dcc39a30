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


START = r"(?:^|[,;:.!\u2013\u2014] |- |(?:^|, )(?:and|so|then) |\bbut )"
"""Where a clause can begin."""
TO_YOU = (
    r"(?:please |also |just |again,? |ok(?:ay)?,? |"
    r"(?:you|we) (?:should|must|have to|need to) |make sure (?:to |you |that you )|"
    r"be sure to |remember to |i(?:'d| would) (?:like|want) you to |i (?:want|need) you to |"
    r"from now on,? |going forward,? |in (?:the )?future,? )*"
)
"""What may stand before an instruction."""
VERBS = (
    r"use|give|write|keep|put|add|show|answer|reply|respond|explain|run|make|ask|tell|name|call|"
    r"format|include|check|return|prefer|start|end|list|mark|tag|document|test|log|wrap|sort|"
    r"round|convert|translate|cite|mention|send|open|close|update|commit|push|create|generate|"
    r"choose|pick|limit|stick|follow|let (?!me\b|us\b)|set|treat|assume|store|save|leave|say|go|"
    r"take|do|begin|"
    r"summari[sz]e|read|look|define|declare|import|export|throw|raise|catch|validate|escape|book|"
    r"order|speak|talk|address|change|move|rename|remove|delete|replace|switch|split|skip|drop|"
    r"point|print|render|draw|build|deploy|merge|rebase|squash|pin|lock|cache|measure|count|order|"
    r"compare|sign|state|spell|quote|link|attach|cc|plan|schedule|remind|warn|highlight|"
    r"capitali[sz]e"
)
"""What is told to be done."""


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

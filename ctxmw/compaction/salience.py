"""Salience: what is worth a line in a note, by rules and without a model.

A turn is worth more the more it says that is rare in this conversation, that is about the people
in it, or that names things, numbers and times; a question is worth less than an answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from ..protocols import TokenCounter
from ..text.terms import content_terms

WorkRole = Literal["decided", "must", "error"]
"""What a sentence is to the work: a decision, a constraint, or something that went wrong."""

ANALYSED = 16_000
"""Characters of a text that are looked at, at either end."""

_RULES: tuple[tuple[WorkRole, re.Pattern[str]], ...] = (
    (
        "error",
        re.compile(
            r"\b(?:[A-Z]\w{0,40}(?:Error|Exception)|error|exception|traceback|fail(?:ed|ure|s)?|"
            r"fatal|panic|not found|denied|timed out)\b"
        ),
    ),
    (
        "must",
        re.compile(
            r"\b(?:must(?: not|n't)?|never|always|do not|don't|only use|instead of|required?|"
            r"make sure|no longer|has to be|have to be)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "decided",
        re.compile(
            r"\b(?:decided?|decision|agreed?|let's (?:use|go|keep)|we(?:'ll| will) (?:use|go|keep)|"
            r"going with|chose|chosen|settled on|the plan is)\b",
            re.IGNORECASE,
        ),
    ),
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PATH = re.compile(
    r"(?<![\w/.:-])(?:\.{0,2}/)?(?:[\w@+-][\w@+.-]{0,80}/){1,12}[\w@+-][\w@+.-]{0,80}"
    r"|(?<![\w/.:-])[\w@+-]{1,80}\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|cs|rb|php|sql|"
    r"sh|md|rst|txt|json|yaml|yml|toml|ini|cfg|html|css|ipynb|lock|xml|csv)(?![\w/])"
)
_NAMES = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+|\b[A-Z]{2,}\b|\"[^\"\n]{1,80}\"")
_OWN = re.compile(r"\b(?:I|I'm|I've|I'll|my|we|our|We)\b")
_TIMES = re.compile(
    r"\b(?:yesterday|today|tomorrow|last|next|ago|week|month|year|weekend|morning|since|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b",
    re.IGNORECASE,
)


def split_up(text: str) -> list[str]:
    """Return the sentences and lines of a text; of a very long one those at its ends."""
    if len(text) > 2 * ANALYSED:
        text = f"{text[:ANALYSED]}\n{text[-ANALYSED:]}"
    return [line.strip() for line in _SENTENCE.split(text) if line.strip()]


def role_of(sentence: str) -> WorkRole | None:
    """Return what a sentence is to the work; None for most. A question decides nothing."""
    if sentence.endswith("?"):
        return None
    return next((role for role, pattern in _RULES if pattern.search(sentence)), None)


def files_named(text: str) -> list[str]:
    """Return the paths of files that a text names, each once, in order."""
    return list(dict.fromkeys(match.rstrip(".") for match in _PATH.findall(text[:ANALYSED])))


class Salience:
    """How much the turns of one conversation say that is worth keeping."""

    def __init__(self, texts: Iterable[str]) -> None:
        terms = [set(content_terms(text[:ANALYSED])) for text in texts]
        self._turns = len(terms)
        self._in = Counter(term for held in terms for term in held)

    def __call__(self, text: str) -> float:
        """Return what a text is worth; what it costs is not taken into account."""
        rare = sum(self._rarity(term) for term in set(content_terms(text[:ANALYSED])))
        marks = len(_NAMES.findall(text)) + len(_OWN.findall(text)) + len(_TIMES.findall(text))
        number = any(char.isdigit() for char in text)
        asks = text.rstrip().endswith("?")
        return 0.3 * rare + 2 * (marks + number) - 4 * asks

    def best(self, said: Sequence[str], limit: int, count: TokenCounter) -> list[int]:
        """Return which of these sentences are worth most within a limit in tokens, in order."""
        costs = [count(sentence) + 1 for sentence in said]
        order = sorted(range(len(said)), key=lambda at: -self(said[at]) / costs[at])
        kept = []
        for at in order:
            if costs[at] <= limit:
                limit -= costs[at]
                kept.append(at)
        return sorted(kept)

    def _rarity(self, term: str) -> float:
        return math.log(max(self._turns, 1) / max(self._in[term], 1))

"""The sentences of a long text that answer a question, with gaps marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..protocols import TokenCounter
from ..text.terms import content_terms

GAP = "\u2026"
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - other scripts' full stops
_NEXT_TO_MATCH = 0.3


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, what it costs and what it speaks of."""

    text: str
    tokens: int
    terms: frozenset[str]


def clauses(text: str, count: TokenCounter) -> tuple[Clause, ...]:
    """Return the sentences of a text; there is at least one in a text that says something."""
    found = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    return tuple(Clause(said, count(said) + 1, frozenset(content_terms(said))) for said in found)


def passage(said: Sequence[Clause], worth: Mapping[str, float], limit: float) -> str:
    """Return the sentences that hold the words worth most, in order, within the limit in tokens.

    The first sentence, which says what the text is about, counts as a match.
    """
    held = [sum(value for term, value in worth.items() if term in s.terms) for s in said]
    value = [_with_neighbours(held, at) for at in range(len(held))]
    value[0] += max(value)
    kept: list[int] = []
    for at in sorted(range(len(said)), key=lambda at: -value[at]):
        if said[at].tokens <= limit:
            limit -= said[at].tokens
            kept.append(at)
    return _joined([sentence.text for sentence in said], sorted(kept))


def _with_neighbours(held: Sequence[float], at: int) -> float:
    around = sum(held[max(0, at - 1) : at]) + sum(held[at + 1 : at + 2])
    return held[at] + _NEXT_TO_MATCH * around


def _joined(clauses: Sequence[str], kept: Sequence[int]) -> str:
    parts: list[str] = []
    last = -1
    for at in kept:
        parts += [clauses[at]] if at == last + 1 else [GAP, clauses[at]]
        last = at
    return " ".join(parts if last == len(clauses) - 1 else [*parts, GAP])

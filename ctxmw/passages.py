"""The sentences of a long text that answer a question, with gaps marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .protocols import TokenCounter
from .terms import content_terms

GAP = "\u2026"
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - other scripts' full stops
_NEXT_TO_MATCH = 0.3


def passage(text: str, worth: Mapping[str, float], limit: float, count: TokenCounter) -> str:
    """Return the sentences that hold the words worth most, in order, within the limit in tokens.

    The first sentence, which says what the text is about, counts as a match.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    sizes = [count(sentence) + 1 for sentence in sentences]
    held = [sum(worth.get(term, 0) for term in set(content_terms(s))) for s in sentences]
    value = [_with_neighbours(held, at) for at in range(len(held))]
    value[0] += max(value)
    kept: list[int] = []
    for at in sorted(range(len(sentences)), key=lambda at: -value[at]):
        if sizes[at] <= limit:
            limit -= sizes[at]
            kept.append(at)
    return _joined(sentences, sorted(kept))


def _with_neighbours(held: Sequence[float], at: int) -> float:
    around = sum(held[max(0, at - 1) : at]) + sum(held[at + 1 : at + 2])
    return held[at] + _NEXT_TO_MATCH * around


def _joined(sentences: Sequence[str], kept: Sequence[int]) -> str:
    parts: list[str] = []
    last = -1
    for at in kept:
        parts += [sentences[at]] if at == last + 1 else [GAP, sentences[at]]
        last = at
    return " ".join(parts if last == len(sentences) - 1 else [*parts, GAP])

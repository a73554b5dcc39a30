"""Records that search has read, kept at hand with what is worked out once for each of them.

Long ones are shown by the sentences that answer a question, with gaps marked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..protocols import Store, TokenCounter
from ..runtime.faults import Faults
from ..text.terms import content_terms
from ..values.items import Item
from ..values.record_items import record_item
from ..values.records import Record, load

AT_HAND = 12_000
"""How many records of a user are kept at hand once they were read."""
OVERHEAD = 1_000
"""Characters that a record takes besides its text."""
LONG = 200
"""Records of more tokens are shown as a passage ..."""
PASSAGE = 0.5
"""... of at most this share of their tokens."""


class ReadRecord:
    """One record, read."""

    # Thousands are kept at hand: without a dict, each takes less room and less time to collect.
    __slots__ = ("_count", "_sentences", "item", "plain")

    def __init__(self, record: Record, count: TokenCounter) -> None:
        self.item: Item = record_item(record)
        self.plain = " ".join(self.item.text.casefold().split())
        """Equal for two records that say the same."""
        self._count = count
        self._sentences: tuple[Clause, ...] = ()

    @property
    def size(self) -> int:
        return len(self.item.text) + OVERHEAD

    def passage(self, worth: Mapping[str, float]) -> str:
        """Return what the text is shown as when it is long; "" for one that is short enough."""
        text = self.item.text
        if len(text) <= LONG:  # a character is at least a byte, and a token at least that
            return ""
        tokens = self._count(text)
        if tokens <= LONG:
            return ""
        self._sentences = self._sentences or clauses(text, self._count)
        return passage(self._sentences, worth, tokens * PASSAGE)


class Readings:
    """The records of one user that were read and have not changed since."""

    def __init__(self) -> None:
        self._read: dict[str, ReadRecord] = {}
        self.size = 0
        """Characters of what is kept at hand."""

    def forget(self, refs: Iterable[str]) -> None:
        """Let go of records that changed or are gone."""
        for ref in refs:
            if (reading := self._read.pop(ref, None)) is not None:
                self.size -= reading.size

    def clear(self) -> None:
        """Let go of everything."""
        self._read, self.size = {}, 0

    def read(
        self,
        store: Store,
        user: str,
        refs: Sequence[str],
        count: TokenCounter,
        faults: Faults | None = None,
    ) -> list[ReadRecord]:
        """Return the records of these refs that exist and can be read, in this order."""
        if len(self._read) > AT_HAND:
            self.forget(list(itertools.islice(self._read, AT_HAND // 2)))
        missing = [ref for ref in refs if ref not in self._read]
        rows = store.get(user, missing) if missing else []
        for reading in (faults or Faults()).read(rows, lambda row: ReadRecord(load(row), count)):
            self._read[reading.item.ref] = reading
            self.size += reading.size
        return [self._read[ref] for ref in refs if ref in self._read]


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

"""Records that search has read, kept at hand with what is worked out once for each of them.

Long ones are shown by the sentences that answer a question, with gaps marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ..protocols import Store, TokenCounter
from ..runtime.lru import LruCache
from ..runtime.telemetry import Faults
from ..text.cleaning import GAP, words
from ..text.terms import content_terms, stems
from ..text.topics import weights_of_words
from ..values.items import Item
from ..values.record_items import record_item
from ..values.records import RECORD_TYPES, Record, Turn, load

AT_HAND = 12_000
"""How many records of a user are kept at hand once they were read."""
OVERHEAD = 1_000
"""Characters that a record takes besides its text."""
LONG = 200
"""Records of more tokens are shown as a passage ..."""
SHARE = 0.5
"""... of at most this share of their tokens ..."""
PASSAGE = 800
"""... of at most so many ..."""
ROOM = 0.75
"""... and of at most this share of what there is to spend."""

ALIKE = 0.4
"""Of a tool's output, what is worth less than this share of the best is not shown with it."""
TOOL_SOURCE = "tool:"


def longest_passage(tokens: float) -> float:
    """Return how many tokens of a record are shown at most where there are so many to spend."""
    return min(PASSAGE, ROOM * tokens)


class ReadRecord:
    """One record, read."""

    # Thousands are kept at hand: without a dict, each takes less room and less time to collect.
    __slots__ = (
        "_clauses",
        "_lists",
        "_said",
        "_spoken",
        "_tokens",
        "item",
        "only_calls",
        "plain",
        "size",
    )

    def __init__(self, record: Record, count: TokenCounter) -> None:
        self.item: Item = record_item(record)
        self.plain = " ".join(self.item.text.casefold().split())
        """Equal for two records that say the same."""
        self.size = len(self.item.text) + OVERHEAD
        # A character is at least a byte, and a token at least that.
        self._tokens = count(self.item.text) if len(self.item.text) > LONG else 0
        self._clauses: tuple[Clause, ...] = ()
        self._lists: bool | None = None
        self.only_calls = isinstance(record, Turn) and bool(record.calls) and not record.text
        """Whether it says nothing and calls tools."""
        self._said = record.says()
        self._spoken: tuple[Mapping[str, float], frozenset[str]] | None = None

    @property
    def lists(self) -> bool:
        """Whether it is long and lists many things, of which a question wants one."""
        from ..text.cutting.data import is_data

        if self._lists is None:
            self._lists = self._tokens > LONG and (self.is_output or is_data(self.item.text))
        return self._lists

    @property
    def is_output(self) -> bool:
        """Whether a tool answered it."""
        return self.item.source.startswith(TOOL_SOURCE)

    @property
    def spoken_of(self) -> tuple[Mapping[str, float], frozenset[str]]:
        """How much it speaks of each field of life, and its terms; worked out once."""
        if self._spoken is None:
            said = words(self._said)
            self._spoken = weights_of_words(said), frozenset(stems(said))
        return self._spoken

    def passage(self, worth: Mapping[str, float], longest: float = PASSAGE) -> str:
        """Return what the text is shown as when it is long; "" for one that is short enough."""
        if self._tokens <= LONG:
            return ""
        text = self.item.text
        self._clauses = self._clauses or clauses(text)
        half = self._tokens * SHARE
        # What clauses cost is a guess, and what they cost together is known.
        guess = sum([clause.tokens for clause in self._clauses]) / self._tokens
        limit = min(half * guess, longest)
        if self.lists:
            # One record of many answers, and the others only look like it.
            return passage(text, self._clauses, worth, min(limit, longest / 2), least=ALIKE)
        return passage(text, self._clauses, worth, limit, fill=half <= longest)


class Passages:
    """What is shown of records for one question, worked out once for each."""

    def __init__(self, *, worth: Mapping[str, float], longest: float, count: TokenCounter) -> None:
        self._worth = worth
        self._longest = longest
        self._count = count
        self._known: dict[str, str] = {}

    def of(self, reading: ReadRecord) -> str:
        """Return the passage of a record; "" for one that is short enough."""
        ref = reading.item.ref
        if ref not in self._known:
            self._known[ref] = reading.passage(self._worth, self._longest)
        return self._known[ref]

    def tokens(self, reading: ReadRecord) -> int:
        """Return what the passage of a long record costs."""
        return self._count(self.of(reading))


class Readings(LruCache[str, ReadRecord]):
    """The records of one user that were read and have not changed since, by ref."""

    def __init__(self) -> None:
        super().__init__(AT_HAND, weigh=attrgetter("size"))

    def read(
        self,
        store: Store,
        user: str,
        refs: Sequence[str],
        count: TokenCounter,
        faults: Faults | None = None,
    ) -> list[ReadRecord]:
        """Return the records of these refs that exist and can be read, in this order."""
        found = self.get_all(refs)
        missing = [ref for ref in refs if ref not in found]
        rows = store.get(user, missing) if missing else []
        # What is in view may be an entry or a piece of code, which nobody searches.
        rows = [row for row in rows if row.type in RECORD_TYPES]
        for reading in (faults or Faults()).read(rows, lambda row: ReadRecord(load(row), count)):
            found[reading.item.ref] = reading
            self.put(reading.item.ref, reading)
        return [found[ref] for ref in refs if ref in found]


_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - other scripts' full stops
_VALUE = re.compile(r"[}\]][,;]?\s*")
_BORDERS = (re.compile(r"\)[,;]?\s*"), re.compile(r"[,;|]\s+"), re.compile(r"[,;|\s]\s*"))
"""Where a long line is cut: behind a value, else an element or a cell, a word."""
_SHORTEST, _LONGEST = 40, 240
"""Characters of a clause; what has no full stop, such as JSON, is cut at the borders it has."""
_NEXT_TO_MATCH = 0.3
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, a line or a value: where it stands, what it costs and what it speaks of."""

    start: int
    end: int
    tokens: int
    """About; the passage is counted when it is printed."""
    terms: frozenset[str]


def clauses(text: str) -> tuple[Clause, ...]:
    """Return the sentences of a text; there is at least one in a text that says something."""
    return tuple(
        _clause(text, start, end)
        for first, last in _sentences(text)
        for start, end in _pieces(text, first, last)
    )


def passage(
    text: str,
    said: Sequence[Clause],
    worth: Mapping[str, float],
    limit: float,
    *,
    fill: bool = False,
    least: float = 0.0,
) -> str:
    """Return the sentences that hold the words worth most, in order, within the limit in tokens.

    The first sentence, which says what the text is about, counts as a match. With `fill` others
    follow, so that little is missing of a text that is not much longer. Those that are worth less
    than `least` of the best are left out.
    """
    held = [sum([worth[term] for term in worth.keys() & each.terms]) for each in said]
    value = [_with_neighbours(held, at) for at in range(len(held))]
    # ... but it comes behind the best of those that match.
    best = max(value)
    value[0] = max(value[0], 0.99 * best)
    kept: list[int] = []
    for at in sorted(range(len(said)), key=lambda at: -value[at]):
        if said[at].tokens <= limit and (value[at] > least * best or fill or not kept):
            limit -= said[at].tokens
            kept.append(at)
    return _joined(text, said, sorted(kept))


def opens_at(text: str, query: str) -> int:
    """Return where to open a text: a little before what holds most words of the query."""
    terms = frozenset(content_terms(query))
    said = clauses(text)
    held = [len(terms & each.terms) for each in said]
    if not any(held):
        return 0
    best = held.index(max(held))
    return said[max(0, best - 1)].start if best else 0


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if text[start : end.start()].strip():
            yield start, end.start()
        start = end.end()
    if text[start:].strip():
        yield start, len(text)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, cut at the borders of its values or words where it is long."""
    while end - start > _LONGEST:
        cut = _cut(text, start, start + _LONGEST)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _cut(text: str, start: int, last: int) -> int:
    """Return where a clause ends: with its value, else behind as much as it may hold."""
    value = _VALUE.search(text, start + _SHORTEST, last)
    if value:
        return value.end()
    for border in _BORDERS:
        found = [each.end() for each in border.finditer(text, start + _LONGEST // 3, last)]
        if found:
            return found[-1]
    return last


def _clause(text: str, start: int, end: int) -> Clause:
    said = text[start:end]
    tokens = len(said.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1
    return Clause(start, end, tokens, frozenset(content_terms(said)))


def _with_neighbours(held: Sequence[float], at: int) -> float:
    around = sum(held[max(0, at - 1) : at]) + sum(held[at + 1 : at + 2])
    return held[at] + _NEXT_TO_MATCH * around


def _joined(text: str, said: Sequence[Clause], kept: Sequence[int]) -> str:
    """Return these clauses with a mark for each gap, and between neighbours what the text has."""
    shown = ""
    last = -1
    for at in kept:
        if at == last + 1:
            shown += _between(text, said, last)
        else:
            before = _between(text, said, last) or " " if shown else ""
            shown += f"{before}{GAP}{_between(text, said, at - 1) or ' '}"
        shown += text[said[at].start : said[at].end]
        last = at
    return shown if last == len(said) - 1 else f"{shown}{_between(text, said, last) or ' '}{GAP}"


def _between(text: str, said: Sequence[Clause], at: int) -> str:
    """Return what stands behind a clause, before the next: a space, a new line, or nothing."""
    return text[said[at].end : said[at + 1].start] if at >= 0 else ""

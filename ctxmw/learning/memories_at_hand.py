"""Memories by their words, at hand for as long as many turns are learned from in a row.

What is learned is compared with what is known: a few look-ups for every statement. The store's own
index ranks every row that has one of the words, turns too, which takes longer the more was said.
Here are memories alone, and a look-up ends with the newest of those that share the rarest words:
it takes the same time however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from ..protocols import Find, Row, Store
from ..runtime.lru import LruCache
from ..text.terms import stem
from ..values.records import Memory

MOST = 256
"""Memories that are compared with what is asked for."""
_ROWS = 4096
"""Rows that are kept at hand."""
_LENGTH = 0.25
"""How much the length of a text counts against it."""


def with_memories_at_hand(store: Store, user: str) -> Store:
    """Return the store, finding this user's memories by their words without searching it.

    To be used in transactions of this user's, one after the other, by one thread.
    """
    return cast("Store", _MemoriesAtHand(store, user))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a memory."""

    ref: str
    scope: str
    seq: int
    terms: frozenset[str]


@dataclass(slots=True)
class _Words:
    """Which memories of one scope have a word, the newest last."""

    holding: dict[str, dict[str, None]] = field(default_factory=dict)
    """Refs by word: a table keeps their order, and lets go of one at once."""
    size: int = 0

    def add(self, ref: str, terms: frozenset[str]) -> None:
        self.size += 1
        for term in terms:
            self.holding.setdefault(term, {})[ref] = None

    def remove(self, ref: str, terms: frozenset[str]) -> None:
        self.size -= 1
        for term in terms:
            del self.holding[term][ref]

    def best(self, terms: Iterable[str]) -> dict[str, float]:
        """Return memories with some of these, each with how much that says of it."""
        asked = sorted((term for term in terms if self.holding.get(term)), key=self._frequency)
        found: dict[str, float] = {}
        for term in asked:
            found |= dict.fromkeys(islice(reversed(self.holding[term]), MOST), 0.0)
            if len(found) >= MOST:
                break
        for term in asked:
            weight = math.log(1 + self.size / self._frequency(term))
            for ref in found.keys() & self.holding[term].keys():
                found[ref] += weight
        return found

    def _frequency(self, term: str) -> int:
        return len(self.holding[term])


class _MemoriesAtHand:
    """A store that answers one question by itself, and passes on every other."""

    def __init__(self, inner: Store, user: str) -> None:
        self._inner = inner
        self._user = user
        self._seq: int | None = None
        """Up to where the feed was read; None before the first look-up."""
        self._scopes: dict[str, _Words] = {}
        self._known: dict[str, _Known] = {}
        self._rows: LruCache[str, Row] = LruCache(_ROWS)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # everything else is the store's own answer

    def search(self, user: str, words: Sequence[str], find: Find, /) -> list[tuple[Row, float]]:
        """Return live memories that hold any of the words, best first, of equal ones the newest."""
        plain = Find(types=(Memory.type,), scopes=find.scopes, limit=find.limit)
        if user != self._user or find != plain or len(find.scopes) != 1:
            return self._inner.search(user, words, find)
        self._follow()
        best = self._best(words, find.scopes[0])[: find.limit]
        known = self._rows.get_all(ref for ref, _ in best)
        read = self._inner.get(user, [ref for ref, _ in best if ref not in known])
        for row in read:
            self._rows.put(row.ref, row)
        known |= {row.ref: row for row in read}
        return [(known[ref], score) for ref, score in best]

    def _best(self, words: Sequence[str], scope: str) -> list[tuple[str, float]]:
        held = self._scopes.get(scope, _Words())
        found = held.best({stem(word) for word in words})
        scored = [(self._known[ref], score) for ref, score in found.items()]
        # Of two with the same words the shorter one comes first, of equal ones the newer.
        ranked = sorted(
            (score / len(one.terms) ** _LENGTH, one.seq, one.ref) for one, score in scored
        )
        return [(ref, score) for score, _, ref in reversed(ranked)]

    def _follow(self) -> None:
        """Take in what was written since the last look-up, by whomever."""
        head = self._inner.head(self._user)
        if self._seq is None:
            asked = Find(types=(Memory.type,), newest_first=False)
            self._take_in(self._inner.query(self._user, asked))
        elif self._seq < head:
            changes = self._inner.changes(self._user, self._seq, (Memory.type,))
            refs = [change.ref for change in changes]
            for ref in refs:
                self._let_go(ref)
            self._rows.let_go(refs)
            self._take_in(self._inner.get(self._user, refs))
        self._seq = head

    def _take_in(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.live:
                terms = frozenset(map(stem, row.search_text.split()))
                self._known[row.ref] = _Known(row.ref, row.scope, row.seq, terms)
                self._scopes.setdefault(row.scope, _Words()).add(row.ref, terms)

    def _let_go(self, ref: str) -> None:
        if ref in self._known:
            known = self._known.pop(ref)
            self._scopes[known.scope].remove(ref, known.terms)

"""What people said of what they were shown, and how far that moves the ranking.

An opinion counts for questions like the one it was given on, and a little for all. It moves a
record by so much and no further: whoever clicks a hundred times still cannot hide what answers a
question. Records that nobody rated stay where they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from math import tanh
from typing import Any, ClassVar, Literal

from ..protocols import Row, Store
from ..runtime.telemetry import Faults
from ..store.journal import Feed
from ..store.replica import Projection, Replica, rows_of
from ..text.terms import content_terms
from ..values.records import Derived, load_as

Value = Literal[-1, 0, 1]

ALIKE = 0.5
"""The share of their words that two questions have in common from which on they are alike."""
UP, DOWN = 3.0, 1.5
"""By how much the opinions on questions like this one can move a record, as a logarithm of its
chance to be evidence. Down less than up: a slip of the finger must not hide what answers."""
ANYWHERE = 0.3
"""By how much all opinions on a record together can move it for any question."""
ENOUGH = 4
"""How many opinions bring half of that."""
IN_PASSING = 0.25
"""What a word on the whole call counts for each thing that it showed."""
USERS = 256


class Feedback(Derived):
    """What somebody said of a thing they were shown, of a whole call, or of what was missing."""

    type: ClassVar[str] = "feedback"
    prefix: ClassVar[str] = "f"

    record: str
    """Ref of the call's record."""
    about: str = ""
    """Ref of what is rated; empty: the whole call, or something that nobody has remembered."""
    value: Value
    """1: it helped. -1: it did not. 0: whatever was said before is taken back."""
    note: str = ""
    missing: str = ""
    """What should have been there."""
    asked: tuple[str, ...] = ()
    """Stems of the question's words; they go when the question is forgotten."""
    shown: tuple[str, ...] = ()
    """Refs of what the turn brought, where the whole call is rated."""
    replaced: bool = False
    """Whether something else was said of the same since; then it is history."""

    def foreign(self) -> str:
        """Return the words of people in it: the rest is refs and figures."""
        return "\n\n".join([self.note, self.missing, *self.asked])

    def _columns(self) -> dict[str, Any]:
        return {"key": self.record, "digest": self.about, "live": not self.replaced}

    def counts(self) -> dict[str, float]:
        """Return how much it speaks for each record, by ref; against it, below zero."""
        if self.about:
            return {self.about: float(self.value)}
        return dict.fromkeys(self.shown, IN_PASSING * self.value)


class Opinions:
    """The opinions of each user, kept at hand and brought up to date by the changes feed."""

    def __init__(self, store: Store, feed: Feed, faults: Faults) -> None:
        make = partial(_OfUser, store, faults)
        self._replica = Replica(feed, (Feedback.type,), make, users=USERS)

    def moved(self, user: str, query: str, head: int | None = None) -> Mapping[str, float]:
        """Return by how much opinions move records for a query, by ref."""
        with self._replica.use(user, head) as own:
            return own.moved(query)


class _OfUser(Projection):
    def __init__(self, store: Store, faults: Faults, user: str) -> None:
        super().__init__()
        self._store = store
        self._faults = faults
        self._user = user
        self._given: dict[str, Feedback] = {}
        self._by_question: dict[frozenset[str], dict[str, float]] = {}
        self._by_term: dict[str, set[frozenset[str]]] = {}
        self._anywhere: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._given)

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if not written and not gone:
            return
        for ref in (*gone, *written):
            self._given.pop(ref, None)
        for rows in rows_of(self._store, self._user, written):
            self._faults.read([row for row in rows if row.live], self._read)
        self._add_up()

    def moved(self, query: str) -> dict[str, float]:
        if not self._given:
            return {}
        moved = dict(self._anywhere)
        for ref, sum_ in self._on_questions_like(frozenset(content_terms(query))).items():
            moved[ref] = moved.get(ref, 0.0) + (UP if sum_ > 0 else DOWN) * tanh(sum_)
        return moved

    def _on_questions_like(self, asked: frozenset[str]) -> dict[str, float]:
        """Return the sum of what was said of each record where something alike was asked."""
        sums: dict[str, float] = defaultdict(float)
        for other in {one for term in asked for one in self._by_term.get(term, ())}:
            alike = len(asked & other) / len(asked | other)
            if alike >= ALIKE:
                for ref, value in self._by_question[other].items():
                    sums[ref] += alike * value
        return sums

    def _read(self, row: Row) -> None:
        self._given[row.ref] = load_as(row, Feedback)

    def _add_up(self) -> None:
        by_question: dict[frozenset[str], dict[str, float]] = defaultdict(
            lambda: defaultdict(float)
        )
        total: dict[str, float] = defaultdict(float)
        for one in self._given.values():
            for ref, value in one.counts().items():
                total[ref] += value
                if one.asked:
                    by_question[frozenset(one.asked)][ref] += value
        self._by_question = dict(by_question)
        self._by_term = _by_term(by_question)
        self._anywhere = {
            ref: ANYWHERE * sum_ / (sum_ + ENOUGH) for ref, sum_ in total.items() if sum_ > 0
        }


def _by_term(questions: Iterable[frozenset[str]]) -> dict[str, set[frozenset[str]]]:
    found: dict[str, set[frozenset[str]]] = defaultdict(set)
    for question in questions:
        for term in question:
            found[term].add(question)
    return dict(found)

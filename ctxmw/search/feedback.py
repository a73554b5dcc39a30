"""What people said of what they were shown, what answers took up, and how far that moves things.

An opinion counts for questions like the one it was given on, and a little for all. It moves a
record by so much and no further: whoever clicks a hundred times still cannot hide what answers a
question. What often came back in answers rises a little. Records that nobody rated and no answer
took up stay where they are.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from math import tanh
from typing import Any, ClassVar, Literal, NamedTuple

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
USED = 0.2
"""By how much what answers took up can rise: less than by a single thumb on a question like this.
What is shown more is taken up more, and must not shut out the rest."""
OFTEN = 2
"""From so many answers on."""
CALLS = 200
"""The last so many calls count."""
CALL = "context"
"""The type of a call's record; it is made in a room above."""


class Sway(NamedTuple):
    """By how much a record is moved, as a logarithm of its chance to be evidence, and by what."""

    rated: float = 0.0
    used: float = 0.0

    @property
    def total(self) -> float:
        """What is added to its rank."""
        return self.rated + self.used

    def reasons(self) -> tuple[tuple[str, float], ...]:
        """Return what is told of it."""
        told = (("feedback", self.rated), ("used", self.used))
        return tuple((name, round(value, 2)) for name, value in told if value)


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
    """The opinions of each user and what was of use, kept at hand and followed by the feed."""

    def __init__(self, store: Store, feed: Feed, faults: Faults) -> None:
        make = partial(_OfUser, store, faults)
        self._replica = Replica(feed, (Feedback.type, CALL), make, users=USERS)

    def moved(self, user: str, query: str, head: int | None = None) -> Mapping[str, Sway]:
        """Return by how much opinions and use move records for a query, by ref."""
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
        self._calls: dict[str, tuple[datetime, tuple[str, ...]]] = {}
        self._order: list[tuple[datetime, str]] = []
        """When each of them was, and its ref: the oldest first."""
        self._times: Counter[str] = Counter()
        """How many of these calls took up each record."""
        self._used: dict[str, Sway] = {}

    def __len__(self) -> int:
        return len(self._given) + len(self._calls)

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if not written and not gone:
            return
        before = len(self._given)
        for ref in (*gone, *written):
            self._given.pop(ref, None)
            self._let_go_of_call(ref)
        said = [ref for ref in written if ref.startswith(Feedback.prefix)]
        # Of calls only the last are read: of a long history the beginning says little.
        called = [ref for ref in written if not ref.startswith(Feedback.prefix)][-CALLS:]
        for rows in rows_of(self._store, self._user, [*said, *called]):
            self._faults.read([row for row in rows if row.live], self._read)
        while len(self._order) > CALLS:
            self._let_go_of_call(self._order[0][1])
        if said or len(self._given) != before:
            self._add_up()

    def moved(self, query: str) -> dict[str, Sway]:
        if not self._given:
            return dict(self._used)
        rated = dict(self._anywhere)
        for ref, sum_ in self._on_questions_like(frozenset(content_terms(query))).items():
            rated[ref] = rated.get(ref, 0.0) + (UP if sum_ > 0 else DOWN) * tanh(sum_)
        moved = rated.keys() | self._used.keys()
        return {ref: Sway(rated.get(ref, 0.0), self._used.get(ref, Sway()).used) for ref in moved}

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
        if row.type == Feedback.type:
            self._given[row.ref] = load_as(row, Feedback)
        elif back := json.loads(row.body).get("came_back"):
            self._calls[row.ref] = row.at, tuple(back)
            insort(self._order, (row.at, row.ref))
            self._count(back, 1)

    def _let_go_of_call(self, ref: str) -> None:
        known = self._calls.pop(ref, None)
        if known is not None:
            at, back = known
            self._order.remove((at, ref))
            self._count(back, -1)

    def _count(self, back: Sequence[str], by: int) -> None:
        """Count that one call more or less took these up, and how far they rise with it."""
        for ref in back:
            times = self._times[ref] = self._times[ref] + by
            if times >= OFTEN:
                self._used[ref] = Sway(used=USED * times / (times + ENOUGH))
            else:
                self._used.pop(ref, None)
            if not times:
                del self._times[ref]

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

"""A user's records of some types, kept at hand as items and brought up to date by the changes feed.

Reading thousands of records for every conversation would cost more than choosing among them, and so
would rating them one by one: what a score is made of is kept in arrays, and only the best become
candidates. The feed tells what another thread or process wrote, so a shelf is never behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..columns import Column
from ..items import Item, Scope, changed
from ..protocols import Find, Row, Store
from ..recent import Recent
from ..scoring import AGES, OLDER, UNKNOWN, Weights, task_fit
from ..situation import TASKS, Situation

if TYPE_CHECKING:
    from numpy.typing import NDArray

USERS = 128
"""How many users' records are kept at hand."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """The best of a shelf, and how the scores of the others are spread."""

    items: tuple[Item, ...]
    others: NDArray[np.float64]
    """The scores of what is in scope and not on the list."""


class Shelf:
    """Items of every live row of these types, per user."""

    def __init__(
        self, store: Store, types: tuple[str, ...], item_of: Callable[[Row], Item]
    ) -> None:
        self._store = store
        self._types = types
        self._item_of = item_of
        self._users: Recent[str, _Kept] = Recent(USERS)

    def items(self, user: str) -> tuple[Item, ...]:
        """Return the user's items, as of now."""
        kept = self._users.get_or_make(user, _Kept)
        with kept.lock:
            self._refresh(user, kept)
            return tuple(kept.items[place] for place in kept.places.values())

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best trusted items in scope, rated: of each lane as many as it may have.

        Those with the same score come newest first.
        """
        kept = self._users.get_or_make(situation.user, _Kept)
        with kept.lock:
            self._refresh(situation.user, kept)
            scores = kept.scores(situation, weights)
            wanted = kept.wanted(situation)
            chosen = [
                place
                for lane, n in most.items()
                for place in kept.first(np.flatnonzero(wanted & kept.in_lane(lane)), scores, n)
            ]
            wanted[chosen] = False
            return Shortlist(
                items=tuple(kept.rated(chosen, scores, situation)), others=scores[wanted]
            )

    def _refresh(self, user: str, kept: _Kept) -> None:
        head = self._store.head(user)
        if head == kept.seq:
            return
        if kept.seq == 0:
            rows = self._store.query(user, Find(types=self._types, newest_first=False))
        else:
            changes = self._store.changes(user, kept.seq, self._types)
            for change in changes:
                kept.remove(change.ref)
            rows = self._store.get(user, [change.ref for change in changes if not change.gone])
        for row in rows:
            if row.live:
                kept.add(self._item_of(row))
        # Read before the rows were: what came in between is read again, and never missed.
        kept.seq = head


@dataclass
class _Kept:
    """One user's items, and what their scores are made of."""

    seq: int = 0
    items: list[Item] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        floats = ("seen", "at", "ages", "trusted", "alive", *TASKS)
        self._columns = {name: Column(np.zeros(0, np.float64)) for name in floats}
        numbers = ("scope", "lane", "session")
        self._columns |= {name: Column(np.zeros(0, np.int32)) for name in numbers}
        self._numbers: dict[str, dict[str, int]] = {name: {} for name in numbers}

    def add(self, item: Item) -> None:
        """Take in an item; one of the same ref is let go first."""
        self.remove(item.ref)
        self.places[item.ref] = len(self.items)
        self.items.append(item)
        values: dict[str, float] = {
            "seen": 1 - 1 / (1 + item.seen),
            "at": item.at.timestamp() if item.at else np.nan,
            "ages": item.ages,
            "trusted": item.trust == "trusted",
            "alive": True,
            "scope": self._number("scope", str(item.scope)),
            "lane": self._number("lane", item.lane),
            "session": self._number("session", item.session),
            **{task: task_fit(item.text, task) for task in TASKS},
        }
        for name, value in values.items():
            self._columns[name].append(value)

    def remove(self, ref: str) -> None:
        """Let go of an item."""
        place = self.places.pop(ref, None)
        if place is not None:
            self._columns["alive"][place] = 0

    def scores(self, situation: Situation, weights: Weights) -> NDArray[np.float64]:
        """Return the score of every place, as `scoring.score` gives it to one item."""
        seen, newness, task = self._signals(situation)
        total = weights.scope + weights.seen * seen + weights.recency * newness
        rounded: NDArray[np.float64] = np.round(total + weights.task * task, 4)
        return rounded

    def rated(
        self, places: Sequence[int], scores: NDArray[np.float64], situation: Situation
    ) -> Iterator[Item]:
        """Yield items with their scores and the reasons for them."""
        signals = [values[places].tolist() for values in self._signals(situation)]
        for place, score, seen, newness, task in zip(
            places, scores[places].tolist(), *signals, strict=True
        ):
            reasons = (("seen", seen), ("recency", newness), ("task", task))
            yield changed(self.items[place], score=score, reasons=reasons)

    def wanted(self, situation: Situation) -> NDArray[np.bool_]:
        """Say of each place whether it is a trusted item in scope, of another conversation."""
        scopes = [self._numbers["scope"].get(str(scope), -1) for scope in _scopes(situation)]
        here = np.isin(self._own("scope"), scopes)
        alive = (self._own("alive") > 0) & (self._own("trusted") > 0)
        own = self._numbers["session"].get(situation.session, -1) if situation.session else -1
        others: NDArray[np.bool_] = alive & here & (self._own("session") != own)
        return others

    def in_lane(self, lane: str) -> NDArray[np.bool_]:
        """Say of each place whether it is paid for by this lane."""
        within: NDArray[np.bool_] = self._own("lane") == self._numbers["lane"].get(lane, -1)
        return within

    def first(self, places: NDArray[np.intp], scores: NDArray[np.float64], n: int) -> Sequence[int]:
        """Return the n best of these places, the newest first among equals."""
        order = np.lexsort((-self._own("at")[places], -scores[places]))[:n]
        chosen: list[int] = places[order].tolist()
        return chosen

    def _signals(self, situation: Situation) -> tuple[NDArray[np.float64], ...]:
        """Return what is known of every place: how often seen, how new, how near to the task."""
        age = situation.now.timestamp() - self._own("at")
        newness = np.select([age < days * _DAY for days, _ in AGES], [v for _, v in AGES], OLDER)
        known = (self._own("ages") > 0) & ~np.isnan(age)
        task = self._own(situation.task) if situation.task else np.full(len(age), UNKNOWN)
        return self._own("seen"), np.where(known, newness, UNKNOWN), task

    def _own(self, name: str) -> NDArray[np.float64]:
        own: NDArray[np.float64] = self._columns[name].own
        return own

    def _number(self, what: str, name: str) -> int:
        names = self._numbers[what]
        return names.setdefault(name, len(names))


def _scopes(situation: Situation) -> list[Scope]:
    scopes = [Scope()]
    if situation.language:
        scopes.append(Scope("language", situation.language))
    if situation.project:
        scopes.append(Scope("project", situation.project))
    return scopes

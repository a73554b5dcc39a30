"""What the scores of many items are made of, in one table: a thousand are rated as fast as one.

The table holds no words. A copy of it can be kept as bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..items import Item, Scope
from ..scoring import AGES, OLDER, UNKNOWN, Weights, task_words_in
from ..situation import TASK_WORDS, Situation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_DAY = 86_400.0
_NAMED = ("scope", "lane", "session")
_TABLE = np.dtype(
    [
        ("at", np.float64),
        ("seen", np.int32),
        *((name, np.int32) for name in _NAMED),
        *((task, np.uint8) for task in TASK_WORDS),
        ("ages", np.bool_),
        ("trusted", np.bool_),
        ("alive", np.bool_),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """The scores of some places, and the signals behind them."""

    scores: Floats
    signals: tuple[Floats, Floats, Floats]
    """How often seen, how new, how near to the task."""
    holds: float
    """For how many seconds: then one of them is older by a step."""

    def reasons(self, chosen: Places) -> Iterator[tuple[tuple[str, float], ...]]:
        """Yield the signals of each of these, by name."""
        for seen, newness, task in zip(*(s[chosen].tolist() for s in self.signals), strict=True):
            yield ("seen", seen), ("recency", newness), ("task", task)


class Ratings:
    """The items of one user, each in its place."""

    def __init__(self) -> None:
        self.refs: list[str] = []
        self.places: dict[str, int] = {}
        self._table = np.zeros(64, _TABLE)
        self._numbers: dict[str, dict[str, int]] = {name: {} for name in _NAMED}

    def __len__(self) -> int:
        return len(self.refs)

    @property
    def dead(self) -> int:
        """How many places hold an item that is gone."""
        return len(self.refs) - len(self.places)

    def add(self, items: Iterable[Item]) -> None:
        """Take in items; those of the same refs are let go first."""
        new = {item.ref: item for item in items}
        for ref in new.keys() & self.places.keys():
            self.remove(ref)
        start = len(self.refs)
        self.places |= {ref: place for place, ref in enumerate(new, start)}
        self.refs += new
        self._make_room(len(self.refs))
        values = np.array([self._row(item) for item in new.values()], _TABLE)
        self._table[start : len(self.refs)] = values

    def remove(self, ref: str) -> None:
        """Let go of an item."""
        place = self.places.pop(ref, None)
        if place is not None:
            self._table["alive"][place] = False

    def wanted(self, situation: Situation) -> Places:
        """Return the places of trusted items in scope, of other conversations than the present."""
        table = self._own
        scopes = [self._number("scope", str(scope)) for scope in _scopes(situation)]
        here = np.isin(table["scope"], scopes) & table["alive"] & table["trusted"]
        own = self._number("session", situation.session) if situation.session else -1
        return np.flatnonzero(here & (table["session"] != own))

    def has_session(self, session: str) -> bool:
        """Say whether anything here comes from this conversation."""
        return session in self._numbers["session"]

    def in_lane(self, places: Places, lane: str) -> NDArray[np.bool_]:
        """Say of each of these places whether this lane pays for it."""
        within: NDArray[np.bool_] = self._own["lane"][places] == self._number("lane", lane)
        return within

    def rated(self, places: Places, situation: Situation, weights: Weights) -> Rated:
        """Return the score of each of these places, as `scoring.score` gives it to one item."""
        rows = self._own[places]
        age = situation.now.timestamp() - rows["at"]
        newness = np.select([age < days * _DAY for days, _ in AGES], [v for _, v in AGES], OLDER)
        newness = np.where(rows["ages"] & ~np.isnan(age), newness, UNKNOWN)
        seen = 1 - 1 / (1 + rows["seen"])
        task = np.full(len(rows), UNKNOWN)
        if situation.task:
            task += UNKNOWN * rows[situation.task] / len(TASK_WORDS[situation.task])
        total = weights.scope + weights.seen * seen + weights.recency * newness
        return Rated(
            scores=np.round(total + weights.task * task, 4),
            signals=(seen, newness, task),
            holds=min((_until(age, days * _DAY) for days, _ in AGES), default=np.inf),
        )

    def best(self, places: Places, scores: Floats, n: int) -> Places:
        """Return which n of these are the best, the newest first among equals."""
        times = self._own["at"][places]
        chosen = np.arange(len(places))
        if len(places) > 2 * n:
            # Milliseconds within a ten-thousandth of score: both fit into 64 bits.
            keys = np.round(scores * 10_000).astype(np.int64) << 44
            keys += np.clip(times * 1000, 0, 2**44 - 1).astype(np.int64)
            chosen = np.argpartition(keys, len(keys) - n)[len(keys) - n :]
        return chosen[np.lexsort((-times[chosen], -scores[chosen]))[:n]]

    def copied(self, seq: int) -> bytes:
        """Return the ratings as bytes, without what is gone."""
        alive = np.flatnonzero(self._own["alive"])
        about = {
            "seq": seq,
            "refs": [self.refs[place] for place in alive.tolist()],
            "names": {name: list(numbers) for name, numbers in self._numbers.items()},
        }
        return json.dumps(about).encode() + b"\n" + self._own[alive].tobytes()

    @classmethod
    def restored(cls, copy: bytes) -> tuple[Ratings, int]:
        """Return the ratings that `copied` made bytes of, and its position in the feed."""
        head, _, table = copy.partition(b"\n")
        about = json.loads(head)
        ratings = cls()
        ratings.refs = list(about["refs"])
        ratings.places = {ref: place for place, ref in enumerate(ratings.refs)}
        ratings._table = np.frombuffer(table, _TABLE).copy()
        ratings._numbers = {
            name: {known: number for number, known in enumerate(about["names"][name])}
            for name in _NAMED
        }
        if len(ratings._table) != len(ratings.refs):
            raise ValueError(f"{len(ratings._table)} ratings of {len(ratings.refs)} items")
        return ratings, int(about["seq"])

    @property
    def _own(self) -> NDArray[Any]:
        return self._table[: len(self.refs)]

    def _row(self, item: Item) -> tuple[Any, ...]:
        numbers = self._numbers
        named = (str(item.scope), item.lane, item.session)
        return (
            item.at.timestamp() if item.at else np.nan,
            item.seen,
            *(
                numbers[what].setdefault(name, len(numbers[what]))
                for what, name in zip(_NAMED, named, strict=True)
            ),
            *task_words_in(item.text),
            item.ages,
            item.trust == "trusted",
            True,
        )

    def _number(self, what: str, name: str) -> int:
        return self._numbers[what].get(name, -1)

    def _make_room(self, size: int) -> None:
        if size > len(self._table):
            more = np.zeros(max(size, 2 * len(self._table)) - len(self._table), _TABLE)
            self._table = np.concatenate([self._table, more])


def _until(age: Floats, limit: float) -> float:
    """Return in how many seconds the first of these is as old as that."""
    left = limit - age
    return float(left.min(where=left > 0, initial=np.inf))


def _scopes(situation: Situation) -> Sequence[Scope]:
    scopes = [Scope()]
    if situation.language:
        scopes.append(Scope("language", situation.language))
    if situation.project:
        scopes.append(Scope("project", situation.project))
    return scopes

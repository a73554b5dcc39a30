"""What the scores of many items are made of, in one table: a thousand are rated as fast as one.

The table holds no words. A snapshot of it can be kept as arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.packing import Unpacked, found_under, under
from ...search.lexical.columns import Column, small
from ...search.lexical.strings import RowNumbers, StringTable
from ...values.items import Item, Scope
from ...values.situation import (
    AGES,
    OLDER,
    TASK_WORDS,
    UNKNOWN,
    Situation,
    Weights,
    fit_of,
    often_seen,
    task_words_in,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Chosen = NDArray[np.intp]

_DAY = 86_400.0
_NAMED = ("scope", "lane", "session")
_KINDS = {
    **dict.fromkeys(("at", "since", "until"), "f8"),
    **dict.fromkeys(("seen", *_NAMED), "i4"),
    **dict.fromkeys((*TASK_WORDS, "ages", "instructs", "trusted", "alive"), "u1"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """The scores of some places, and the signals behind them."""

    scores: Floats
    signals: tuple[Floats, Floats, Floats]
    """How often seen, how new, how near to the task."""
    holds: float
    """For how many seconds: then one of them is older by a step."""

    def reasons(self, chosen: Chosen) -> Iterator[tuple[tuple[str, float], ...]]:
        """Return the signals of each of these, by name."""
        values = (signal[chosen].round(4).tolist() for signal in self.signals)
        return map(_by_name, *values)


class Ratings:
    """The items of one user, each in its place."""

    def __init__(self) -> None:
        self._columns = {name: Column(kind) for name, kind in _KINDS.items()}
        self._names = {name: StringTable() for name in _NAMED}
        self._places = RowNumbers()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def dead(self) -> int:
        """How many places hold an item that is gone."""
        return self._places.dead

    def ref(self, place: int) -> str:
        """Return the ref of the item at a place."""
        return self._places.ref(place)

    def add(self, items: Iterable[Item]) -> None:
        """Take in items; those of the same refs are let go first."""
        new = {item.ref: item for item in items}
        if not new:
            return
        for ref in new:
            self.remove(ref)
        self._places.add(list(new))
        rows = zip(*map(self._row, new.values()), strict=True)
        for column, values in zip(self._columns.values(), rows, strict=True):
            column.extend(values)
        self._places.settle()
        for names in self._names.values():
            names.settle()

    def remove(self, ref: str) -> None:
        """Let go of an item."""
        place = self._places.remove(ref)
        if place >= 0:
            self._columns["alive"][place] = 0

    def wanted(self, situation: Situation, start: int = 0) -> Chosen:
        """Return the places of trusted items in scope, of other conversations than the present.

        Only those from the place `start` on.
        """
        scope = self._own("scope")[start:]
        here = np.zeros(len(scope), bool)
        for name in _scopes(situation):
            here |= scope == self._number("scope", str(name))
        here &= (self._own("alive")[start:] & self._own("trusted")[start:]).view(bool)
        if situation.session and self.has_session(situation.session):
            here &= self._own("session")[start:] != self._number("session", situation.session)
        here &= self._own("since")[start:] <= (now := situation.now.timestamp())
        here &= now < self._own("until")[start:]
        return np.flatnonzero(here) + start

    def holds(self, situation: Situation) -> float:
        """Return for how many seconds nothing here begins to hold or runs out."""
        ends = (self._own("since"), self._own("until"))
        now = situation.now.timestamp()
        return min(_ahead(moments, now) for moments in ends)

    def has(self, ref: str) -> bool:
        """Say whether an item of this ref is here."""
        return self._places.find(ref) >= 0

    def has_session(self, session: str) -> bool:
        """Say whether anything here comes from this conversation."""
        return self._number("session", session) >= 0

    def instructing(self, places: Chosen) -> NDArray[np.bool_]:
        """Say of each of these places whether it holds an instruction."""
        return self._own("instructs")[places].view(bool)

    def in_lane(self, places: Chosen, lane: str) -> NDArray[np.bool_]:
        """Say of each of these places whether this lane pays for it."""
        within: NDArray[np.bool_] = self._own("lane")[places] == self._number("lane", lane)
        return within

    def rated(self, places: Chosen, situation: Situation, weights: Weights) -> Rated:
        """Return the score of each of these places, as `Rating.score` gives it to one item."""
        age = situation.now.timestamp() - self._own("at")[places]
        steps = np.array([days * _DAY for days, _ in AGES])
        values = np.array([*(value for _, value in AGES), OLDER])
        newness = values[np.searchsorted(steps, age, side="right")]
        newness[(self._own("ages")[places] == 0) | np.isnan(age)] = UNKNOWN
        seen = often_seen(self._own("seen")[places])
        task = np.full(len(places), UNKNOWN)
        if situation.task:
            task = fit_of(self._own(situation.task)[places], situation.task)
        return Rated(
            scores=np.round(weights.score(seen, newness, task), 4),
            signals=(seen, newness, task),
            holds=min((_until(age, days * _DAY) for days, _ in AGES), default=np.inf),
        )

    def best(self, places: Chosen, scores: Floats, n: int) -> Chosen:
        """Return which n of these are the best, the newest first among equals.

        Of the same time, that is what was written last: it stands behind the others.
        """
        times = self._own("at")[places]
        chosen = np.arange(len(places))
        if len(places) > 2 * n > 0:
            # Milliseconds within a ten-thousandth of score: both fit into 64 bits.
            keys = np.round(scores * 10_000).astype(np.int64) << 44
            keys += np.clip(times * 1000, 0, 2**44 - 1).astype(np.int64)
            # All that equal the last of the best: which of them are to be had is seen below.
            chosen = np.flatnonzero(keys >= np.partition(keys, len(keys) - n)[len(keys) - n])
        return chosen[np.lexsort((-places[chosen], -times[chosen], -scores[chosen]))[:n]]

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return the ratings as arrays."""
        arrays = under("column", {name: small(each.all) for name, each in self._columns.items()})
        arrays |= under("places", self._places.arrays())
        for what, names in self._names.items():
            arrays |= under(f"names.{what}", names.arrays())
        return arrays

    @classmethod
    def load(cls, kept: Unpacked) -> Ratings:
        """Return the ratings that `dump` gave."""
        _, arrays, whole = kept
        ratings = cls()
        ratings._columns = {
            name: Column.over(arrays[column], kind, whole=whole[column])
            for name, kind in _KINDS.items()
            if (column := f"column.{name}")
        }
        ratings._places = RowNumbers.of(found_under("places", arrays), found_under("places", whole))
        ratings._names = {
            name: StringTable.of(found_under(f"names.{name}", arrays)) for name in ratings._names
        }
        return ratings

    def _own(self, name: str) -> NDArray[Any]:
        return self._columns[name].own

    def _row(self, item: Item) -> tuple[Any, ...]:
        """Return what is kept of an item, in the order of the columns."""
        named = zip(_NAMED, (str(item.scope), item.lane, item.session), strict=True)
        return (
            item.at.timestamp() if item.at else np.nan,
            item.since.timestamp() if item.since else -np.inf,
            item.until.timestamp() if item.until else np.inf,
            item.seen,
            *(self._names[what].add(name) for what, name in named),
            *task_words_in(item.text),
            item.ages,
            item.instructs,
            item.trust == "trusted",
            True,
        )

    def _number(self, what: str, name: str) -> int:
        return self._names[what].find(name)


@lru_cache(maxsize=1024)
def _by_name(seen: float, newness: float, task: float) -> tuple[tuple[str, float], ...]:
    """Return signals as reasons: most items have the same, and they are kept but once."""
    return ("seen", seen), ("recency", newness), ("task", task)


def _until(age: Floats, limit: float) -> float:
    """Return in how many seconds the first of these is as old as that."""
    left = limit - age
    return float(left.min(where=left > 0, initial=np.inf))


def _ahead(moments: Floats, now: float) -> float:
    """Return in how many seconds the first of these moments comes."""
    return float(moments.min(where=moments > now, initial=np.inf)) - now


def _scopes(situation: Situation) -> Sequence[Scope]:
    scopes = [Scope()]
    if situation.language:
        scopes.append(Scope("language", situation.language))
    if situation.project:
        scopes.append(Scope("project", situation.project))
    return scopes

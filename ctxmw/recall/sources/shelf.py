"""A user's records of some types, rated and kept up to date by the changes feed.

Reading thousands of records for every conversation would cost more than choosing among them, and so
would rating them one by one: what a score is made of is kept in a table, and only the best are
read. The feed tells what another thread or process wrote, so a shelf is never behind. A copy of the
table is kept in the store, so that the next process need not read every record.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ...protocols import Find, Row, Store
from ...runtime.faults import Faults
from ...runtime.lru import LruCache
from ...store.snapshots import WORTH_KEEPING, Copies
from ...values.budget import MEMORY_LANES
from ...values.items import Item
from ...values.situation import Situation, Weights
from .ratings import Ratings
from .shortlist import Shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger("ctxmw")

USERS = 64
"""How many users' ratings are kept at hand."""
AT_HAND = 10
"""How many records of a user are kept at hand, beside those on a list."""
LISTS = 3
"""How many shortlists of a user are kept at hand."""
VERSION = 3
"""Of the table's layout and of what it is made from; copies of another version are not read."""
_LONGEST = 86_400.0
_PARTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed(Shortlist):
    """The best of a shelf, with what tells how long it holds."""

    made: datetime
    until: datetime
    """When something on the shelf will be older by a step."""
    places: NDArray[np.intp]
    """Where on the shelf the items stand."""
    size: int
    """How long the shelf was: what came behind it is looked at when it comes."""


_NOTHING = _Listed(
    items=(),
    made=datetime.min.replace(tzinfo=UTC),
    until=datetime.max.replace(tzinfo=UTC),
    places=np.zeros(0, np.intp),
    size=0,
)


class Shelf:
    """Items of every live row of these types, per user."""

    def __init__(
        self,
        store: Store,
        types: tuple[str, ...],
        item_of: Callable[[Row], Item],
        faults: Faults | None = None,
    ) -> None:
        self._store = store
        self._faults = faults or Faults()
        self._types = types
        self._item_of = item_of
        spaces = (f"ratings:{number}:{','.join(types)}" for number in (VERSION, VERSION - 1))
        self._copies = Copies(store, *spaces)
        self._users: LruCache[str, _Kept] = LruCache(USERS)

    def items(self, user: str) -> tuple[Item, ...]:
        """Return the user's items, as of now, oldest first."""
        return tuple(self._faults.read(self._every(user), self._item_of))

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best trusted items in scope, rated: of each lane as many as it may have.

        Of each scope's instructions the best are among them too, as many as the lane of that name
        may have. Those with the same score come newest first. As long as nothing changes, neither
        by itself nor with time, it is the same list.
        """
        user = situation.user
        kept = self._users.get_or_make(user, _Kept)
        with kept.lock:
            try:
                self._refresh(user, kept)
                listed = self._up_to_date(kept, situation, weights, most)
            finally:
                kept.let_go_if_tentative()
            copy = self._copy_due(kept)
        if copy:
            self._save(user, kept, *copy)
        return listed

    def _up_to_date(
        self, kept: _Kept, situation: Situation, weights: Weights, most: Mapping[str, int]
    ) -> Shortlist:
        asked = _asked(kept.ratings, situation, weights, most)
        listed = kept.lists.get(asked)
        if listed is None or not listed.made <= situation.now < listed.until:
            listed = _NOTHING
        if listed is _NOTHING or listed.size < len(kept.ratings):
            listed = self._listed(kept, situation, weights, most, listed)
            kept.lists.put(asked, listed)
        return listed

    def _listed(
        self,
        kept: _Kept,
        situation: Situation,
        weights: Weights,
        most: Mapping[str, int],
        before: _Listed,
    ) -> _Listed:
        """Return the best of the shelf: of what was listed before, and of all that came since."""
        ratings = kept.ratings
        places = np.concatenate([before.places, ratings.wanted(situation, before.size)])
        rated = ratings.rated(places, situation, weights)
        chosen = [
            within[ratings.best(places[within], rated.scores[within], n)].tolist()
            for within, n in _shares(ratings, places, most)
            if len(within)
        ]
        best = np.array(list(dict.fromkeys(chain.from_iterable(chosen))), np.intp)
        refs = [ratings.ref(place) for place in places[best].tolist()]
        found = self._read(situation.user, kept, refs)
        whole = zip(refs, rated.scores[best].tolist(), rated.reasons(best), strict=True)
        items = tuple(
            _rated(found[ref], score, reasons) for ref, score, reasons in whole if ref in found
        )
        # The list's items are those at hand: nothing is kept twice.
        kept.read.update((item.ref, item) for item in items)
        return _Listed(
            items=items,
            others=_joined(before.others, np.delete(rated.scores, best)),
            made=situation.now,
            until=min(before.until, situation.now + timedelta(seconds=min(rated.holds, _LONGEST))),
            places=places[best],
            size=len(ratings),
        )

    def _read(self, user: str, kept: _Kept, refs: Sequence[str]) -> Mapping[str, Item]:
        """Return the records of these refs; those read before and not changed since are at hand."""
        if len(kept.read) > len(refs) + AT_HAND:
            kept.read_only(refs)
        missing = [ref for ref in refs if ref not in kept.read]
        rows = [row for row in self._store.get(user, missing) if row.live] if missing else []
        kept.read.update((item.ref, item) for item in self._faults.read(rows, self._item_of))
        return kept.read

    def _every(self, user: str) -> list[Row]:
        return self._store.query(user, Find(types=self._types, newest_first=False))

    def _refresh(self, user: str, kept: _Kept) -> None:
        head = self._store.head(user)
        if head == kept.seq:
            return
        kept.tentative = self._store.in_atomic()
        if kept.seq == 0:
            self._begin(user, kept)
        if kept.seq == 0 or kept.ratings.dead > len(kept.ratings) // 2:
            kept.ratings, kept.unread = Ratings(), set()
            kept.ratings.add(self._faults.read(self._every(user), self._item_of, kept.unread.add))
            kept.forget_lists()
            kept.unsaved = len(kept.ratings)
        else:
            self._catch_up(user, kept)
        # Read before the rows were: what came in between is read again, and never missed.
        kept.seq = head

    def _catch_up(self, user: str, kept: _Kept) -> None:
        changes = self._store.changes(user, kept.seq, self._types)
        if not changes:
            return
        if any(change.gone or kept.ratings.has(change.ref) for change in changes):
            kept.forget_lists()
        for change in changes:
            kept.ratings.remove(change.ref)
            kept.read.pop(change.ref, None)
            kept.unread.discard(change.ref)
        self._take_in(user, kept, [change.ref for change in changes if not change.gone])
        kept.unsaved += len(changes)
        if len(kept.ratings) >= WORTH_KEEPING and self._copies.is_lost(user):
            kept.unsaved = len(kept.ratings)

    def _begin(self, user: str, kept: _Kept) -> None:
        try:
            found = self._copies.read(user, Ratings.restored)
        except (ValueError, KeyError, TypeError) as fault:
            log.warning("the copy of a user's ratings cannot be read and is made anew: %r", fault)
            return
        if found is not None:
            kept.ratings, kept.seq, unread = found
            # Another version of ctxmw may have made the copy: this one may read more.
            self._take_in(user, kept, unread)

    def _take_in(self, user: str, kept: _Kept, refs: Sequence[str]) -> None:
        rows = [row for row in self._store.get(user, refs) if row.live]
        items = self._faults.read(rows, self._item_of, kept.unread.add)
        kept.ratings.add(items)
        kept.read.update((item.ref, item) for item in items)

    def _copy_due(self, kept: _Kept) -> tuple[bytes, int] | None:
        if not self._copies.is_due(len(kept.ratings), kept.unsaved):
            return None
        return kept.ratings.copied(kept.seq, kept.unread), kept.seq

    def _save(self, user: str, kept: _Kept, copy: bytes, seq: int) -> None:
        # Not while the shelf is locked: who writes now may be waiting for it.
        if self._copies.save(user, copy, seq):
            kept.unsaved = 0


@dataclass
class _Kept:
    """One user's ratings, as of a position in the feed."""

    ratings: Ratings = field(default_factory=Ratings)
    seq: int = 0
    unsaved: int = 0
    unread: set[str] = field(default_factory=set)
    """Refs of records that could not be read, and are not rated."""
    read: dict[str, Item] = field(default_factory=dict)
    lists: LruCache[Hashable, _Listed] = field(default_factory=lambda: LruCache(LISTS))
    tentative: bool = False
    """Whether it holds what was read inside a transaction, and may be undone."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read_only(self, refs: Iterable[str]) -> None:
        """Keep of what was read only these, and what is on a list, where it is kept anyway."""
        listed = (item.ref for one in self.lists.values() for item in one.items)
        wanted = {*refs, *listed}
        self.read = {ref: item for ref, item in self.read.items() if ref in wanted}

    def forget_lists(self) -> None:
        self.lists = LruCache(LISTS)

    def let_go_if_tentative(self) -> None:
        """Hold nothing that may be undone; the next one to ask reads it again."""
        if self.tentative:
            self.ratings, self.seq, self.unsaved, self.read = Ratings(), 0, 0, {}
            self.tentative, self.unread = False, set()
            self.forget_lists()


def _shares(
    ratings: Ratings, places: NDArray[np.intp], most: Mapping[str, int]
) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Return among which of the places to choose how many: lane by lane, then instructions.

    Each scope's are chosen apart: many that hold everywhere must not hide the project's few.
    """
    instructing = ratings.instructing(places) if "instructions" in most else None
    for lane, n in most.items():
        within = ratings.in_lane(places, lane)
        yield np.flatnonzero(within), n
        if instructing is not None and lane in MEMORY_LANES:
            yield np.flatnonzero(within & instructing), most["instructions"]


def _rated(item: Item, score: float, reasons: tuple[tuple[str, float], ...]) -> Item:
    if item.score == score and item.reasons == reasons:
        return item
    # Built anew, not `changed`: it stays, and so takes a third less. Where it was learned is asked
    # of what a search found, and of nothing here.
    return replace(item, score=score, reasons=reasons, origins=())


def _joined(
    many: tuple[NDArray[np.float64], ...], few: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Return scores with some more behind them; the first and largest part is left alone."""
    return (*many, few) if len(many) < _PARTS else (many[0], np.concatenate([*many[1:], few]))


def _asked(
    ratings: Ratings, situation: Situation, weights: Weights, most: Mapping[str, int]
) -> Hashable:
    """Return what a shortlist depends on, beside the shelf and the time."""
    here = (situation.project, situation.language, situation.task)
    own = situation.session if ratings.has_session(situation.session) else ""
    return (*here, own, weights, *most.items())

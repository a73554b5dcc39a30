"""A user's records of some types, rated and kept up to date by the changes feed.

Reading thousands of records for every conversation would cost more than choosing among them, and so
would rating them one by one: what a score is made of is kept in a table, and only the best are
read. The feed tells what another thread or process wrote, so a shelf is never behind. A snapshot
of the table is kept in the store, so that the next process need not read every record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...protocols import Find, Row, Store
from ...runtime.lru import LruCache
from ...runtime.packing import Unpacked
from ...runtime.telemetry import Faults
from ...store.journal import Feed
from ...store.replica import SavedProjection, SavedReplica, rows_of
from ...values.budget import MEMORY_LANES
from ...values.items import Item
from ...values.situation import Situation, Weights
from .ratings import Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray


USERS = 64
"""How many users' ratings are kept at hand."""
AT_HAND = 10
"""How many records of a user are kept at hand, beside those on a list."""
LISTS = 3
"""How many shortlists of a user are kept at hand."""
VERSION = 4
"""Of the table's layout and of what it is made from; snapshots of another version are not read."""
_LONGEST = 86_400.0
_PARTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """The best of a source, rated, and the scores of the others."""

    items: tuple[Item, ...]
    others: tuple[NDArray[np.float64], ...] = ()
    """The scores of what is in scope and not on the list."""

    def left_out(self, floor: float) -> tuple[int, int]:
        """Return how many others have at least this score, and how many have not."""
        above = sum(int((scores >= floor).sum()) for scores in self.others)
        return above, sum(map(len, self.others)) - above


class ListedSource(Protocol):
    """A source as the pipeline asks it: of whatever it has, for the best."""

    name: str

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best that is in scope, rated: of each lane no more than can be shown."""
        ...


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
        *,
        faults: Faults | None = None,
        feed: Feed | None = None,
    ) -> None:
        self._store = store
        self._faults = faults or Faults()
        self._types = types
        self._item_of = item_of
        names = [f"ratings:{number}:{','.join(types)}" for number in (VERSION, VERSION - 1)]
        make = partial(_Shelved, store, self._read_rows)
        self._replica = SavedReplica(
            feed or Feed(store), types, make, users=USERS, space=(names[0], names[1])
        )

    def items(self, user: str) -> tuple[Item, ...]:
        """Return the user's items, as of now, oldest first."""
        rows = self._store.query(user, Find(types=self._types, newest_first=False))
        return tuple(self._faults.read(rows, self._item_of))

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best trusted items in scope, rated: of each lane as many as it may have.

        Of each scope's instructions the best are among them too, as many as the lane of that name
        may have. Those with the same score come newest first. As long as nothing changes, neither
        by itself nor with time, it is the same list.
        """
        with self._replica.use(situation.user) as shelved:
            return shelved.best(situation, weights, most)

    def _read_rows(self, rows: Iterable[Row], unread: Callable[[str], object]) -> list[Item]:
        return self._faults.read([row for row in rows if row.live], self._item_of, unread)


class _Shelved(SavedProjection):
    """One user's ratings, and what was read of the best."""

    def __init__(
        self,
        store: Store,
        read: Callable[[Iterable[Row], Callable[[str], object]], list[Item]],
        user: str,
    ) -> None:
        super().__init__()
        self._store = store
        self._read_rows = read
        self._user = user
        self._ratings = Ratings()
        self._read: dict[str, Item] = {}
        self._lists: LruCache[Hashable, _Listed] = LruCache(LISTS)

    def __len__(self) -> int:
        return len(self._ratings)

    @property
    def dead(self) -> int:
        return self._ratings.dead

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if gone or any(map(self._ratings.has, written)):
            self._lists = LruCache(LISTS)
        for ref in (*gone, *written):
            self._ratings.remove(ref)
            self._read.pop(ref, None)
            self.unread.discard(ref)
        for rows in rows_of(self._store, self._user, written):
            items = self._read_rows(rows, self.unread.add)
            self._ratings.add(items)
            if len(written) <= AT_HAND:
                self._read.update((item.ref, item) for item in items)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return self._ratings.dump(), {}

    def load(self, snapshot: Unpacked) -> None:
        self._ratings = Ratings.load(snapshot)

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the list at hand, or another one when it does not hold any more."""
        asked = _asked(self._ratings, situation, weights, most)
        listed = self._lists.get(asked)
        if listed is None or not listed.made <= situation.now < listed.until:
            listed = _NOTHING
        if listed is _NOTHING or listed.size < len(self):
            listed = self._listed(situation, weights, most, listed)
            self._lists.put(asked, listed)
        return listed

    def _listed(
        self, situation: Situation, weights: Weights, most: Mapping[str, int], before: _Listed
    ) -> _Listed:
        """Return the best of the shelf: of what was listed before, and of all that came since."""
        ratings = self._ratings
        places = np.concatenate([before.places, ratings.wanted(situation, before.size)])
        rated = ratings.rated(places, situation, weights)
        chosen = [
            within[ratings.best(places[within], rated.scores[within], n)].tolist()
            for within, n in _shares(ratings, places, most)
            if len(within)
        ]
        best = np.array(list(dict.fromkeys(chain.from_iterable(chosen))), np.intp)
        refs = [ratings.ref(place) for place in places[best].tolist()]
        found = self._items(refs)
        whole = zip(refs, rated.scores[best].tolist(), rated.reasons(best), strict=True)
        items = tuple(
            _rated(found[ref], score, reasons) for ref, score, reasons in whole if ref in found
        )
        # The list's items are those at hand: nothing is kept twice.
        self._read.update((item.ref, item) for item in items)
        holds = min(rated.holds, ratings.holds(situation), _LONGEST)
        return _Listed(
            items=items,
            others=_joined(before.others, np.delete(rated.scores, best)),
            made=situation.now,
            until=min(before.until, situation.now + timedelta(seconds=holds)),
            places=places[best],
            size=len(ratings),
        )

    def _items(self, refs: Sequence[str]) -> Mapping[str, Item]:
        """Return the records of these refs; those read before and not changed since are at hand."""
        if len(self._read) > len(refs) + AT_HAND:
            # Beside these only what is on a list, where it is kept anyway.
            listed = (item.ref for one in self._lists.values() for item in one.items)
            wanted = {*refs, *listed}
            self._read = {ref: item for ref, item in self._read.items() if ref in wanted}
        missing = [ref for ref in refs if ref not in self._read]
        rows = self._store.get(self._user, missing) if missing else []
        self._read.update((item.ref, item) for item in self._read_rows(rows, lambda _: None))
        return self._read


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

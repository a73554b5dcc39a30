"""One lexical index for each user, kept at hand and brought up to date by the changes feed.

An index is made from the store's rows, or from a snapshot that is kept in the store. One that
another version of the words or rules made is not read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..protocols import Row, Store
from ..runtime.packing import Unpacked
from ..runtime.telemetry import Faults
from ..store.journal import Feed
from ..store.replica import Kept, SavedProjection, SavedReplica, rows_of
from ..values.records import Memory, Turn, load
from .lexical.index import Document, LexicalIndex
from .question import SEARCHED
from .reading import Readings

if TYPE_CHECKING:
    from numpy.typing import NDArray

USERS = 64
"""How many users' indexes are kept at hand ..."""
RECORDS = 1_000_000
"""... and of how many records they may be together: about half a gigabyte."""
READ = 15_000_000
"""How many characters of what was read are kept at hand, for all users together."""
SPACE, OLDER = "lexical:6", "lexical:5"
"""Where snapshots are kept; the number rises when words, stems or columns change."""
_A_MOMENT = 200
"""Changes that are taken in within a few milliseconds."""
_PATIENCE = 0.05
"""Seconds that a writer waits for a search."""


class Searchable(SavedProjection):
    """What is kept at hand of one user: an index, and what was read of what it found."""

    def __init__(self, store: Store, faults: Faults, user: str) -> None:
        super().__init__()
        self._store = store
        self._faults = faults
        self._user = user
        self.index = LexicalIndex()
        self.readings = Readings()

    def __len__(self) -> int:
        return len(self.index)

    @property
    def dead(self) -> int:
        return self.index.dead

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        for refs in (written, gone):
            self.readings.let_go(refs)
            self.unread.difference_update(refs)
        for ref in gone:
            self.index.remove(ref)
        for rows in rows_of(self._store, self._user, written):
            shown = [row for row in rows if row.live and row.search_text]
            documents = self._faults.read(shown, document_of, self.unread.add)
            for ref in {row.ref for row in rows}.difference(each.ref for each in documents):
                self.index.remove(ref)
            self.index.add(documents)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        return self.index.dump()

    def load(self, snapshot: Unpacked) -> None:
        self.index = LexicalIndex.load(snapshot)


class Indexes:
    """The lexical indexes of a store's users."""

    def __init__(
        self, store: Store, feed: Feed | None = None, faults: Faults | None = None
    ) -> None:
        self._replica = SavedReplica(
            feed or Feed(store),
            SEARCHED,
            partial(Searchable, store, faults or Faults()),
            users=USERS,
            places=RECORDS,
            space=(SPACE, OLDER),
        )

    @contextmanager
    def use(self, user: str, head: int | None = None) -> Iterator[Searchable]:
        """Yield the user's index, as of now or of this position of the changes feed."""
        with self._replica.use(user, head) as searchable:
            yield searchable
            self._make_room(user)

    def is_at_hand(self, user: str, head: int | None = None) -> bool:
        """Say whether the user's index can be brought up to date in a moment."""
        return self._replica.behind(user, head) <= _A_MOMENT

    def follow(self, user: str) -> None:
        """Take in what was just written, if there is an index at hand and nobody is using it."""
        self._replica.follow(user, _A_MOMENT)

    def let_go(self, user: str) -> None:
        """Keep none of the user's records at hand, unless somebody is searching them."""
        with self._replica.at_hand(user) as kept:
            if kept is not None:
                kept.value.readings.clear()

    def at_hand(self, user: str) -> AbstractContextManager[Kept[Searchable] | None]:
        """Yield the user's index as it was last used; None when there is none, or it is busy."""
        return self._replica.at_hand(user, _PATIENCE)

    def make_ready(self, user: str) -> None:
        """Make the user's index, however long it takes."""
        with self.use(user):
            pass

    def read_size(self) -> int:
        """Return how many characters of what was read are kept at hand."""
        return sum(kept.value.readings.weight for kept in self._replica.every())

    def _make_room(self, user: str) -> None:
        """Let go of what was read for others, those first who searched longest ago."""
        size = self.read_size()
        if size <= READ:
            return
        for kept in self._replica.idle(but=user):
            size -= kept.value.readings.weight
            kept.value.readings.clear()
            if size <= READ:
                return


def document_of(row: Row) -> Document:
    """Return a row as search sees it."""
    record = load(row)
    said = isinstance(record, Turn)
    return Document(
        ref=row.ref,
        type=row.type,
        scope=row.scope,
        session=row.session if said else "",
        speaker=(record.speaker or record.role) if isinstance(record, Turn) else "",
        text=record.says(),
        words=row.search_text.split(),
        at=row.at,
        until=record.until if isinstance(record, Memory) else None,
    )

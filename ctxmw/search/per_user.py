"""One lexical index for each user, kept at hand and brought up to date by the changes feed.

An index is made from the store's rows. A copy is kept in the store, so that the next process reads
it instead of every text; what was written since comes from the feed, whoever wrote it. A copy that
cannot be read, or that another version of the words or rules made, is made anew.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..protocols import Row, Store
from ..runtime.faults import Faults
from ..runtime.lru import LruCache
from ..runtime.packing import Reads, packed, unpacked
from ..store.feed import Feed
from ..store.snapshots import WORTH_KEEPING, Copies
from ..values.records import Turn, load
from .filter import SEARCHED
from .lexical.index import Document, LexicalIndex
from .reading import Readings

log = logging.getLogger("ctxmw")

USERS = 64
"""How many users' indexes are kept at hand ..."""
RECORDS = 1_000_000
"""... and of how many records they may be together: about half a gigabyte."""
READ = 15_000_000
"""How many characters of what was read are kept at hand, for all users together."""
SPACE, OLDER = "lexical:4", "lexical:3"
"""Where copies are kept; the number rises when words, stems or columns change."""
_DEAD = 4
"""An index is made anew when a quarter of it is gone."""
_BATCH = 2000
_A_MOMENT = 200
"""Changes that are taken in within a few milliseconds."""
_PATIENCE = 0.05
"""Seconds that a writer waits for a search."""


class Indexes:
    """The lexical indexes of a store's users."""

    def __init__(
        self, store: Store, feed: Feed | None = None, faults: Faults | None = None
    ) -> None:
        self._store = store
        self._faults = faults or Faults()
        self._feed = feed or Feed(store, SEARCHED)
        self._copies = Copies(store, SPACE, OLDER)
        self._users: LruCache[str, Kept] = LruCache(
            USERS, room=RECORDS, weigh=lambda kept: len(kept.index), growing=True
        )

    def use(self, user: str, head: int | None = None) -> _Using:
        """Return the user's index, to be used in a `with`.

        It is as of now, or as of this position of the changes feed.
        """
        return _Using(self, user, self._users.get_or_make(user, Kept), head)

    def is_at_hand(self, user: str, head: int | None = None) -> bool:
        """Say whether the user's index can be brought up to date in a moment."""
        kept = self._users.get(user)
        head = self._store.head(user) if head is None else head
        return head - (kept.seq if kept else 0) <= _A_MOMENT

    def follow(self, user: str) -> None:
        """Take in what was just written, if there is an index at hand and nobody is using it.

        Who searches next finds it done.
        """
        kept = self._users.get(user)
        if kept is None or not kept.seq or self._store.in_atomic():
            return
        if not kept.lock.acquire(blocking=False):
            return
        try:
            head = self._store.head(user)
            if head - kept.seq <= _A_MOMENT:
                self.refresh(user, kept, head)
        finally:
            kept.lock.release()

    def let_go(self, user: str) -> None:
        """Keep none of the user's records at hand, unless somebody is searching them."""
        kept = self._users.get(user)
        if kept is not None and kept.lock.acquire(blocking=False):
            kept.readings.clear()
            kept.lock.release()

    @contextmanager
    def at_hand(self, user: str) -> Iterator[Kept | None]:
        """Yield the user's index as it was last used; None when there is none, or it is busy.

        Nothing is read, and nobody is waited for longer than a moment: whoever is writing may ask.
        """
        kept = self._users.get(user)
        if kept is None or not kept.lock.acquire(timeout=_PATIENCE):
            yield None
            return
        try:
            yield kept if kept.seq else None
        finally:
            kept.lock.release()

    def make_ready(self, user: str) -> None:
        """Make the user's index, however long it takes."""
        with self.use(user):
            pass

    def refresh(self, user: str, kept: Kept, head: int | None = None) -> None:
        """Bring an index up to date; the caller holds its lock."""
        head = self._store.head(user) if head is None else head
        if head <= kept.seq:
            return
        kept.tentative = self._store.in_atomic()
        if kept.seq == 0:
            self._begin(user, kept)
        self._catch_up(user, kept, head)
        if kept.index.dead * _DEAD > max(len(kept.index), WORTH_KEEPING):
            kept.index, kept.seq, kept.unread = LexicalIndex(), 0, set()
            self._catch_up(user, kept, head)

    def _catch_up(self, user: str, kept: Kept, head: int) -> None:
        dead = kept.index.dead
        changes = self._feed.changes(user, kept.seq, SEARCHED, head)
        written = [change.ref for change in changes if not change.gone]
        kept.readings.forget(change.ref for change in changes)
        for change in changes:
            if change.gone:
                kept.index.remove(change.ref)
        for start in range(0, len(written), _BATCH):
            self._take_in(kept, self._store.get(user, written[start : start + _BATCH]))
        kept.unread.difference_update(change.ref for change in changes if change.gone)
        kept.unsaved += len(changes)
        kept.seq = head
        if kept.index.dead > dead and self._copies.is_lost(user):
            kept.unsaved = len(kept.index)

    def _begin(self, user: str, kept: Kept) -> None:
        try:
            found = self._copies.read(user, _restored)
        except (ValueError, KeyError, TypeError) as fault:
            log.warning("the copy of a search index cannot be read and is made anew: %r", fault)
            return
        if found is not None:
            kept.index, kept.seq, unread = found
            # Another version of ctxmw may have made the copy: this one may read more.
            self._take_in(kept, self._store.get(user, unread))

    def _take_in(self, kept: Kept, rows: Sequence[Row]) -> None:
        refs = {row.ref for row in rows}
        kept.unread -= refs
        shown = [row for row in rows if row.live and row.search_text]
        documents = self._faults.read(shown, document_of, kept.unread.add)
        for ref in refs.difference(document.ref for document in documents):
            kept.index.remove(ref)
        kept.index.add(documents)

    def copy_due(self, kept: Kept) -> tuple[bytes, int] | None:
        """Return a copy to save and its position in the feed; the caller holds the lock."""
        if not self._copies.is_due(len(kept.index), kept.unsaved):
            return None
        return copied(kept.index, kept.seq, kept.unread), kept.seq

    def save(self, user: str, kept: Kept, copy: bytes, seq: int) -> None:
        """Keep a copy in the store. Nobody holds the lock: who writes now may wait for it."""
        # Where others keep writing it may fail: then it is tried again, but not at every search.
        kept.unsaved //= 2
        if self._copies.save(user, copy, seq):
            kept.unsaved = 0

    def make_room(self, user: str, used: Kept) -> None:
        """Let go of what is at hand for others, those first who searched longest ago."""
        self._users.put(user, used)  # which weighs it again: it has grown
        every = self._users.values()
        size = sum(kept.readings.size for kept in every)
        for kept in every:
            if size <= READ:
                return
            # Who searches now is not the one to go.
            if kept is not used and kept.lock.acquire(blocking=False):
                size -= kept.readings.size
                kept.readings.clear()
                kept.lock.release()


@dataclass
class Kept:
    """What is kept at hand of one user."""

    index: LexicalIndex = field(default_factory=LexicalIndex)
    readings: Readings = field(default_factory=Readings)
    seq: int = 0
    """How far the changes feed was followed."""
    unsaved: int = 0
    unread: set[str] = field(default_factory=set)
    """Refs of records that could not be read, and are not in the index."""
    tentative: bool = False
    """Whether it holds what was read inside a transaction, and may be undone."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def let_go_if_tentative(self) -> None:
        """Hold nothing that may be undone; the next search reads it again."""
        if self.tentative:
            self.index, self.seq, self.unsaved, self.tentative = LexicalIndex(), 0, 0, False
            self.unread = set()
            self.readings.clear()


class _Using:
    """A user's index while somebody searches it; one search at a time."""

    def __init__(self, indexes: Indexes, user: str, kept: Kept, head: int | None) -> None:
        self._indexes = indexes
        self._user = user
        self._kept = kept
        self._head = head

    def __enter__(self) -> Kept:
        self._kept.lock.acquire()
        try:
            self._indexes.refresh(self._user, self._kept, self._head)
        except BaseException:
            self._kept.let_go_if_tentative()
            self._kept.lock.release()
            raise
        return self._kept

    def __exit__(self, *_: object) -> None:
        try:
            self._kept.let_go_if_tentative()
            self._indexes.make_room(self._user, self._kept)
            copy = self._indexes.copy_due(self._kept)
        finally:
            self._kept.lock.release()
        if copy:
            self._indexes.save(self._user, self._kept, *copy)


def copied(index: LexicalIndex, seq: int, unread: Collection[str] = ()) -> bytes:
    """Return an index as bytes, with the refs of what could not be read for it."""
    arrays, about = index.dump()
    return packed({"seq": seq, "unread": sorted(unread), **about}, arrays)


def restored(file: Reads) -> tuple[LexicalIndex, int]:
    """Return the index that `copied` made bytes of, and its position in the feed."""
    index, seq, _ = _restored(file)
    return index, seq


def _restored(file: Reads) -> tuple[LexicalIndex, int, list[str]]:
    kept = unpacked(file)
    return LexicalIndex.load(kept), int(kept.about["seq"]), kept.about.get("unread", [])


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
    )

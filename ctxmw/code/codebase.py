"""The code of each user's projects, kept at hand and brought up to date by the changes feed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from ..protocols import Find, Row, Store
from ..runtime.faults import Faults
from ..runtime.lru import LruCache
from ..store.feed import Feed
from ..values.items import Scope
from ..values.records import load_as
from .files import CodeFile
from .index import ProjectCode

USERS = 32
"""How many users' code is kept at hand."""
_TYPES = (CodeFile.type,)


class Codebase:
    """What is known of the code in one store."""

    def __init__(
        self, store: Store, feed: Feed | None = None, faults: Faults | None = None
    ) -> None:
        self._store = store
        self._faults = faults or Faults()
        self._feed = feed or Feed(store, _TYPES)
        self._users: LruCache[str, _Kept] = LruCache(USERS)

    def use(self, user: str, project: str | None, head: int | None = None) -> _Using:
        """Return the code of a project, to be used in a `with`; None when there is none.

        It is as of now, or as of this position of the changes feed.
        """
        return _Using(self, user, project, self._users.get_or_make(user, _Kept), head)

    def refresh(self, user: str, kept: _Kept, head: int | None) -> None:
        """Bring a user's code up to date; the caller holds its lock."""
        head = self._store.head(user) if head is None else head
        if head <= kept.seq:
            return
        kept.tentative = self._store.in_atomic()
        if kept.seq == 0:
            rows = self._store.query(user, Find(types=_TYPES))
        else:
            changes = self._feed.changes(user, kept.seq, _TYPES, head)
            for gone in (change.ref for change in changes if change.gone):
                kept.let_go(gone)
            written = [change.ref for change in changes if not change.gone]
            rows = self._store.get(user, written) if written else []
        self._faults.read(rows, kept.take_in)
        # Read before the rows were: what came in between is read again, and never missed.
        kept.seq = head


@dataclass
class _Kept:
    seq: int = 0
    projects: dict[str, ProjectCode] = field(default_factory=dict)
    where: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The scope and the path behind each row."""
    tentative: bool = False
    """Whether it holds what was read inside a transaction, and may be undone."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def let_go_if_tentative(self) -> None:
        """Hold nothing that may be undone; the next one to look reads it again."""
        if self.tentative:
            self.seq, self.projects, self.where, self.tentative = 0, {}, {}, False

    def take_in(self, row: Row) -> None:
        self.let_go(row.ref)
        if row.live:
            file = load_as(row, CodeFile)
            self.where[row.ref] = (row.scope, file.path)
            self.projects.setdefault(row.scope, ProjectCode()).take_in(file)

    def let_go(self, ref: str) -> None:
        known = self.where.pop(ref, None)
        if known is not None:
            self.projects[known[0]].let_go(known[1])


class _Using:
    """A project's code while somebody looks at it."""

    def __init__(
        self, codebase: Codebase, user: str, project: str | None, kept: _Kept, head: int | None
    ) -> None:
        self._codebase = codebase
        self._head = head
        self._user = user
        self._project = project
        self._kept = kept

    def __enter__(self) -> ProjectCode | None:
        if not self._project:
            return None
        self._kept.lock.acquire()
        try:
            self._codebase.refresh(self._user, self._kept, self._head)
        except BaseException:
            self._kept.let_go_if_tentative()
            self._kept.lock.release()
            raise
        found = self._kept.projects.get(str(Scope("project", self._project)))
        return found if found is not None and found.files else None

    def __exit__(self, *_: object) -> None:
        if self._project:
            self._kept.let_go_if_tentative()
            self._kept.lock.release()

"""The code of each user's projects, kept at hand and brought up to date by the changes feed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..protocols import Row, Store
from ..runtime.packing import found_under, under
from ..runtime.telemetry import Faults
from ..store.journal import Feed
from ..store.replica import SavedProjection, SavedReplica, rows_of
from ..values.items import Scope
from ..values.records import load_as

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..runtime.packing import Unpacked
    from .files import CodeFile
    from .index import ProjectCode

TYPE = "code"
"""The type of the rows that files of code are kept in."""
SPACE, OLDER = "code:1", "code:0"
"""Where snapshots are kept; the number rises when words or their places change."""
FILES = 100
"""Of fewer files the words are counted sooner than a snapshot is read."""
USERS = 32
"""How many users' code is kept at hand."""


class Codebase:
    """What is known of the code in one store."""

    def __init__(
        self, store: Store, feed: Feed | None = None, faults: Faults | None = None
    ) -> None:
        make = partial(_Projects, store, faults or Faults())
        self._replica = SavedReplica(
            feed or Feed(store), (TYPE,), make, users=USERS, space=(SPACE, OLDER), worth=FILES
        )

    @contextmanager
    def use(
        self, user: str, project: str | None, head: int | None = None
    ) -> Iterator[ProjectCode | None]:
        """Yield the code of a project; None when there is none.

        It is as of now, or as of this position of the changes feed.
        """
        if not project:
            yield None
            return
        with self._replica.use(user, head) as projects:
            found = projects.by_scope.get(str(Scope("project", project)))
            yield found if found is not None and found.files else None

    def project_at(self, user: str, folder: Path) -> str | None:
        """Return the project whose code was indexed at this folder, or at the nearest above it."""
        with self._replica.use(user, None) as projects:
            roots = {
                Path(next(iter(code.files.values())).root): scope
                for scope, code in projects.by_scope.items()
                if code.files
            }
        around = (roots[one] for one in (folder, *folder.parents) if one in roots)
        found = next(around, None)
        return Scope.parse(found).name if found is not None else None


class _Projects(SavedProjection):
    """The code of one user's projects."""

    def __init__(self, store: Store, faults: Faults, user: str) -> None:
        super().__init__()
        self._store = store
        self._faults = faults
        self._user = user
        self.by_scope: dict[str, ProjectCode] = {}
        self._where: dict[str, tuple[str, str]] = {}
        """The scope and the path behind each row."""
        self._snapshot: Unpacked | None = None

    def __len__(self) -> int:
        return len(self._where)

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if self._snapshot is not None:
            self._begin_with(self._snapshot)
            self._snapshot = None
        for ref in (*gone, *written):
            scope, path = self._where.pop(ref, ("", ""))
            if scope:
                self.by_scope[scope].let_go(path)
        for rows in rows_of(self._store, self._user, written):
            self._faults.read([row for row in rows if row.live], self._read)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        from .snapshot import dumped

        arrays: dict[str, NDArray[Any]] = {}
        scopes: dict[str, Any] = {}
        for at, (scope, code) in enumerate(self.by_scope.items()):
            own, scopes[scope] = dumped(code)
            arrays |= under(str(at), own)
        return arrays, {"scopes": scopes, "refs": list(self._where)}

    def load(self, snapshot: Unpacked) -> None:
        # The rows are read in `take_in`: here the snapshot's own file is still open.
        self._snapshot = snapshot

    def _begin_with(self, snapshot: Unpacked) -> None:
        from .snapshot import loaded

        files: dict[str, dict[str, CodeFile]] = {}

        def put(row: Row) -> None:
            file = _file_of(row)
            self._where[row.ref] = (row.scope, file.path)
            files.setdefault(row.scope, {})[file.path] = file

        for rows in rows_of(self._store, self._user, snapshot.about["refs"]):
            self._faults.read([row for row in rows if row.live], put)
        for at, (scope, about) in enumerate(snapshot.about["scopes"].items()):
            arrays = found_under(str(at), snapshot.arrays)
            self.by_scope[scope] = loaded(arrays, about, files.get(scope, {}))

    def _read(self, row: Row) -> None:
        from .index import ProjectCode

        file = _file_of(row)
        self._where[row.ref] = (row.scope, file.path)
        self.by_scope.setdefault(row.scope, ProjectCode()).take_in(file)


def _file_of(row: Row) -> CodeFile:
    from .files import CodeFile

    return load_as(row, CodeFile)

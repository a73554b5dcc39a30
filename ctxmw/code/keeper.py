"""Keeps the code of a folder known, in the background: indexed at once, looked at now and then."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from time import monotonic
from typing import Self

from ..errors import CtxmwError
from .indexer import Bounds, Indexed, Indexer

log = logging.getLogger("ctxmw")

EVERY = 30.0
"""Seconds between two looks at the folder."""
UNASKED = Bounds(10_000, 200 * 2**20)
"""How much of a folder is indexed that nobody asked to index."""
_BREATH = 0.001
"""Seconds between two files of such a folder: whoever makes a call goes first."""
_REMEMBERED = 1000
_FOLDERS = 4
"""Folders that are looked at side by side."""


class _Ended(Exception):
    """Nobody wants the code any more."""


class KeptCode:
    """A folder whose code is kept known by a thread of its own, until it is closed.

    Nobody waits for it: what is indexed already is used meanwhile. Closing ends a run that is under
    way after the file it is at; what it wrote stays, and the next run goes on from there. One that
    nobody asked for looks once, within bounds, and steps back for calls.
    """

    def __init__(
        self,
        indexer: Indexer,
        user: str,
        path: Path,
        project: str | None,
        *,
        unasked: bool = False,
    ) -> None:
        self._unasked = unasked
        self._indexer = indexer
        self._user = user
        self._path = path
        self._project = project
        self._ended = threading.Event()
        self._looked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ctxmw-code", daemon=True)
        self.progress: tuple[int, int] = (0, 0)
        """How many files of the present run are done, and of how many."""
        self.indexed: Indexed | None = None
        """What the last run found."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Begin; starting twice is fine."""
        if self._thread.ident is None:
            self._thread.start()
        return self

    def close(self) -> None:
        """End it; closing twice is fine."""
        self._ended.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the first look to be done; say whether it is."""
        return self._looked.wait(timeout)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                bounds = UNASKED if self._unasked else None
                self.indexed = self._indexer.index(
                    self._user, self._path, self._project, self._done, bounds
                )
            except _Ended:
                break
            except (CtxmwError, OSError) as error:
                log.warning("the code of %s was not looked at: %s", self._path, error)
            except Exception:  # a store that is closed under it may raise anything
                log.exception("the code of %s is kept no longer", self._path)
                break
            self._looked.set()
            if self._unasked:
                break
            self._ended.wait(EVERY)
        self._looked.set()

    def _done(self, done: int, of: int) -> None:
        self.progress = (done, of)
        if self._ended.wait(_BREATH if self._unasked else 0):
            raise _Ended


class KeptFolders:
    """Looks at the folders that conversations are in, by itself, each once in a while."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._lock = threading.Lock()
        self._looks: dict[tuple[str, Path], tuple[float, KeptCode]] = {}
        self._closed = False

    def look(self, user: str, root: Path, project: str) -> KeptCode | None:
        """Begin to index a project's folder unless that is under way or was done just now."""
        with self._lock:
            began, look = self._looks.get((user, root), (-EVERY, None))
            if look is not None and (monotonic() - began < EVERY or not look.wait(0)):
                return look
            busy = sum(not one.wait(0) for _, one in self._looks.values())
            if self._closed or busy >= _FOLDERS:
                return None
            look = KeptCode(self._indexer, user, root, project, unasked=True)
            self._looks[user, root] = (monotonic(), look)
            while len(self._looks) > _REMEMBERED:
                self._looks.pop(next(iter(self._looks)))[1].close()
            return look.start()

    def close(self) -> None:
        """End what is under way."""
        with self._lock:
            self._closed = True
            looks = [look for _, look in self._looks.values()]
        for look in looks:
            look.close()

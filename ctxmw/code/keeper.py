"""Keeps the code of a folder known, in the background: indexed at once, looked at now and then."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Self

from ..errors import CtxmwError
from .indexer import Indexed, Indexer

log = logging.getLogger("ctxmw")

EVERY = 30.0
"""Seconds between two looks at the folder."""


class _Ended(Exception):
    """Nobody wants the code any more."""


class KeptCode:
    """A folder whose code is kept known by a thread of its own, until it is closed.

    Nobody waits for it: what is indexed already is used meanwhile. Closing ends a run that is under
    way after the file it is at; what it wrote stays, and the next run goes on from there.
    """

    def __init__(self, indexer: Indexer, user: str, path: Path, project: str | None) -> None:
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
                self.indexed = self._indexer.index(
                    self._user, self._path, self._project, self._done
                )
            except _Ended:
                break
            except (CtxmwError, OSError) as error:
                log.warning("the code of %s was not looked at: %s", self._path, error)
            except Exception:  # a store that is closed under it may raise anything
                log.exception("the code of %s is kept no longer", self._path)
                break
            self._looked.set()
            self._ended.wait(EVERY)
        self._looked.set()

    def _done(self, done: int, of: int) -> None:
        self.progress = (done, of)
        if self._ended.is_set():
            raise _Ended

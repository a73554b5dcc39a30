"""Takes saves of source files as activity: what changed is indexed, then told to conversations."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

from ..errors import CtxmwError, MissingPackage
from ..workspace.source_tree import language_of
from .indexer import Indexed, Indexer

log = logging.getLogger("ctxmw")

STEP, DEBOUNCE = 5, 50
"""Milliseconds: how often to look for more changes, and how long to wait for them at most."""
SECONDS_TO_BEGIN = 60.0
"""How long a system that is very busy may take until it tells of changes."""
SYMBOLS = 20


class Watch:
    """A folder being watched, in a thread of its own, until it is closed.

    Entering it, or its first `start()`, indexes the folder. Closing waits for what is being done.
    """

    def __init__(
        self,
        indexer: Indexer,
        notice: Callable[..., None],
        user: str,
        path: Path,
        project: str | None,
    ) -> None:
        self._changes = _watchfiles()
        self._indexer = indexer
        self._notice = notice
        self._user = user
        self._path = path
        self._project = project
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self.indexed: Indexed | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Index the folder and begin to watch; starting twice is fine."""
        if self._thread is None:
            self.indexed = self._indexer.index(self._user, self._path, self._project)
            self._thread = threading.Thread(target=self._run, name="ctxmw-watch", daemon=True)
            self._thread.start()
            # What is saved from now on is seen.
            self._ready.wait(timeout=SECONDS_TO_BEGIN)
        return self

    def close(self) -> None:
        """Watch no longer; closing twice is fine."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def wait(self) -> None:
        """Return when the watch is closed."""
        self._stop.wait()

    def _run(self) -> None:
        assert self.indexed is not None
        root = self.indexed.root
        batches = self._changes(
            self._path.resolve(),
            watch_filter=lambda _, path: language_of(path.replace("\\", "/")) is not None,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            raise_interrupt=False,
            yield_on_timeout=True,
            rust_timeout=500,
        )
        try:
            for batch in batches:
                self._ready.set()
                paths = sorted({Path(path).relative_to(root).as_posix() for _, path in batch})
                if paths:
                    self._saved(self.indexed.project, root, paths)
        except Exception:  # the watcher may raise anything when its folder goes
            log.exception("%s is watched no longer", root)
        finally:
            self._ready.set()

    def _saved(self, project: str, root: Path, paths: Iterable[str]) -> None:
        try:
            found = self._indexer.update(self._user, project, root, paths)
            for path, symbols in found.changed.items():
                there = (root / path).exists()
                done = {"type": "file_edit" if there else "file_close", "path": path}
                activity = {**done, "symbols": symbols[:SYMBOLS] if there else ()}
                self._notice(activity, user=self._user, project=project)
        except (CtxmwError, OSError) as error:
            log.warning("changes of %s were not taken in: %s", ", ".join(paths), error)


def _watchfiles() -> Callable[..., Any]:
    try:
        from watchfiles import watch
    except ImportError as error:
        raise MissingPackage(
            'watching a folder needs watchfiles: run pip install "ctxmw[watch]".'
        ) from error
    return watch

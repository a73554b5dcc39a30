"""Where the work takes place: source files, and what is done in an editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .code.indexer import Indexed, Indexer
from .code.watch import Watch
from .errors import InvalidValue
from .opened import Opened
from .runtime.async_twins import twin
from .values.records import check_name
from .workspace.activity import Activity, checked_activity, notice


class Workplace(Opened):
    """The part of the middleware that is about code and editors."""

    def index_code(
        self,
        path: str | Path,
        *,
        user: str | None = None,
        project: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Indexed:
        """Know the source files of a folder, or one file; again, only what has changed is read.

        They belong to the project, which is found from the folder unless given: conversations of
        that project get what a message names. `progress` is told how many files are done, and of
        how many.
        """
        name = check_name(project, "project") if project is not None else None
        return self._indexer.index(self._named(user), _path(path), name, progress)

    def notice(
        self,
        activity: Activity | Mapping[str, Any],
        *,
        user: str | None = None,
        project: str | None = None,
    ) -> None:
        """Tell every open conversation of a project what was done in an editor.

        Such as {"type": "file_edit", "path": "src/auth.py", "symbols": ["login"]}. Types:
        file_open, file_edit, file_close, symbol_hover, session_start. Without a project, every
        conversation of the user is told.
        """
        name = check_name(project, "project") if project is not None else None
        done, now = checked_activity(activity), self._setup.clock()
        notice(self._setup.store, self._named(user), name, done, now)

    def watch(
        self, path: str | Path, *, user: str | None = None, project: str | None = None
    ) -> Watch:
        """Index a folder and, until the watch is closed, take every save as an activity.

        Use it in a `with`, or call its `close()`. Needs `pip install "ctxmw[watch]"`.
        """
        name = check_name(project, "project") if project is not None else None
        return Watch(self._indexer, self.notice, self._named(user), _path(path), name)

    aindex_code = twin(index_code)
    anotice = twin(notice)

    @property
    def _indexer(self) -> Indexer:
        setup = self._setup
        return Indexer(setup.store, setup.surroundings.codebase, setup.clock)


def _path(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidValue(f"path is {path!r:.60}: give the path of a folder or file.")
    return Path(path)

"""`ContextMiddleware`: the only class to learn.

It remembers (`remember`, and what a conversation captures), recalls (`session(...).prepare`,
`search`), and forgets (`forget`). Everything it decides is written down and can be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self, Unpack

from .calls.end import end_idle
from .composition import Options, checked
from .conversation.conversation import Identity
from .conversation.history import record_behind, record_of
from .conversation.record import ContextRecord
from .conversation.state import SessionState
from .errors import InvalidValue
from .memory.hits import Hits, hits_of
from .option_checks import checked_texts, tokens
from .protocols import Find, Store
from .recall.catalog import Catalog
from .remembered import Remembered
from .runtime.async_twins import twin
from .runtime.observing import FOUND
from .search.filter import Filter
from .session import Session
from .store.open import store_at
from .text.secrets.redaction import redact_name
from .values.budget import Budget
from .values.messages import Placement, check_placement
from .values.records import (
    RECORD_TYPES,
    TYPES_OF_KIND,
    check_kind,
    check_name,
    check_scope,
    check_text,
    load_as,
)
from .values.refs import long_ref
from .values.situation import TASKS, Situation
from .workplace import Workplace
from .workspace.project import detect, resolved

_SHOWABLE = (*RECORD_TYPES, "entry", "activity")


class ContextMiddleware(Remembered, Workplace):
    """A memory for agents: remembers, finds what matters for a prompt, and fits it in.

    Made by `open`. One object serves any number of conversations and threads.
    """

    @classmethod
    def open(cls, path: str | Path | None = None, **options: Unpack[Options]) -> Self:
        """Open the memory in this file, or in a database: "postgresql://USER@HOST/DATABASE".

        No path: a file in the user's data folder (CTXMW_HOME moves it). ":memory:" keeps nothing.
        """
        store = store_at(path)
        try:
            return cls(store, **options)
        except BaseException:
            store.close()
            raise

    @property
    def catalog(self) -> Catalog:
        """Rules, references and tools that conversations can have."""
        return self._setup.catalog

    def search(
        self,
        query: str,
        *,
        user: str | None = None,
        limit: int = 10,
        budget: int | None = None,
        kinds: Sequence[str] = (),
        scope: str | None = None,
        since: datetime | None = None,
    ) -> Hits:
        """Return what was remembered or said that answers the query, best first.

        `budget` is in tokens, over the texts of the hits together.
        """
        name = self._named(user)
        if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
            raise InvalidValue(f"since is {since!r:.60}: give an aware datetime.")
        types = _types_of(kinds) or tuple(RECORD_TYPES)
        scopes = (check_scope(scope),) if scope is not None else ()
        room = 40 * _positive(limit, "limit") if budget is None else tokens(budget, "budget")
        # Whoever has no budget may see a turn and what was learned from it.
        twice = budget is None
        wanted = Filter(types=types, scopes=scopes, since=since, tokens=room, lessons=twice)
        situation = Situation(user=name, query=_text(query), now=self._setup.clock())
        with self._setup.observer.operation("search", query=situation.query) as told:
            found = self._setup.search.find(situation, self._setup.weights, wanted)
            told[FOUND] = len(found.items)
        items = [item for item in found.items if not kinds or item.kind in kinds]
        if budget is None:
            items = [item for item in items if item.ref in found.matching]
        most = _positive(limit, "limit")
        return hits_of(self._setup, name, items, limit=most, budget=budget)

    def session(
        self,
        id: str | None = None,  # noqa: A002 - the word the caller knows
        *,
        user: str | None = None,
        project: str | None = None,
        language: str | None = None,
        task: str | None = None,
        cwd: str | Path | None = None,
        files: Sequence[str] = (),
        budget: Budget | None = None,
        placement: Placement | None = None,
    ) -> Session:
        """Return the conversation of that id; a new one without.

        With `cwd`, project and language are found there unless given, and AGENTS.md and the rules
        of its folders hold. Records that name one of the `files` in play are preferred.
        """
        if task is not None and task not in TASKS:
            raise InvalidValue(f"task is {task!r}. Allowed: {', '.join(TASKS)}.")
        if id is not None:
            id = check_name(check_text(id, "a session's id"), "a session's id")  # noqa: A001
        if project is not None:
            project = check_name(project, "project")
        if language is not None:
            language = check_name(language, "language")
        if cwd is not None and not isinstance(cwd, str | Path):
            raise InvalidValue(f"cwd is {cwd!r:.60}: give the path of a folder.")
        folder = resolved(Path(cwd)) if cwd is not None else None
        place = detect(folder) if folder is not None else None
        who = Identity(
            user=self._named(user),
            session=id or long_ref("chat-", self._setup.random),
            project=project or (redact_name(place.project) if place and place.project else None),
            language=language.lower() if language else (place.language if place else None),
            task=task,
            files=checked_texts(files, "files"),
            cwd=folder,
            root=place.root if place else None,
            budget=checked(self._setup.budget if budget is None else budget, Budget),
            placement=check_placement(self._setup.placement if placement is None else placement),
        )
        return Session(self._setup, who)

    def owns(self, session: Session) -> bool:
        """Say whether a conversation is one of this memory, and not of another."""
        return isinstance(session, Session) and session.workers is self.workers

    def sessions(self, *, user: str | None = None) -> list[SessionState]:
        """Return the user's conversations, the one used last first."""
        name = self._named(user)
        end_idle(self._setup, Identity(user=name, session=""))
        rows = self._setup.store.query(name, Find(types=("session",)))
        return self._setup.faults.read(rows, lambda row: load_as(row, SessionState))

    def position(self, after: int | None = None, *, user: str | None = None) -> int:
        """Return where the user's changes stand, to learn later whether something happened.

        With `after`, a position returned before: the same number when nothing that can be shown
        was added, changed or forgotten since, in whatever process.
        """
        name = self._named(user)
        if after is None:
            return self._setup.store.head(name)
        changes = self._setup.store.changes(name, after, _SHOWABLE)
        return max((change.seq for change in changes), default=after)

    def why(self, answer: str, *, user: str | None = None) -> ContextRecord | None:
        """Return the record of the call that gave an answer: by its text, its id, or our ref."""
        name = self._named(user)
        said = check_text(answer, "answer")
        return record_of(self._setup, name, said) or record_behind(self._setup, name, said)

    def reindex(
        self, *, user: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Embed everything anew, after the embedder changed; return how many records it were.

        `progress` is told how many are done, and of how many.
        """
        if self._setup.dense is None:
            raise InvalidValue("there is no embedder to reindex with: open with embedder=...")
        return self._setup.dense.vectors.reindex(self._named(user), progress).embedded

    def settle(self, timeout: float = 30.0) -> bool:
        """Wait until the summarizer has been asked all there is; say whether that came in time."""
        distiller = self._setup.distiller
        return distiller is None or distiller.settle(timeout)

    def stats(self) -> dict[str, float]:
        """Return what happened in this process, by name.

        Calls and their times ("prepare.calls", "prepare.ms.p50"), tokens by lane, degraded calls
        by stage and error, and the share of items shown whose own words came back in the answer.
        With an embedder also how many records wait to be embedded.
        """
        dense = self._setup.dense
        return self._setup.stats.snapshot() | (dense.counts() if dense is not None else {})

    def close(self) -> None:
        """Let go of files and threads; closing twice is fine."""
        if self._setup.distiller is not None:
            self._setup.distiller.close()
        self._setup.workers.close()
        if self._setup.dense is not None:
            self._setup.dense.close()
        self._setup.store.close()

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        # It holds files and threads: a copy of whatever refers to it refers to the same memory.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process opens the same store again, with the same options.
        return _reopened, (type(self), self._setup.store, dict(self._options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    asessions = twin(sessions)
    aposition = twin(position)
    awhy = twin(why)
    asettle = twin(settle)
    asearch = twin(search)
    areindex = twin(reindex)


def _reopened(
    cls: type[ContextMiddleware], store: Store, options: dict[str, Any]
) -> ContextMiddleware:
    return cls(store, **options)


def _types_of(kinds: Sequence[str]) -> tuple[str, ...]:
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        raise InvalidValue(f"kinds is {kinds!r:.60}: give a list of kinds, such as ['decision'].")
    for kind in kinds:
        check_kind(kind, tuple(TYPES_OF_KIND), "record")
    return tuple({type_ for kind in kinds for type_ in TYPES_OF_KIND[kind]})


def _text(query: object) -> str:
    if not isinstance(query, str):
        raise InvalidValue(f"query must be text, not {type(query).__name__} ({query!r:.60}).")
    return query


def _positive(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValue(f"{name} is {value!r}: it must be a whole number, 0 or more.")
    return value

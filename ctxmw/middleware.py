"""`ContextMiddleware`: the only class to learn.

It remembers (`remember`, and what a conversation captures), recalls (`session(...).prepare`,
`search`), and forgets (`forget`). Everything it decides is written down and can be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, Self, Unpack

from .activity import Activity, checked_activity, notice
from .budget import Budget
from .catalog import Catalog
from .conversation import Identity
from .endings import end_idle
from .errors import InvalidValue, MissingUser, NotFound
from .forgetting import forget, is_learned
from .history import record_behind, record_of
from .hits import Hits, hits_of
from .indexing import Indexed, Indexer
from .items import Scope, Trust
from .messages import Placement, check_placement
from .observing import FOUND
from .opening import Options, checked, setup_of
from .protocols import Find, Store
from .provenance import ContextRecord
from .records import (
    MEMORY_KINDS,
    RECORD_TYPES,
    TYPES_OF_KIND,
    Memory,
    Record,
    check_kind,
    check_name,
    check_text,
    check_user,
    load,
    load_all,
)
from .redaction import redact
from .refs import long_ref
from .remembering import edit, remember, versions
from .session import Session
from .situation import TASKS, Situation, detect, resolved
from .state import SessionState
from .stores import store_at
from .transfer import export, import_
from .twins import Workers, twin
from .wanted import Wanted
from .watching import Watch

_SHOWABLE = (*RECORD_TYPES, "entry", "activity")


class _Unset(Enum):
    # Tells forget(user="ada") from forget(None, user="ada"): the second is a lookup that failed.
    UNSET = auto()


class ContextMiddleware:
    """A memory for agents: remembers, finds what matters for a prompt, and fits it in.

    Made by `open`. One object serves any number of conversations and threads.
    """

    def __init__(self, store: Store, **options: Unpack[Options]) -> None:
        self._options = options
        user = options.get("user", "local")
        self._user = check_user(user) if user is not None else None
        self._setup = setup_of(store, options)

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
    def user(self) -> str | None:
        """Whose memory it is; None when every call names its user."""
        return self._user

    @property
    def catalog(self) -> Catalog:
        """Rules, references and tools that conversations can have."""
        return self._setup.catalog

    @property
    def store(self) -> Store:
        """The system of record behind it."""
        return self._setup.store

    @property
    def workers(self) -> Workers:
        return self._setup.workers

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        scope: str = "universal",
        key: str = "",
        user: str | None = None,
        source: str = "user",
        trust: Trust | None = None,
    ) -> Memory:
        """Remember a text; it is on disk when this returns.

        Kinds: preference, rule, anti_pattern, decision, correction, fact. The same text again is
        counted, not stored twice. Another text under the same key takes the old one's place.
        Secrets are taken out before anything is written. Without `trust`, it is as far to be
        trusted as its source.
        """
        check_kind(kind, MEMORY_KINDS, "memory")
        check_name(source, "source")
        said = redact(check_text(text, "what to remember")).text
        name = self._named(user)
        memory = remember(
            self._setup,
            name,
            text=said,
            kind=kind,
            scope=str(Scope.parse(scope)),
            key=redact(check_name(key, "key")).text,
            source=redact(source).text,
            trust=self._setup.trust_in(source, trust),
        )
        self._setup.search.keep_up(name)
        self._setup.has_news(name)
        return memory

    def edit(
        self,
        ref: str,
        text: str,
        *,
        kind: str | None = None,
        scope: str | None = None,
        user: str | None = None,
    ) -> Memory:
        """Put another text in a memory's place; kind and scope stay unless given.

        The old version is kept as history (`versions`), and conversations that show it are told.
        """
        changes = {"text": redact(check_text(text, "what to remember")).text}
        if kind is not None:
            check_kind(kind, MEMORY_KINDS, "memory")
            changes["kind"] = kind
        if scope is not None:
            changes["scope"] = str(Scope.parse(scope))
        return edit(self._setup, self._named(user), ref, **changes)

    def forget(
        self,
        ref: str | _Unset | None = _Unset.UNSET,
        *,
        source: str | None = None,
        session: str | None = None,
        user: str | None = None,
    ) -> int:
        """Remove one record, all of a source, all of a conversation, or all of a user.

        Every copy goes: older versions, what was learned from it, its words in turns, summaries,
        search, and the text in blocks that showed it. Returns how many records there were. Naming
        only the user forgets everything about that user.
        """
        asked = {"ref": ref, "source": source, "session": session}
        given = {name: value for name, value in asked.items() if value not in (None, _Unset.UNSET)}
        if ref is None or "" in given.values() or len(given) > 1 or not (given or user):
            named = {name: value for name, value in asked.items() if value is not _Unset.UNSET}
            raise InvalidValue(
                f"forget was given {named | {'user': user}!r}: name one of ref, source or session, "
                "or only the user to forget everything about them."
            )
        name = self._named(user)
        if "ref" in given:
            rows = self._setup.store.get(name, [str(ref)])
            if not rows or rows[0].type not in RECORD_TYPES:
                raise NotFound(f"there is no record {ref!r} of user {name!r}: see search().")
        else:
            sources, sessions = (source,) if source else (), (session,) if session else ()
            find = Find(live=None, sources=sources, sessions=sessions)
            rows = self._setup.store.query(name, find)
            rows = [row for row in rows if not (session and is_learned(row))]
        return forget(self._setup, name, rows)

    def get(self, refs: Sequence[str], *, user: str | None = None) -> list[Record]:
        """Return the records of these refs that exist, in the order asked for."""
        if isinstance(refs, str) or not isinstance(refs, Sequence):
            raise InvalidValue(f"refs is {refs!r:.60}: give a list of refs, such as ['m3k7qza'].")
        rows = self._setup.store.get(self._named(user), list(refs))
        return [load(row) for row in rows if row.type in RECORD_TYPES]

    def versions(self, ref: str, *, user: str | None = None) -> list[Memory]:
        """Return every version of a memory, the newest first."""
        found = [record for record in self.get([ref], user=user) if isinstance(record, Memory)]
        if not found:
            raise NotFound(f"there is no memory {ref!r}: see search().")
        return versions(self._setup, found[0])

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
        scopes = (str(Scope.parse(scope)),) if scope else ()
        tokens = 40 * _positive(limit, "limit") if budget is None else _positive(budget, "budget")
        # Whoever has no budget may see a turn and what was learned from it.
        twice = budget is None
        wanted = Wanted(types=types, scopes=scopes, since=since, tokens=tokens, lessons=twice)
        situation = Situation(user=name, query=_text(query), now=self._setup.clock())
        with self._setup.observer.operation("search", query=situation.query) as told:
            found = self._setup.search.find(situation, self._setup.weights, wanted)
            told[FOUND] = len(found.items)
        items = [item for item in found.items if not kinds or item.kind in kinds]
        if budget is None:
            items = [item for item in items if item.ref in found.matching]
        most = _positive(limit, "limit")
        return hits_of(self._setup, items, found.records, limit=most, budget=budget)

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
            check_name(check_text(id, "a session's id"), "a session's id")
        for what, value in (("project", project), ("language", language)):
            if value is not None:
                check_name(value, what)
        if cwd is not None and not isinstance(cwd, str | Path):
            raise InvalidValue(f"cwd is {cwd!r:.60}: give the path of a folder.")
        folder = resolved(Path(cwd)) if cwd is not None else None
        place = detect(folder) if folder is not None else None
        who = Identity(
            user=self._named(user),
            session=id or long_ref("chat-", self._setup.random),
            project=project or (place.project if place else None),
            language=language.lower() if language else (place.language if place else None),
            task=task,
            files=_texts(files, "files"),
            cwd=folder,
            root=place.root if place else None,
            budget=checked(self._setup.budget if budget is None else budget, Budget),
            placement=check_placement(placement or self._setup.placement),
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
        return load_all(rows, SessionState)

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

    def export(self, path: str | Path, *, user: str | None = None) -> int:
        """Write everything of a user to a file of JSON lines; return how many records it were.

        The file takes the place of an older one only when it is whole.
        """
        return export(self._setup.store, self._named(user), _file(path))

    def import_(self, path: str | Path, *, user: str | None = None) -> int:
        """Take in what an export holds, for this user; return how many were new or newer.

        All of it or nothing: a line that makes no sense is named. Importing twice changes nothing
        more.
        """
        return import_(self._setup.store, self._named(user), _file(path))

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

    @property
    def _indexer(self) -> Indexer:
        setup = self._setup
        return Indexer(setup.store, setup.surroundings.codebase, setup.clock)

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
    aremember = twin(remember)
    aedit = twin(edit)
    aforget = twin(forget)
    aexport = twin(export)
    aimport_ = twin(import_)
    aget = twin(get)
    asettle = twin(settle)
    asearch = twin(search)
    areindex = twin(reindex)
    aindex_code = twin(index_code)
    anotice = twin(notice)

    def _named(self, user: str | None) -> str:
        if user is not None:
            return check_user(user)
        if self._user is None:
            raise MissingUser(
                "this memory serves many users and the call names none: pass user='...'."
            )
        return self._user


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


def _texts(values: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise InvalidValue(f"{what} is {values!r:.60}: give a list of texts.")
    return tuple(values)


def _file(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidValue(f"path is {path!r:.60}: give the path of a file.")
    return Path(path).absolute()


def _path(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidValue(f"path is {path!r:.60}: give the path of a folder or file.")
    return Path(path)


def _text(query: object) -> str:
    if not isinstance(query, str):
        raise InvalidValue(f"query must be text, not {type(query).__name__} ({query!r:.60}).")
    return query


def _positive(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValue(f"{name} is {value!r}: it must be a whole number, 0 or more.")
    return value

"""`ContextMiddleware`: the only class to learn.

It remembers (`remember`, and what a conversation captures), recalls (`session(...).prepare`,
`search`), and forgets (`forget`). Everything it decides is written down and can be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from .calls.end import end_idle
from .composition import OpensWith, Options, checked, compose
from .conversation.conversation import Identity
from .conversation.record import ContextRecord
from .conversation.state import Pinning, SessionState
from .errors import InvalidValue, MissingUser, NotFound
from .option_checks import check_store
from .protocols import Find, Store
from .recall.catalog import Catalog
from .runtime.async_twins import Workers, twin
from .search.feedback import Feedback
from .store.open import store_at
from .values.argument_checks import (
    check_name,
    check_text,
    check_user,
    checked_metadata,
    checked_path,
    checked_refs,
    checked_since,
    checked_texts,
    flag,
    whole_number,
)
from .values.budget import Budget
from .values.items import Trust, long_ref
from .values.messages import Placement
from .values.metadata import MetadataValue
from .values.records import RECORD_TYPES, Memory, Record, load
from .workspace.activity import Activity, checked_activity, notice
from .workspace.project import detect, resolved

if TYPE_CHECKING:
    from .code.indexer import Indexed
    from .code.keeper import KeptCode
    from .code.watch import Watch
    from .conversation.usage import ItemUsage
    from .memory.arrivals.taking_in import TakenIn
    from .memory.documents import Documents
    from .memory.hits import Hits
    from .memory.remember import Day
    from .memory.retention import Receipt
    from .session import Session

_SHOWABLE = (*RECORD_TYPES, "entry", "activity")


class _Unset(Enum):
    # Tells forget(user="ada") from forget(None, user="ada"): the second is a lookup that failed.
    UNSET = auto()


class ContextMiddleware:
    """A memory for agents: remembers, finds what matters for a prompt, and fits it in.

    Made by `open`. One object serves any number of conversations and threads.
    """

    def __init__(self, store: Store, **options: Unpack[Options]) -> None:
        check_store(store)
        self._options = options
        user = options.get("user", "local")
        self._user = check_user(user) if user is not None else None
        self._composition = made = compose(store, options)
        self._journal, self._recall, self._learner = made.journal, made.recall, made.learner
        self._telemetry, self._defaults = made.telemetry, made.defaults
        self._indexer = made.indexer

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        settings: OpensWith | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Open the memory in this file, or in a database: "postgresql://USER@HOST/DATABASE".

        No path: a file in the user's data folder (CTXMW_HOME moves it). ":memory:" keeps nothing.
        `settings=Settings.load()` has what ctxmw.toml and the environment say: their store, project
        and all the rest. A path or an option that is given here wins over them.
        """
        if settings is not None:
            path, options = _as_set(settings, path, options)
        store = store_at(path)
        try:
            return cls(store, **options)
        except BaseException:
            store.close()
            raise

    def __repr__(self) -> str:
        where = self.store.path or self.store.identity or "memory"
        return f"ContextMiddleware({str(where)!r}, user={self._user!r})"

    @property
    def user(self) -> str | None:
        """Whose memory it is; None when every call names its user."""
        return self._user

    @property
    def store(self) -> Store:
        """The system of record behind it."""
        return self._journal.store

    @property
    def workers(self) -> Workers:
        return self._recall.limit.workers

    @property
    def catalog(self) -> Catalog:
        """Rules, references and tools that conversations can have."""
        return self._recall.catalog

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        scope: str = "universal",
        key: str = "",
        since: Day | None = None,
        until: Day | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        user: str | None = None,
        source: str = "user",
        trust: Trust | None = None,
    ) -> Memory:
        """Remember a text; it is on disk when this returns.

        Kinds: preference, rule, anti_pattern, decision, correction, fact. The same text again is
        counted, not stored twice. Another text under the same key takes the old one's place.
        Secrets are taken out before anything is written. Without `trust`, it is as far to be
        trusted as its source. What tells of health, faith or sexuality is marked as sensitive, as
        where it is learned.

        `since` and `until`, each a date or an aware datetime, say when it holds; a day counts as
        a whole. Without them that is read from the text ("until Friday", "from Monday on"). What
        has run out is no longer shown, and is found by `search` as past.

        `metadata`, names and plain values, is for the application: `search`, `memories` and
        `forget` filter by it.
        """
        from .memory.remember import checked_memory, checked_period, remember

        values = checked_memory(text, kind=kind, scope=scope) | checked_period(since, until)
        values |= {
            "key": check_name(key, "key"),
            "source": check_name(source, "source"),
            "metadata": checked_metadata(metadata or {}),
            "trust": self._learner.trust_in(source, trust),
            "sensitive": self._learner.policy.marks_memory(values["text"], kind, values["scope"]),
        }
        name = self._named(user)
        with self._telemetry.observer.operation("remember"):
            memory = remember(self._journal, self._recall.search, name, **values)
        self._learner.has_news(name)
        return memory

    def edit(
        self,
        ref: str,
        text: str,
        *,
        kind: str | None = None,
        scope: str | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        user: str | None = None,
    ) -> Memory:
        """Put another text in a memory's place; kind, scope and metadata stay unless given.

        The old version is kept as history (`versions`), and conversations that show it are told.
        """
        from .memory.remember import checked_memory, edit

        given = {"kind": kind, "scope": scope}
        changes = checked_memory(
            text, **{name: one for name, one in given.items() if one is not None}
        )
        if metadata is not None:
            changes["metadata"] = checked_metadata(metadata)
        name = self._named(user)
        with self._telemetry.observer.operation("edit"):
            return edit(self._journal, name, ref, **changes)

    def forget(
        self,
        ref: str | _Unset | None = _Unset.UNSET,
        *,
        source: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        user: str | None = None,
    ) -> int:
        """Remove one record, all of a source or a conversation, all with metadata, all of a user.

        Every copy goes: older versions, what was learned from it, its words in turns, summaries,
        search, and the text in blocks that showed it. Returns how many records there were. Naming
        only the user forgets everything about that user.
        """
        from .memory.forget import checked_target, forget_named

        asked = {"ref": ref, "source": source, "session": session, "metadata": metadata}
        named = {name: value for name, value in asked.items() if value is not _Unset.UNSET}
        by, name = checked_target(named, user)
        observer = self._telemetry.observer
        return forget_named(self._journal, observer, self._named(user), by, name)

    def put_away(self, ref: str, *, user: str | None = None) -> Memory:
        """Keep a memory out of every prompt and search, until `restore` brings it back."""
        from .memory.versions import put_away

        with self._telemetry.observer.operation("put_away"):
            return put_away(self._journal, self._named(user), ref)

    def restore(self, ref: str, *, user: str | None = None) -> Memory:
        """Bring back a memory that was put away, by an agent's `forget` or by hand."""
        from .memory.versions import restore

        name = self._named(user)
        with self._telemetry.observer.operation("restore"):
            memory = restore(self._journal, name, ref)
        self._learner.has_news(name)
        return memory

    def pin(self, ref: str, *, user: str | None = None) -> Memory:
        """Have a memory in every conversation, before what is chosen by score; `unpin` ends it."""
        from .memory.pin import pin_memory

        return pin_memory(self._journal, self._named(user), ref, "shown")

    def keep_out(self, ref: str, *, user: str | None = None) -> Memory:
        """Have a memory come when it is searched for, and never by itself; `unpin` ends it."""
        from .memory.pin import pin_memory

        return pin_memory(self._journal, self._named(user), ref, "kept_out")

    def unpin(self, ref: str, *, user: str | None = None) -> Memory:
        """Have a memory come by itself where it matters: neither pinned nor kept out."""
        from .memory.pin import pin_memory

        return pin_memory(self._journal, self._named(user), ref, None)

    def pins(self, *, user: str | None = None) -> dict[str, Pinning]:
        """Return what is pinned, by ref: "shown" in every conversation, or "kept_out"."""
        from .memory.pin import pinned_as

        return pinned_as(self._journal, self._named(user))

    def documents(self, *, user: str | None = None) -> Documents:
        """Return the user's documents: JSON values under a path and a name, for applications."""
        from .memory.documents import Documents

        return Documents(self.store, self._named(user), self._journal.clock)

    def get(self, refs: Sequence[str], *, user: str | None = None) -> list[Record]:
        """Return the records of these refs that exist, in the order asked for."""
        rows = self.store.get(self._named(user), checked_refs(refs))
        return [load(row) for row in rows if row.type in RECORD_TYPES]

    def versions(self, ref: str, *, user: str | None = None) -> list[Memory]:
        """Return every version of a memory, the newest first."""
        from .memory.versions import versions

        found = [record for record in self.get([ref], user=user) if isinstance(record, Memory)]
        if not found:
            raise NotFound(f"there is no memory {ref!r}: search for it.")
        return versions(self.store, found[0])

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
        metadata: Mapping[str, MetadataValue] | None = None,
        as_of: Day | None = None,
    ) -> Hits:
        """Return what was remembered or said that answers the query, best first.

        `budget` is in tokens, over the texts of the hits together. With `metadata`, only memories
        that have all of it. With `as_of`, a date or an aware
        datetime, it answers as it would have then: what took a memory's place later does not count.
        """
        from .memory.hits import HitRequest, hits_for

        asked = HitRequest(
            query=query,
            limit=limit,
            budget=budget,
            kinds=kinds,
            scope=scope,
            since=since,
            metadata=metadata,
            as_of=as_of,
        )
        return hits_for(self._recall, self._telemetry.observer, self._named(user), asked)

    def memories(
        self,
        *,
        kind: str | None = None,
        scope: str | None = None,
        text: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        as_of: Day | None = None,
        everything: bool = False,
        limit: int | None = None,
        user: str | None = None,
    ) -> list[Memory]:
        """Return the memories that hold, what was said last first.

        Only those of a kind, scope or source, with all words of a text, with this metadata, or said
        `since` a time.
        With `as_of`, those that held then. With `everything`, also what does not hold yet, has run
        out, or was put away by an agent (`restore` brings that back).
        """
        from .memory.as_of import MemoryRequest, list_memories

        asked = MemoryRequest(
            kind=kind,
            scope=scope,
            text=text,
            source=source,
            since=since,
            metadata=metadata,
            as_of=as_of,
            everything=everything,
            limit=limit,
        )
        return list_memories(self._journal, self._named(user), asked)

    def apply_retention(self, *, user: str | None = None) -> list[Receipt]:
        """Remove what is older than the memory was opened to keep; return receipts of what went.

        That happens in passing as well, now and then. Without `retention=Retention(...)` nothing
        is ever removed by age.
        """
        return self._composition.keeper.apply(self._named(user))

    def of_age(self, *, user: str | None = None) -> dict[str, int]:
        """Return how many records of each type `apply_retention` would remove."""
        return self._composition.keeper.due(self._named(user))

    def receipts(self, *, user: str | None = None) -> list[Receipt]:
        """Return the receipts of all that was removed by age, the newest first."""
        from .memory.retention import receipts_of

        return receipts_of(self._journal, self._named(user))

    def export(self, path: str | Path, *, user: str | None = None) -> int:
        """Write everything of a user to a file of JSON lines; return how many records it were.

        The file takes the place of an older one only when it is whole.
        """
        from .store.transfer import export

        return export(self.store, self._named(user), checked_path(path, "file").absolute())

    def import_(
        self,
        path: str | Path,
        *,
        user: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Take in what an export holds, for this user; return how many were new or newer.

        All of it or nothing: a line that makes no sense is named. Importing twice changes nothing
        more. `progress` is told how many are done, and of how many.
        """
        from .store.transfer import import_

        file = checked_path(path, "file").absolute()
        return import_(self.store, self._named(user), file, progress)

    def import_from(
        self,
        source: str,
        path: str | Path,
        *,
        of: str | None = None,
        again: bool = False,
        dry_run: bool = False,
        user: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> TakenIn:
        """Take in what another memory, store or chat has left in a file or folder.

        Sources: mem0, langgraph, langmem, chroma, llamaindex, chatgpt, claude. Times and ids are
        kept; what was taken before is passed over, so a run that broke off is simply run again.
        What was forgotten here since stays forgotten, unless it is to come `again`. Where it holds
        several users' things, `of` says whose to take. With `dry_run` nothing is written.
        Conversations are all stored first, then learned from; they belong to no project.
        `progress` is told how many are done, and of how many.
        """
        # Few import something.
        from .learning.arriving import arriving_conversations
        from .memory.arrivals.taking_in import Taking, arrivals_in, take_in

        name = self._named(user)
        flag(dry_run, "dry_run")
        flag(again, "again")
        found = arrivals_in(source, checked_path(path, "file or folder"), of)

        into = arriving_conversations(self._learner, name)
        how = Taking(conversations=into, dry_run=dry_run, again=again, progress=progress)
        taken = take_in(self._journal, name, source, found, how)
        self._learner.has_news(name)
        return taken

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
        learn: bool = True,
    ) -> Session:
        """Return the conversation of that id; a new one without.

        With `cwd`, project and language are found there unless given, AGENTS.md and the rules of
        its folders hold, and the code of the project is indexed in the background. Of project,
        language and cwd, those that are not given are what the memory was opened with. Records that
        name one of the `files` in play are preferred. With `learn=False` nothing is learned from
        what is said by this value: it stays in the conversation, and is neither searched nor
        summarized.
        """
        flag(learn, "learn")
        if id is not None:
            id = check_name(check_text(id, "a session's id"), "a session's id")  # noqa: A001
        defaults = self._defaults
        who = Identity(
            user=self._named(user),
            session=id or long_ref("chat-", self._journal.random),
            project=project,
            language=language,
            task=task,
            files=checked_texts(files, "files"),
            budget=checked(defaults.budget if budget is None else budget, Budget),
            placement=defaults.placement if placement is None else placement,
            learn=learn,
        )
        # Whoever remembers and searches, and has no conversation, loads no calls.
        from .session import Session

        return Session(self._composition, self._composition.placed(who, cwd))

    def owns(self, session: Session) -> bool:
        """Say whether a conversation is one of this memory, and not of another."""
        return getattr(session, "workers", None) is self.workers

    def sessions(self, *, user: str | None = None) -> list[SessionState]:
        """Return the user's conversations, the one used last first."""
        name = self._named(user)
        end_idle(self._recall, self._learner, Identity(user=name, session=""))
        if self._composition.retains_some:
            self._composition.keeper.look_in_passing(name)
        return self._journal.read(self.store.query(name, Find(types=("session",))), SessionState)

    def position(self, after: int | None = None, *, user: str | None = None) -> int:
        """Return where the user's changes stand, to learn later whether something happened.

        With `after`, a position returned before: the same number when nothing that can be shown
        was added, changed or forgotten since, in whatever process.
        """
        name = self._named(user)
        if after is None:
            return self.store.head(name)
        changes = self.store.changes(name, after, _SHOWABLE)
        return max((change.seq for change in changes), default=after)

    def why(self, answer: str, *, user: str | None = None) -> ContextRecord | None:
        """Return the record of the call that gave an answer: by its text, its id, or our ref."""
        from .conversation.history import record_behind, record_of

        name = self._named(user)
        said = check_text(answer, "answer")
        return record_of(self._journal, name, said) or record_behind(self._journal, name, said)

    def rate(
        self,
        record: ContextRecord | str,
        ref: str | None = None,
        value: int | None = None,
        *,
        note: str = "",
        missing: str = "",
        asked: str = "",
        user: str | None = None,
    ) -> Feedback:
        """Say whether what a call was shown has helped: 1 it did, -1 it did not, 0 takes it back.

        `record` is the call's record, its ref, or the id or text of the answer it gave. Without a
        `ref` the whole call is rated; `missing` says in words what should have been there. Where
        something alike is asked again, what helped rises and what did not falls, within bounds.

        What `peek` shows can be rated before any call: give its record, and in `asked` the question
        it was looked at for, which nothing else keeps.
        """
        from .memory.rate import Opinion, looked_at, rate

        said = Opinion(ref=ref, value=value, note=note, missing=missing, asked=asked)
        name = self._named(user)
        known = record if isinstance(record, str) else checked(record, ContextRecord).ref
        found = self.why(known, user=name)
        if found is None and isinstance(record, ContextRecord) and record.user == name:
            found = looked_at(record, asked)
        if found is None:
            raise NotFound(
                f"there is no record of the call {known!r:.60}: look at the conversation's history."
            )
        with self._telemetry.observer.operation("rate"):
            return rate(self._recall, found, said)

    def ratings(
        self,
        *,
        record: str | None = None,
        ref: str | None = None,
        user: str | None = None,
    ) -> list[Feedback]:
        """Return what was said with `rate`, the newest first: of one call, one thing, or all."""
        from .memory.rate import ratings_of

        return ratings_of(self._journal, self._named(user), record=record, about=ref)

    def usage(self, *, since: datetime | None = None, user: str | None = None) -> list[ItemUsage]:
        """Return what the last thousand calls showed, what cost most and never came back first.

        Of each thing: how often, for how many tokens, and how many answers took it up. Nothing
        acts on it by itself: `put_away` and `forget` are for you to call.
        """
        from .conversation.usage import usage_of

        return usage_of(self._journal, self._named(user), checked_since(since))

    def calls_with(
        self, ref: str, *, limit: int = 20, user: str | None = None
    ) -> list[ContextRecord]:
        """Return the last calls whose own blocks showed it, the newest first."""
        from .conversation.usage import calls_with

        most = whole_number(limit, "limit")
        return calls_with(self._journal, self._named(user), check_text(ref, "ref"), most)

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
        return self._indexer.index(
            self._named(user), checked_path(path, "folder or file"), name, progress
        )

    def project_at(self, folder: str | Path, *, user: str | None = None) -> str | None:
        """Return the project of a folder: the one found there, else the one indexed there."""
        here = resolved(checked_path(folder, "folder or file"))
        codebase = self._recall.surroundings.codebase
        return detect(here).project or codebase.project_at(self._named(user), here)

    def notice(
        self,
        activity: Activity | Mapping[str, Any],
        *,
        user: str | None = None,
        project: str | None = None,
    ) -> None:
        """Tell every open conversation of a project what was done in an editor.

        Such as {"type": "file_edit", "path": "src/auth.py", "symbols": ["login"]}. Types:
        file_open, file_edit, file_save, file_close, symbol_hover, session_start. Without a project,
        every conversation of the user is told. A file of the indexed folder is read again.
        """
        name = check_name(project, "project") if project is not None else None
        done, now = checked_activity(activity), self._journal.clock()
        user = self._named(user)
        notice(self.store, user, name, done, now)
        if name is not None and done.type in ("file_edit", "file_save", "file_close"):
            self._indexer.touched(user, name, done.path)

    def watch(
        self, path: str | Path, *, user: str | None = None, project: str | None = None
    ) -> Watch:
        """Index a folder and, until the watch is closed, take every save as an activity.

        Use it in a `with`, or call its `close()`. Needs `pip install "ctxmw[watch]"`.
        """
        from .code.watch import Watch

        name = check_name(project, "project") if project is not None else None
        folder = checked_path(path, "folder or file")
        return Watch(self._indexer, self.notice, self._named(user), folder, name)

    def keep_code(
        self, path: str | Path, *, user: str | None = None, project: str | None = None
    ) -> KeptCode:
        """Know the code of a folder from the background, until it is closed.

        It is indexed at once and looked at again every half minute; nobody waits for it. Use it in
        a `with`, or call its `start()` and `close()`.
        """
        from .code.keeper import KeptCode

        name = check_name(project, "project") if project is not None else None
        folder = checked_path(path, "folder or file")
        return KeptCode(self._indexer, self._named(user), folder, name)

    def reindex(
        self, *, user: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Embed everything anew, after the embedder changed; return how many records it were.

        `progress` is told how many are done, and of how many.
        """
        return self._learner.reindex(self._named(user), progress)

    def settle(self, timeout: float = 30.0) -> bool:
        """Wait until the summarizer has been asked all there is; say whether that came in time."""
        return self._learner.settle(timeout)

    def stats(self) -> dict[str, float]:
        """Return what happened in this process, by name.

        Calls and their times ("prepare.calls", "prepare.ms.p50"), tokens by lane, degraded calls
        by stage and error, and the share of items shown whose own words came back in the answer.
        With an embedder also how many records wait to be embedded.
        """
        return self._telemetry.stats.snapshot() | self._learner.counts()

    def close(self) -> None:
        """Let go of files and threads; closing twice is fine."""
        self._composition.folders.close()
        self._learner.close()
        self.workers.close()
        self.store.close()

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        # It holds files and threads: a copy of whatever refers to it refers to the same memory.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process opens the same store again, with the same options.
        return partial(type(self), self.store, **self._options), ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    asessions = twin(sessions)
    aposition = twin(position)
    awhy = twin(why)
    asettle = twin(settle)
    asearch = twin(search)
    amemories = twin(memories)
    areindex = twin(reindex)
    aremember = twin(remember)
    aedit = twin(edit)
    aforget = twin(forget)
    aput_away = twin(put_away)
    arestore = twin(restore)
    apin = twin(pin)
    akeep_out = twin(keep_out)
    aunpin = twin(unpin)
    aget = twin(get)
    aapply_retention = twin(apply_retention)
    aof_age = twin(of_age)
    areceipts = twin(receipts)
    aexport = twin(export)
    aimport_ = twin(import_)
    aimport_from = twin(import_from)
    arate = twin(rate)
    aratings = twin(ratings)
    ausage = twin(usage)
    acalls_with = twin(calls_with)
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


def _as_set(
    settings: OpensWith, path: str | Path | None, options: Options
) -> tuple[str | Path | None, Options]:
    """Return the path and the options that hold with these settings; what is given here wins."""
    if not callable(getattr(settings, "options", None)) or isinstance(settings, type):
        raise InvalidValue(
            f"settings is {settings!r:.60}: give Settings.load(), or Settings.load(file=...)."
        )
    return settings.store if path is None else path, {**settings.options(), **options}

"""A conversation: whose it is, where it takes place, what is remembered about it, and its epochs.

An epoch is the time for which its stable block holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from ..errors import InvalidValue
from ..protocols import Find, Row, Store
from ..recall.catalog import Catalog
from ..recall.in_view import InView
from ..runtime.displayed import Displayed
from ..runtime.lru import LruCache
from ..store.journal import Feed, Journal
from ..text.secrets.redaction import redact_name
from ..values.argument_checks import check_name
from ..values.budget import Budget
from ..values.items import Item
from ..values.messages import (
    Message,
    Placement,
    check_messages,
    check_placement,
    message_text,
)
from ..values.records import Memory, load_all, load_as
from ..values.situation import TASKS, Situation
from .blocks import BlockCache, BuildCache, block_cache
from .record import Build, ContextRecord, shown_again
from .replay.trail import Trail, Trails
from .replay.views import ViewCache
from .sent import SentPrompt
from .state import (
    PINS,
    GoneSession,
    PartRef,
    SessionState,
    StoredPart,
    gone_ref,
    pins_in,
    session_ref,
    state_rows,
)

if TYPE_CHECKING:
    from ..values.compaction_event import CompactionEvent

OURS = 4
"""One part in so many of the model's window may be new text of ours, and another one replayed."""
REPLAYED = 16_000
"""Tokens that replayed parts may take where the window is not known."""
IDLE = timedelta(minutes=30)
"""After this long without a call a conversation has ended, and the provider's cache is cold."""
_OFTEN = timedelta(minutes=1)
"""How often a user's conversations are looked at for one that has ended."""
SHOWN_TYPES = ("memory", "note", "summary", "observation", "turn")
"""Records that a block may show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose conversation it is, which one, and where it takes place. None: as it was before."""

    user: str
    session: str
    project: str | None = None
    language: str | None = None
    task: str | None = None
    files: tuple[str, ...] = ()
    """Paths in play."""
    cwd: Path | None = None
    """The folder it takes place in, and the project's folder around it."""
    root: Path | None = None
    query: str = ""
    """What to look for instead of the user's last words."""
    budget: Budget = field(default_factory=Budget)
    placement: Placement = "split"
    replayed: int = REPLAYED
    """Tokens that replayed parts may take together."""
    learn: bool = True
    """Whether something is learned from what is said."""
    fetches: bool = True
    """Whether the model has tools to fetch what it is shown in part, or only told of."""

    def situation(self, state: SessionState, now: datetime, query: str = "") -> Situation:
        """Return where it takes place, for what is looked for now."""
        return Situation(
            user=self.user,
            session=self.session,
            project=self.project or state.project,
            language=self.language or state.language,
            cwd=self.cwd,
            root=self.root,
            query=query,
            now=now,
            fetches=self.fetches,
        )

    def in_window(self, tokens: int | None) -> Identity:
        """Return it as it is with a model of that window, in which our text has its share."""
        if tokens is None:
            return self
        share = tokens // OURS
        return replace(self, budget=self.budget.within(share), replayed=share)


_FETCH = ("mem_get", "mem_search")


def located(who: Identity, cwd: str | Path | None) -> Identity:
    """Return an identity with its names checked, and with what its folder tells unless given."""
    from ..workspace.project import detect, resolved

    if who.task is not None and who.task not in TASKS:
        raise InvalidValue(f"task is {who.task!r}. Allowed: {', '.join(TASKS)}.")
    if cwd is not None and not isinstance(cwd, str | Path):
        raise InvalidValue(f"cwd is {cwd!r:.60}: give the path of a folder.")
    project = None if who.project is None else check_name(who.project, "project")
    language = None if who.language is None else check_name(who.language, "language").lower()
    folder = resolved(Path(cwd)) if cwd is not None else None
    found = detect(folder) if folder is not None else None
    return replace(
        who,
        project=project or (redact_name(found.project) if found and found.project else None),
        language=language or (found.language if found else None),
        cwd=folder,
        root=found.root if found else None,
        placement=check_placement(who.placement),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Displayed):
    """Messages ready for a model, and the record of what we put into them."""

    messages: list[Message]
    context: ContextRecord
    given: tuple[Message, ...]
    """The caller's messages, without anything of ours."""
    trail: Trail = field(default_factory=Trail)
    """The hashes of these."""
    capture: bool = True
    """Whether what is said in the call is kept."""
    learn: bool = True
    """Whether something is learned from it."""
    branches: bool = False
    """Whether the history may have left answers behind."""
    tools: tuple[str, ...] = ()
    """Names of the catalog's tools to bind: always first, then what requests called for."""
    bound: tuple[str, ...] = ()
    """Names of the tools that the model is to be sent, of those it is offered."""
    compaction: CompactionEvent | None = None
    """What a compaction came to, where this call began with one."""

    @property
    def is_recorded(self) -> bool:
        """Whether the memory has a record of the call: it has none of one that went without it."""
        return bool(self.context.stable_build)

    def sent_tools(self, tools: Sequence[Any]) -> list[Any]:
        """Return those of the tools on offer that the model is to be sent, in that order.

        All of them for a call that went without the memory.
        """
        from ..recall.offering.tool_shapes import tool_name

        if not self.is_recorded:
            return list(tools)
        named: dict[str, list[Any]] = {}
        for tool in tools:
            named.setdefault(tool_name(tool), []).append(tool)
        return [named[name].pop(0) for name in self.bound if named.get(name)]


def own_prepared(prepared: Prepared, who: Identity) -> Prepared:
    """Return what a conversation prepared; raise for another's, which would mix up people."""
    if not isinstance(prepared, Prepared):
        raise InvalidValue(f"give what prepare returned, not {type(prepared).__name__}.")
    whose = (prepared.context.user, prepared.context.session)
    if whose != (who.user, who.session):
        raise InvalidValue(
            f"this was prepared for the conversation {whose[1]!r} of {whose[0]!r}: "
            f"finish it there, not in {who.session!r} of {who.user!r}."
        )
    return prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """The states of conversations, as they are stored, and what is kept at hand of recent ones."""

    journal: Journal
    feed: Feed
    states: LruCache[tuple[str, str], tuple[str, SessionState]] = field(
        default_factory=lambda: LruCache(256)
    )
    """States as they were last read, with the text they were read from."""
    builds: BuildCache = field(default_factory=lambda: LruCache(512))
    replayed: BuildCache = field(default_factory=lambda: LruCache(4096))
    """What parts of earlier turns show: of each, every later prompt's record tells."""
    blocks: BlockCache = field(default_factory=block_cache)
    trails: Trails = field(default_factory=Trails)
    views: ViewCache = field(default_factory=lambda: LruCache(64))
    prompts: LruCache[tuple[str, str], SentPrompt] = field(default_factory=lambda: LruCache(1024))
    """The last prompt of each, for the next one to be compared with."""
    in_view: LruCache[tuple[str, str], InView] = field(default_factory=lambda: LruCache(1024))
    """Which messages of each were in view last."""
    idle: LruCache[str, datetime] = field(default_factory=lambda: LruCache(1024))
    """When each user's conversations were last looked at for one that has ended."""
    tools_given: Event = field(default_factory=Event)
    """Set once tools were made that bring records: a model that nothing is known of may have them.
    """

    def checked(self, who: Identity, messages: Sequence[Message]) -> list[Message]:
        """Return a history as a list, or raise for what is wrong in it: in what is new of it."""
        named = who.user, who.session
        begun = self.trails.begun(named, messages if isinstance(messages, list | tuple) else ())
        given = check_messages(messages, begun.length)
        self.trails.compared(named, given, begun)
        return given

    def can_fetch(self, who: Identity, tools: Sequence[Any], given: Sequence[Message]) -> bool:
        """Say whether a model is offered the tools that bring records, as schemas or in words.

        Agents that call tools by writing it down have these described in a system message.
        """
        begun = self.trails.begun((who.user, who.session), given)
        known = (given[at] for at in begun.trail.systems if at < begun.length)
        new = (one for one in given[begun.length :] if one["role"] == "system")
        texts = chain(map(str, tools), map(message_text, known), map(message_text, new))
        return any(name in text for text in texts for name in _FETCH)

    def load(self, who: Identity, now: datetime | None = None) -> SessionState:
        """Return the conversation's state with its parts; that of a new one begins now."""
        store, ref = self.journal.store, session_ref(who.session)
        rows = store.get(who.user, [ref, PINS])
        pins = pins_in(rows)
        state = self._stored(who, [row for row in rows if row.ref == ref], now)
        return state if state.pins == pins else state.model_copy(update={"pins": pins})

    def _stored(self, who: Identity, rows: Sequence[Row], now: datetime | None) -> SessionState:
        store, ref = self.journal.store, session_ref(who.session)
        for row in rows:
            # A state is read several times a call, and a long conversation's takes long to parse.
            known = self.states.get((who.user, who.session))
            if known is None or known[0] != row.body:
                state = load_as(row, SessionState)
                state = state.model_copy(update={"parts": _stored_parts(store, who)})
                self.keep(row, state)
                return state
            return known[1]
        at = self.journal.clock() if now is None else now
        new = SessionState(user=who.user, ref=ref, at=at, session=who.session, opened=at)
        for gone in load_all(store.get(who.user, [gone_ref(who.session)]), GoneSession):
            return new.model_copy(update={"captured": gone.captured, "heard": gone.heard})
        return new

    def keep(self, row: Row, state: SessionState) -> None:
        """Keep at hand what a row holds. A row that is never committed is never read either."""
        self.states.put((state.user, state.session), (row.body, state))

    def change(self, who: Identity, **values: Any) -> SessionState:
        """Change the conversation's state and return it."""
        with self.journal.store.atomic(who.user):
            return self.put(self.load(who), **values)

    def put(
        self, before: SessionState, beside: Sequence[Row] = (), /, **values: Any
    ) -> SessionState:
        """Write the state with other values, in the transaction in which it was read.

        Rows that stand beside it are written before it.
        """
        values = {"stamp": self.journal.random.getrandbits(48), **values}
        after = before.model_copy(update=values)
        rows = state_rows(before, after)
        self.journal.store.put([*beside, *rows])
        self.keep(rows[0], after)
        return after

    def idle_due(self, who: Identity) -> bool:
        """Say whether it is time to look for conversations that have ended."""
        last = self.idle.get(who.user)
        known = self.states.get((who.user, who.session)) is not None
        return not known or last is None or not timedelta(0) <= self.journal.clock() - last < _OFTEN

    def keep_what_is_shown(self, user: str, builds: Iterable[str]) -> None:
        """Let go of what is known of answered turns' parts, but for what they show."""
        for ref in builds:
            build = self.builds.get((user, ref))
            if build is not None:
                self.replayed.put((user, ref), shown_again(build, "replayed"))
                self.builds.let_go([(user, ref)])

    def let_go(self, user: str, session: str) -> None:
        """Keep nothing at hand of a conversation that has ended; it is read again if it goes on."""
        known = self.states.get((user, session))
        if known is not None:
            state = known[1]
            stable = (user, state.stable_build)
            opening = self.builds.get(stable)
            hashes = [*([opening.hash] if opening else ()), *(part.hash for part in state.parts)]
            parts = [(user, part.build) for part in state.parts]
            self.builds.let_go([stable, *parts])
            self.replayed.let_go(parts)
            self.blocks.let_go((user, hash_) for hash_ in hashes)
        self.states.let_go([(user, session)])
        self.prompts.let_go([(user, session)])
        self.in_view.let_go([(user, session)])


def scope_of(who: Identity, state: SessionState) -> str:
    """Return the scope of what is said here: the conversation's project, if it has one."""
    project = who.project or state.project
    return f"project:{project}" if project else "universal"


def _stored_parts(store: Store, who: Identity) -> tuple[PartRef, ...]:
    asked = Find(types=(StoredPart.type,), sessions=(who.session,))
    parts = [stored.part for stored in load_all(store.query(who.user, asked), StoredPart)]
    return tuple(sorted(parts, key=lambda part: part.order))


def why_new(state: SessionState, situation: Situation, outdated: set[str], now: datetime) -> str:
    """Return why a new epoch begins; "" when it does not."""
    reasons: Mapping[str, bool] = {
        "start": state.epoch == 0,
        state.stale: bool(state.stale),
        "reopened": state.ended,
        "project": situation.project != state.project,
        "language": situation.language != state.language,
        "pins": state.pins_seen != state.pins_stamp,
        "changed": bool(outdated),
        "idle": now - state.at >= IDLE,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def outdated_in(
    journal: Journal, catalog: Catalog, state: SessionState, stable: Build, changed: Iterable[str]
) -> set[str]:
    """Return what the conversation shows in another version than it has now, of what changed."""
    touched = frozenset(changed)
    shown: dict[str, str] = {}
    if touched:
        parts = [versions for part in state.parts for versions in (part.shows, part.mentions)]
        for versions in (stable.shown, *parts):
            if not touched.isdisjoint(versions):
                shown |= {ref: versions[ref] for ref in touched & versions.keys()}
    now = _versions(journal, catalog, state.user, shown) if shown else {}
    return {ref for ref, version in shown.items() if now.get(ref) != version}


def run_out_in(journal: Journal, state: SessionState, stable: Build, now: datetime) -> set[str]:
    """Return what the conversation shows and what has run out since."""
    shown = [(stable.until, stable.shown), *((part.until, part.shows) for part in state.parts)]
    refs = {ref for until, shows in shown if until is not None and until <= now for ref in shows}
    found = journal.store.get(state.user, sorted(refs)) if refs else []
    rows = [row for row in found if row.type == Memory.type]
    return {memory.ref for memory in journal.read(rows, Memory) if memory.is_past(now)}


def offers_more(stable: Build, pinned: Sequence[Item]) -> bool:
    """Say whether the catalog has something for the conversation that its stable block has not."""
    known = {used.ref for used in (*stable.used, *stable.tools)}
    return any(item.ref not in known for item in pinned)


def _versions(
    journal: Journal, catalog: Catalog, user: str, refs: Collection[str]
) -> dict[str, str]:
    """Return the version each of these records has now; those that are gone have none."""
    from ..values.record_items import row_item

    rows = journal.store.get(user, sorted(refs))
    items = journal.faults.read([row for row in rows if row.live], row_item)
    found = {item.ref: item.version for item in items}
    offered = {item.ref: item.version for item in catalog.items()}
    return found | {ref: offered[ref] for ref in refs if ref in offered}

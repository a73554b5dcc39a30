"""One model call as it begins: whose it is, where the conversation stands, what goes on around it.

Everything here is read; what a call shows and writes is made of it by `prompt`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..conversation.blocks import Blocks
from ..conversation.conversation import (
    SHOWN_TYPES,
    Conversations,
    Identity,
    Prepared,
    offers_more,
    outdated_in,
    run_out_in,
    why_new,
)
from ..conversation.exchanges import may_branch
from ..conversation.record import Build, build_fields
from ..conversation.replay.current import said_in_view
from ..conversation.replay.trail import Places
from ..conversation.replay.views import History
from ..conversation.sent import SentPrompt
from ..conversation.state import SessionState
from ..protocols import Change, Row
from ..recall.entries import Entry, waiting
from ..recall.in_view import InView
from ..recall.lanes import Choice, Selection
from ..recall.offering.view import CalledFor, SessionContext, context_in
from ..recall.outcome import BlockKind, used_of
from ..recall.pipeline import Own, Recall, own_items
from ..recall.surroundings import Brought
from ..runtime.telemetry import stage
from ..values.items import Item
from ..values.messages import message_text
from ..values.records import SHARED
from ..values.situation import LOOKED_AT, Situation, task_of
from .binding import OfferedTools, request_of, what_is_called_for

if TYPE_CHECKING:
    from ..compaction.compactor import Compactor


_BEFORE = 2
"""Messages before a request that says little, of which it may speak."""
_FAILS = (
    "error",
    "exception",
    "fail",
    "fatal",
    "not found",
    "no such",
    "denied",
    "refused",
    "http",
)


class Around:
    """What the message and its surroundings bring; looked at when it is first needed, and once."""

    def __init__(
        self, recall: Recall, situation: Situation, state: SessionState | None, head: int
    ) -> None:
        """`state` is the conversation's; None when there is no message of a user."""
        self._recall = recall
        self._situation = situation
        self._state = state
        self._head = head

    @cached_property
    def brought(self) -> Brought:
        """What the message and what is going on bring by themselves."""
        state = self._state
        if state is None:
            return Brought()
        with stage("surroundings"):
            return self._recall.surroundings.look(
                self._situation,
                state.triggers,
                state.activity_feed,
                self._recall.floors.query,
                self._head,
            )

    @cached_property
    def own(self) -> Own:
        """What the application's own sources have; they are asked once a call."""
        skills = self._recall.catalog.skills
        if not self._recall.own_sources and not (skills.added or self._situation.cwd):
            return Own()
        return own_items(self._recall, self.brought.seen_from(self._situation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Where the conversation stands as a call begins."""

    at: datetime
    head: int
    """The position of the changes feed; what is written later is left to the next call."""
    catalog_head: int
    state: SessionState

    @classmethod
    def now(cls, conversations: Conversations, who: Identity) -> Seen:
        at, store = conversations.journal.clock(), conversations.journal.store
        # The heads are read before the state: what is written in between is looked at again.
        head, catalog_head = store.head(who.user), store.head(SHARED)
        state = conversations.load(who, at)
        return cls(at=at, head=head, catalog_head=catalog_head, state=state)


@dataclass(frozen=True, kw_only=True)
class Call:
    """What one call is made of. What has to be looked up is, when it is first needed, and once."""

    using: Compactor
    who: Identity
    history: History
    seen: Seen
    situation: Situation
    around: Around
    offered: OfferedTools = field(default_factory=OfferedTools)
    """The tools that the model is offered."""

    @classmethod
    def begin(
        cls,
        using: Compactor,
        who: Identity,
        history: History,
        seen: Seen,
        offered: OfferedTools | None = None,
    ) -> Call:
        situation = _situation(who, history, seen)
        asked = history.trail.last is not None
        around = Around(using.recall, situation, seen.state if asked else None, seen.head)
        return cls(
            using=using,
            who=who,
            history=history,
            seen=seen,
            situation=situation,
            around=around,
            offered=offered or OfferedTools(),
        )

    def again(self, history: History) -> Call:
        """Return the same call as it goes on when something of it was written meanwhile."""
        return replace(self, history=history, seen=Seen.now(self.using.conversations, self.who))

    @cached_property
    def blocks(self) -> Blocks:
        """The user's blocks as they are now; what is new in them is written with the call."""
        state, store, kept = self.seen.state, self.using.journal.store, self.using.conversations
        blocks = Blocks(store, self.who.user, kept.builds, kept.blocks, self.seen.head)
        if state.epoch:
            blocks.rely_on(state.feed, (change.ref for change in self._changes if change.gone))
        return blocks

    @cached_property
    def catalog(self) -> SessionContext:
        """What the catalog has for the conversation."""
        state, head = self.seen.state, self.seen.catalog_head
        return context_in(self.using.recall.catalog.view(head), state.added, state.removed)

    @cached_property
    def called(self) -> CalledFor:
        """What of the catalog the request calls for."""
        last, given = self.history.trail.last, self.history.messages
        if last is None:
            return CalledFor()
        said = [one for one in given[:last] if one["role"] in ("user", "assistant")]
        request = request_of(self.situation.query, [message_text(one) for one in said[-_BEFORE:]])
        return what_is_called_for(self.using.recall, self.catalog, request)

    @cached_property
    def outdated(self) -> set[str]:
        """What the conversation shows and what has changed, gone or run out since its last call."""
        from ..recall.offering.items import CatalogItem

        state = self.seen.state
        if not state.epoch:
            return set()
        refs = [change.ref for change in self._changes if change.type != Entry.type]
        if self.seen.catalog_head != state.catalog_feed:
            offered = self.using.journal.store.changes(
                SHARED, state.catalog_feed, (CatalogItem.type,)
            )
            refs += [change.ref for change in offered]
        stable, catalog = self.blocks.build(state.stable_build), self.using.recall.catalog
        changed = outdated_in(self.using.journal, catalog, state, stable, refs)
        return changed | run_out_in(self.using.journal, state, stable, self.seen.at)

    @cached_property
    def began(self) -> str:
        """Why a new epoch begins with this call; "" when the stable block stays in force."""
        state = self.seen.state
        why = why_new(state, self.situation, self.outdated, self.seen.at)
        if why:
            return why
        if self.measure != state.measure:
            return "budget"
        if self.seen.catalog_head == state.catalog_feed:
            return ""
        stable = self.blocks.build(state.stable_build)
        return "catalog" if offers_more(stable, self.catalog.pinned) else ""

    @property
    def measure(self) -> str:
        """What an epoch is made with; with another budget or counter, another one begins."""
        printer = self.using.recall.printer
        return f"{self.who.budget!r} {printer.count.name} {printer.renderer.name}"

    @cached_property
    def waiting(self) -> list[Entry]:
        """What was left for the conversation and is not committed."""
        return waiting(self.using.journal, self.who.user, self.who.session)

    @cached_property
    def remedies(self) -> list[Item]:
        """What helped when the failures of this turn happened before."""
        recall, given, last = self.using.recall, self.history.messages, self.history.trail.last
        if last is None:
            return []
        from .known_remedies import known_remedies

        # Most turns call no tool and speak of no failure.
        said = message_text(given[last]).lower()
        if last == len(given) - 1 and not any(word in said for word in _FAILS):
            return []
        turn = given[last:]
        return known_remedies(self.using.journal, self.situation, recall.weights, turn)

    @cached_property
    def said(self) -> InView:
        """What the prompt holds of the conversation's own turns."""
        return said_in_view(self.using.journal.store, self.who, self.history)

    @cached_property
    def may_branch(self) -> bool:
        """Whether the history may have left answers behind, or come back to some."""
        return may_branch(self.seen.state, self.history.given_trail)

    @cached_property
    def left(self) -> frozenset[str]:
        """Refs of answers that the history has left behind, and of what followed them."""
        if not self.may_branch:
            return frozenset()
        from ..conversation.branches import left_behind

        trail = self.history.given_trail
        left = left_behind(self.using.journal, self.seen.state, trail)
        return frozenset(turn.ref for turn in left)

    @cached_property
    def _changes(self) -> Sequence[Change]:
        state = self.seen.state
        if not state.epoch:
            return ()
        types = (*SHOWN_TYPES, Entry.type)
        return self.using.conversations.feed.changes(state.user, state.feed, types, self.seen.head)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What opens the prompts of a new epoch, and where the changes feed stood as it was chosen."""

    selection: Selection
    head: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The stable block of a call, and the conversation's state with it."""

    build: Build
    state: SessionState
    text: str
    since: int
    """Where the changes feed stood as it was read or chosen."""
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part of a call, the conversation's state with it, and where the parts in view stand."""

    build: Build
    state: SessionState
    places: Places
    text: str
    tokens: int
    """Of the stable block and the part together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What one call is going to show and to write."""

    call: Call
    prepared: Prepared
    state: SessionState
    state_row: Row
    rows: tuple[Row, ...]
    """All that is written, but for claims and turns."""
    opened: Opening
    shown: frozenset[str]
    """Refs of all that the prompt shows."""
    entries: Mapping[str, str]
    """Those of them that waited to be said, with their versions."""
    sent: SentPrompt
    unheard: tuple[int, ...]
    """Where the messages stand that are to be captured."""


def build_of(
    call: Call,
    kind: BlockKind,
    selection: Selection,
    offered: Sequence[Item],
    declined: CalledFor | None = None,
) -> Build:
    """Return the build of a selection, to be written with the call.

    `declined` tells what of the catalog was looked at and not brought.
    """
    tools = [item for item in offered if item.kind == "tool"]
    fields: dict[str, Any] = {"at": call.seen.at, "session": call.who.session}
    fields |= build_fields(selection, kind, tools)
    if declined is not None:
        fields["used"] = (*fields["used"], *used_of(_not_brought(declined), kind))
    return call.blocks.keep(selection.block, call.using.journal.random, **fields)


def _not_brought(called: CalledFor) -> list[Choice]:
    reasons = called.declined
    return [
        Choice(item=item, shown="none", tokens=0, reason=reasons[item.ref])
        for item in called.others
    ]


def shown_as_text(items: Sequence[Item]) -> list[Item]:
    """Return what is shown as text; tools are bound to the request instead."""
    return [item for item in items if item.kind != "tool"]


def _situation(who: Identity, history: History, seen: Seen) -> Situation:
    given, last, state = history.messages, history.trail.last, seen.state
    said = [message for message in given if message["role"] in ("user", "assistant")][-LOOKED_AT:]
    query = who.query or (message_text(given[last]) if last is not None else "")
    task = who.task or task_of([message_text(message) for message in said])
    return replace(who.situation(state, seen.at, query), task=task, files=who.files)

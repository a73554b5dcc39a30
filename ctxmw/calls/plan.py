"""What one model call is going to show and to write, worked out from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

from ..compaction.compact import said_in_view
from ..conversation.blocks import Blocks
from ..conversation.conversation import Identity, Prepared, keep_state, load_state
from ..conversation.epochs import SHOWN_TYPES, offers_more, outdated_in, why_new
from ..conversation.record import Build, ContextRecord, build_fields
from ..conversation.replay.hearing import heard, unheard
from ..conversation.replay.parts import Parts, part_ref, trimmed, with_room, with_stood
from ..conversation.replay.prefix import InView, prints_of
from ..conversation.replay.trail import Places, Trail, find_places, first_stood
from ..conversation.replay.views import History
from ..conversation.state import Ledger, SessionState, state_rows
from ..learning.capture import store_turns
from ..recall.catalog import CatalogItem, called_for, session_context
from ..recall.entries import Entry, claimed, free, waiting
from ..recall.outcome import BlockKind
from ..recall.pipeline import Own, Setup, build_part, build_stable, own_items
from ..recall.selection import Selection
from ..recall.sources.sessions import row_item
from ..recall.surroundings import Brought
from ..runtime.stages import stage
from ..tokens.counter import joined
from ..values.budget import Budget
from ..values.items import Item, changed
from ..values.messages import Message, message_text, place
from ..values.records import SHARED, Turn
from ..values.refs import long_ref
from ..values.scoring import Rating
from ..values.situation import LOOKED_AT, Situation, task_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Where the conversation stands as a plan begins."""

    at: datetime
    head: int
    """The position of the changes feed; what is written later is left to the next call."""
    state: SessionState

    @classmethod
    def now(cls, setup: Setup, who: Identity) -> Seen:
        at = setup.clock()
        # The head is read before the state: what is written in between is looked at again.
        head = setup.store.head(who.user)
        return cls(at=at, head=head, state=load_state(setup, who, at))


class Plan:
    """What one call is going to show and to write."""

    def __init__(
        self, setup: Setup, who: Identity, history: History, seen: Seen, *, capture: bool = False
    ) -> None:
        """`capture`: what the history brings that was not captured yet is written too."""
        self._setup = setup
        self._who = who
        self._history = history
        self._given = given = history.messages
        self._trail = trail = history.trail
        self._now = seen.at
        self._head = seen.head
        self._before = self._state = seen.state
        self._archive = Blocks(setup.store, who.user, setup.builds, setup.blocks, self._head)
        self._situation = _situation(who, self._state, given, trail, self._now)
        self._catalog_head = setup.store.head(SHARED)
        self._context = session_context(
            setup.catalog, self._state.added, self._state.removed, self._catalog_head
        )
        self._seen: tuple[Parts, Places] | None = None
        self._fault = ""
        self._capture = capture
        self._unheard: list[int] = []
        self._counted: dict[tuple[str, str], int] = {}

    def make(self) -> Prepared:
        stable = self._stable()
        part = self._part(stable)
        places = self._places = self._in_view()
        self._write_down(part, places)
        blocks = self._archive.blocks(ref.hash for refs in places.values() for ref in refs)
        texts = {at: "".join(blocks[ref.hash].text for ref in refs) for at, refs in places.items()}
        opening = self._archive.block(stable.hash)
        self._shown = opening.refs.union(*(block.refs for block in blocks.values()))
        fixed = {at for at, refs in places.items() if any(ref.untrusted for ref in refs)}
        for at, note in self._history.notes.items():
            # A note may quote tools: it has no place in a system prompt.
            texts[at] = note + texts.get(at, "")
            fixed.add(at)
            self._shown |= self._history.note.refs
        with stage("place"):
            placed = place(
                self._given, opening.text, texts, placement=self._who.placement, fixed=fixed
            )
        self._prints = prints_of(placed)
        record = self._record(stable, part, placed, places)
        if self._capture:
            self._hear()
        self._update(stamp=self._setup.random.getrandbits(48))
        self._state_rows = state_rows(self._before, self._state)
        self._archive.rows += [record.row(), *self._state_rows]
        tools = tuple(tool.name for build in (stable, part) for tool in build.tools)
        return Prepared(
            messages=placed,
            context=record,
            given=self._history.given,
            trail=self._history.given_trail,
            capture=self._capture,
            tools=tools,
        )

    @stage("write")
    def write(self) -> bool:
        """Write everything at once, unless something of it changed since the plan was made.

        That is the conversation, or a record that the prompt shows: what was forgotten meanwhile
        must not be written again.
        """
        store, user = self._setup.store, self._who.user
        with store.atomic(user):
            types = (SessionState.type, *SHOWN_TYPES, Entry.type)
            changes = store.changes(user, self._head, types)
            relied_on = self._shown | {self._state.ref}
            if not relied_on.isdisjoint(change.ref for change in changes):
                return False
            claims = claimed(store, user, self._entries(), self._trail.turn, self._now)
            store.put([*self._archive.rows, *claims])
            if self._unheard:
                trail = self._history.given_trail
                # It was looked up after the head was read: what was stored since is a change.
                as_found = all(change.type != Turn.type for change in changes)
                store_turns(
                    self._setup,
                    self._who,
                    self._state,
                    messages=self._history.given,
                    trail=trail,
                    at=self._now,
                    numbered=self._before.turns,
                    places=self._unheard,
                    known=dict.fromkeys(trail.anchors[at] for at in self._unheard)
                    if as_found
                    else None,
                )
        return True

    def keep_at_hand(self) -> None:
        """Keep in this process what was written and sent, for the next call."""
        user, session = self._who.user, self._who.session
        keep_state(self._setup, self._state_rows[0], self._state)
        self._archive.written()
        self._setup.prefixes.keep_said(user, session, self._said)
        self._setup.prefixes.keep(user, session, self._prints)

    def _hear(self) -> None:
        """Find what is to be captured, and have the state keep it in mind."""
        given, trail, state = self._history.given, self._history.given_trail, self._state
        self._unheard = unheard(self._setup.store, state, given, trail)
        new = dict.fromkeys(trail.anchors[at] for at in self._unheard)
        untaught = tuple(dict.fromkeys((*state.untaught, *new)))
        turns = state.turns + len(self._unheard)
        self._update(untaught=untaught, turns=turns, **heard(state, given, trail, self._unheard))

    def _stable(self) -> Build:
        """Return the epoch's stable block; a new one when a new epoch begins."""
        outdated = self._outdated() if self._state.epoch else set()
        measure = f"{self._who.budget!r} {self._setup.counter} {self._setup.renderer.name}"
        began = why_new(self._state, self._situation, outdated, self._now)
        if not began and measure != self._state.measure:
            began = "budget"
        if not began and self._catalog_head != self._state.catalog_feed:
            stable = self._archive.build(self._state.stable_build)
            began = "catalog" if offers_more(stable, self._context.pinned) else ""
        if not began:
            at = max(self._now, self._state.at)
            self._update(feed=self._head, catalog_feed=self._catalog_head, at=at)
            return self._archive.build(self._state.stable_build)
        selection = build_stable(
            self._setup,
            self._situation,
            self._who.budget,
            own=self._own,
            pinned=[*_not_tools(self._context.pinned), *self._added()],
            removed=self._state.removed,
        )
        self._fault = selection.fault
        build = self._keep("stable", selection, self._context.pinned)
        leave = {*outdated, *build.in_view, *self._state.removed}
        archive, count = self._archive, self._setup.count
        parts = [trimmed(part, leave, archive, count, self._now) for part in self._state.parts]
        self._update(
            project=self._situation.project,
            language=self._situation.language,
            at=self._now,
            ended=False,
            epoch=self._state.epoch + 1,
            began=began,
            stale="",
            feed=self._head,
            catalog_feed=self._catalog_head,
            stable_build=build.ref,
            measure=measure,
            parts=tuple(parts),
            ledger=Ledger(),
        )
        return build

    def _outdated(self) -> set[str]:
        """Return what the conversation shows and what has changed or gone since its last call."""
        state, store = self._state, self._setup.store
        types = (*SHOWN_TYPES, Entry.type)
        changes = self._setup.feed.changes(state.user, state.feed, types, self._head)
        self._archive.rely_on(state.feed, (change.ref for change in changes if change.gone))
        changed_refs = [change.ref for change in changes if change.type != Entry.type]
        if self._catalog_head != state.catalog_feed:
            offered = store.changes(SHARED, state.catalog_feed, (CatalogItem.type,))
            changed_refs += [change.ref for change in offered]
        stable = self._archive.build(state.stable_build)
        return outdated_in(self._setup, state, stable, changed_refs)

    def _part(self, stable: Build) -> Build:
        """Return the turn's part; the same one for every call of a turn."""
        trail = self._trail
        limit = self._who.budget.turn_limit
        for part in self._state.parts:
            if not part.open or part.anchor != trail.turn or part.tokens > limit:
                continue
            if self._over(stable, self._archive.block(part.hash).text) <= 0:
                return self._archive.build(part.build)
        query, policy = self._situation.query, self._setup.agent_search
        called = called_for(self._context.on_call, query, policy)
        selection = self._select_part(stable, called)
        parts = with_room(self._state.parts, self._in_view(), self._who.replayed - selection.tokens)
        if parts != self._state.parts:
            self._update(parts=parts)
            # What left the view may be just what is asked for.
            selection = self._select_part(stable, called)
        build = self._keep("turn", selection, called)
        self._update(parts=(*parts, part_ref(build, trail, parts)), **self._noticed())
        return build

    def _noticed(self) -> dict[str, Any]:
        """Return what the state keeps of what came by itself."""
        if self._trail.last is None:
            return {}
        return {"triggers": self._brought.carried, "activity_feed": self._brought.activity_feed}

    def _select_part(self, stable: Build, called: Sequence[Item]) -> Selection:
        """Choose the turn's part; smaller, when together with the stable block it counts more."""
        budget = self._who.budget
        chosen = self._selected(stable, called, budget)
        # With a counter whose counts add up it never is.
        while chosen.tokens and (over := self._over(stable, chosen.block.text)) > 0:
            if over >= chosen.tokens:
                return Selection()
            budget = budget.with_turn_limit(chosen.tokens - over)
            chosen = self._selected(stable, called, budget)
        return chosen

    def _over(self, stable: Build, part: str) -> int:
        """Return by how many tokens the stable block and a part are over the total together."""
        opening = self._archive.block(stable.hash).text
        return self._together(opening, part) - self._who.budget.total

    def _together(self, opening: str, part: str) -> int:
        """Return the tokens of both; a counter of somebody's own may take its time."""
        if (opening, part) not in self._counted:
            self._counted[opening, part] = joined(self._setup.count, [opening, part], {})
        return self._counted[opening, part]

    def _selected(self, stable: Build, called: Sequence[Item], budget: Budget) -> Selection:
        state, trail = self._state, self._trail
        if trail.last is None:
            return Selection()
        said_in_view, listed = {*stable.in_view, *state.removed}, set(stable.shown)
        whole: set[str] = set()
        for part in chain.from_iterable(self._in_view().values()):
            said_in_view.update(part.shows)
            whole.update(ref for ref in part.shows if ref not in part.briefly)
            listed.update(part.mentions)
        return build_part(
            self._setup,
            self._situation,
            budget,
            own=self._own,
            waiting=[entry.item() for entry in free(self._waiting, trail.turn, self._now)],
            called=_not_tools(called),
            brought=self._brought,
            in_view=said_in_view,
            whole=whole,
            listed=listed,
            said=self._said,
            hint=not stable.points_on,
            head=self._head,
        )

    def _keep(self, kind: BlockKind, selection: Selection, offered: Sequence[Item]) -> Build:
        tools = [item for item in offered if item.kind == "tool"]
        fields = {"at": self._now, "session": self._who.session}
        fields |= build_fields(selection, kind, tools)
        return self._archive.keep(selection.block, self._setup.random, **fields)

    def _added(self) -> list[Item]:
        """Return the records that somebody added to the conversation by hand."""
        rows = self._setup.store.get(self._who.user, self._state.added)
        items = self._setup.faults.read([row for row in rows if row.live], row_item)
        rating = Rating.of(self._situation, self._setup.weights)
        rated = map(rating.score, items)
        trusted = [item for item in rated if item.trust == "trusted"]
        here = {"project": self._situation.project, "language": self._situation.language}
        return [
            changed(
                item,
                lane="pinned",
                include="manual",
                # A heading names the project and the language at hand.
                section=item.section if item.scope.admits(**here) else "references",
            )
            for item in trusted
        ]

    def _entries(self) -> dict[str, str]:
        """Return the waiting entries that the prompt shows, by ref, with their versions."""
        parts = [part for parts in self._places.values() for part in parts]
        return {ref: part.shows[ref] for part in parts for ref in part.entries if ref in part.shows}

    @cached_property
    def _waiting(self) -> list[Entry]:
        """What was left for the conversation and is not committed."""
        who, setup = self._who, self._setup
        return waiting(setup.store, who.user, who.session, setup.faults)

    @cached_property
    def _brought(self) -> Brought:
        """What the message and what is going on bring by themselves."""
        if self._trail.last is None:
            return Brought()
        with stage("surroundings"):
            return self._setup.surroundings.look(
                self._situation,
                self._before.triggers,
                self._before.activity_feed,
                self._setup.floors.query,
                self._head,
            )

    @cached_property
    def _own(self) -> Own:
        """What the application's own sources have; they are asked once a call."""
        if not self._setup.own_sources:
            return Own()
        return own_items(self._setup, self._brought.seen_from(self._situation))

    @cached_property
    def _said(self) -> InView:
        return said_in_view(self._setup, self._who, self._history)

    def _in_view(self) -> Places:
        """Return the parts to show, each at its message."""
        parts = self._state.parts
        if self._seen is None or self._seen[0] is not parts:
            self._seen = parts, find_places(parts, self._trail)
        return self._seen[1]

    def _write_down(self, part: Build, places: Places) -> None:
        """Have it remembered what stands before the turn's part."""
        parts = self._state.parts
        stood = first_stood(parts, places, self._trail)
        self._update(parts=with_stood(parts, part.ref, stood))

    @stage("record")
    def _record(
        self, stable: Build, part: Build, placed: list[Message], places: Places
    ) -> ContextRecord:
        setup, who = self._setup, self._who
        # A part that lost an item since it was built is shown as it is now.
        shown = next((ref.hash for ref in self._state.parts if ref.build == part.ref), "")
        opening, own = self._archive.block(stable.hash), self._archive.block(shown)
        replayed = sum(ref.tokens for refs in places.values() for ref in refs)
        return ContextRecord(
            user=who.user,
            ref=long_ref(ContextRecord.prefix, setup.random),
            at=self._now,
            session=who.session,
            turn=self._trail.turn,
            epoch=self._state.epoch,
            tokens=self._together(opening.text, own.text),
            limit=who.budget.total,
            counter=setup.counter,
            exact=setup.exact,
            stable_build=stable.ref,
            part_build=part.ref,
            entries=self._entries(),
            replayed_tokens=max(0, replayed - part.tokens),
            view=self._history.view.ref if self._history.view else "",
            prefix_share=setup.prefixes.share(who.user, who.session, placed, self._prints),
            degraded=part.fault or self._fault,
            stable=opening.text,
            part=own.text,
            builds=(stable, part),
        )

    def _update(self, **values: Any) -> None:
        self._state = self._state.model_copy(update=values)


def _situation(
    who: Identity, state: SessionState, given: Sequence[Message], trail: Trail, now: datetime
) -> Situation:
    said = [message for message in given if message["role"] in ("user", "assistant")][-LOOKED_AT:]
    return Situation(
        user=who.user,
        session=who.session,
        project=who.project or state.project,
        language=who.language or state.language,
        task=who.task or task_of([message_text(message) for message in said]),
        files=who.files,
        cwd=who.cwd,
        root=who.root,
        query=who.query or (message_text(given[trail.last]) if trail.last is not None else ""),
        now=now,
    )


def _not_tools(items: Sequence[Item]) -> list[Item]:
    """Return what is shown as text; tools are bound to the request instead."""
    return [item for item in items if item.kind != "tool"]

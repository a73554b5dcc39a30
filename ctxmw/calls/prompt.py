"""The prompt of a call: the stable block that opens it, the turn's part, and both in their places.

The part is what the user's words bring, the same for every call of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ..conversation.blocks import Sent, prints_of, sent_pieces, shared_prefix
from ..conversation.conversation import Prepared
from ..conversation.exchanges import heard, unheard
from ..conversation.record import Build, ContextRecord, shown_again, still_shown
from ..conversation.replay.trail import (
    Places,
    find_places,
    first_stood,
    part_ref,
    trimmed,
    with_room,
    with_stood,
)
from ..conversation.sent import SentPrompt, answers_in, fetched_builds, hashes_of, sent_fields
from ..conversation.state import Ledger, PartRef, SessionState, state_rows
from ..recall.entries import free
from ..recall.in_view import AlreadyShown
from ..recall.lanes import Selection
from ..recall.pipeline import TurnOffers, build_part, build_stable
from ..recall.selection import Overflow, select_turn
from ..recall.sources.records import notes_after_tools
from ..runtime.telemetry import stage
from ..values.budget import Budget
from ..values.items import Item, long_ref
from ..values.messages import Message, place
from ..values.record_items import row_item
from ..values.situation import Rating
from .binding import LOADED, loaded_names, loaded_with
from .call import Call, Chosen, Opening, Part, Planned, build_of, shown_as_text


def opening(call: Call, chosen: Chosen | None = None) -> Opening:
    """Return the stable block in force; a new one, where it was chosen already, for a new epoch."""
    state, seen, blocks = call.seen.state, call.seen, call.blocks
    if not call.began:
        build = blocks.build(state.stable_build)
        at = max(seen.at, state.at)
        feeds = {"feed": seen.head, "catalog_feed": seen.catalog_head, "at": at}
        return Opening(
            build=build,
            state=state.model_copy(update=feeds),
            text=blocks.block(build.hash).text,
            since=seen.head,
        )
    new = chosen or choose(call)
    build = build_of(call, "stable", new.selection, call.catalog.pinned)
    count = call.using.recall.printer.count
    leave = {*call.outdated, *build.in_view, *state.left_out}
    parts = [trimmed(part, leave, blocks, count, seen.at) for part in state.parts]
    begun = {
        "project": call.situation.project,
        "language": call.situation.language,
        "at": seen.at,
        "ended": False,
        "epoch": state.epoch + 1,
        "began": call.began,
        "stale": "",
        "feed": new.head,
        "catalog_feed": seen.catalog_head,
        "stable_build": build.ref,
        "measure": call.measure,
        "parts": tuple(parts),
        "loaded": state.loaded[-LOADED:],
        "pins_seen": state.pins_stamp,
        "ledger": Ledger(),
    }
    return Opening(
        build=build,
        state=state.model_copy(update=begun),
        text=new.selection.block.text,
        since=new.head,
        fault=new.selection.fault,
    )


def choose(call: Call) -> Chosen:
    """Choose what is to open the prompts of a new epoch."""
    selection = build_stable(
        call.using.recall,
        call.situation,
        call.who.budget,
        own=call.around.own,
        pinned=[*shown_as_text(call.catalog.pinned), *_added(call)],
        removed=call.seen.state.left_out,
    )
    return Chosen(selection=selection, head=call.seen.head)


def _added(call: Call) -> list[Item]:
    """Return the records that somebody added to the conversation by hand."""
    journal, situation = call.using.journal, call.situation
    rows = journal.store.get(call.who.user, call.seen.state.put_in)
    items = journal.faults.read([row for row in rows if row.live], row_item)
    rated = map(Rating.of(situation, call.using.recall.weights).score, items)
    here = {"project": situation.project, "language": situation.language}
    return [
        replace(
            item if item.scope.admits(**here) else _from_elsewhere(item),
            lane="pinned",
            include="manual",
        )
        for item in rated
        if item.trust == "trusted" and not item.tainted and item.holds_at(situation.now)
    ]


def _from_elsewhere(item: Item) -> Item:
    """Return an item that holds in another project or language, and says so."""
    # The other headings name the project and the language at hand.
    of = f"{item.scope.kind} {item.scope.name}"
    return replace(item, section="references", label=", ".join(filter(None, (of, item.label))))


def part(call: Call, opened: Opening) -> Part:
    """Return the part of the call's turn; a new one at the turn's first call."""
    state, trail = opened.state, call.history.trail
    places = find_places(state.parts, trail)
    for known in open_parts(call, state):
        text = call.blocks.block(known.hash).text
        tokens = _together(call, opened, text)
        if tokens <= call.who.budget.total:
            if helping := _helping(call, opened, places, text):
                return helping
            build = call.blocks.build(known.build)
            return Part(build=build, state=state, places=places, text=text, tokens=tokens)
    called = call.called.items
    chosen, tokens = _choose(call, opened, places, called)
    parts = with_room(state.parts, places, call.who.replayed - chosen.tokens)
    if parts != state.parts:
        # What left the view may be just what is asked for.
        chosen, tokens = _choose(call, opened, find_places(parts, trail), called)
    build = build_of(call, "turn", chosen, called, declined=call.called)
    parts = (*parts, part_ref(build, trail, parts))
    loaded = loaded_with(state, call.catalog, call.called)
    return Part(
        build=build,
        state=state.model_copy(update={"parts": parts, "loaded": loaded, **_noticed(call)}),
        places=find_places(parts, trail),
        text=chosen.block.text,
        tokens=tokens,
    )


def _helping(call: Call, opened: Opening, places: Places, before: str) -> Part | None:
    """Return one more part of a turn in which something has failed, with what helped before.

    It joins the one that the turn began with (`before`), within the same budget; None when nothing
    is known, or all of it is in view.
    """
    state, trail, budget = opened.state, call.history.trail, call.who.budget
    shown = {ref for parts in places.values() for part in parts for ref in part.shows}
    shown |= {*opened.build.in_view, *state.left_out}
    new = [item for item in call.remedies if item.ref not in shown]
    recall = call.using.recall
    room = budget.total - _together(call, opened, before)
    room = min(room, budget.turn_limit - recall.printer.count(before))
    if not new or room <= 0:
        return None
    layout = recall.printer.layout(call.situation)
    chosen = select_turn(new, room, layout, recall.floors, overflow=Overflow(index_lines=0))
    if not chosen.block.text:
        return None
    build = build_of(call, "turn", chosen, ())
    parts = (*state.parts, part_ref(build, trail, state.parts))
    return Part(
        build=build,
        state=state.model_copy(update={"parts": parts}),
        places=find_places(parts, trail),
        text=chosen.block.text,
        tokens=_together(call, opened, chosen.block.text),
    )


def open_parts(call: Call, state: SessionState) -> list[PartRef]:
    """Return the parts that were made for the call's turn, which goes on, and that still fit."""
    turn, limit = call.history.trail.turn, call.who.budget.turn_limit
    return [
        known
        for known in state.parts
        if known.open and known.anchor == turn and known.tokens <= limit
    ]


def _noticed(call: Call) -> dict[str, object]:
    """Return what the state keeps of what came by itself."""
    if call.history.trail.last is None:
        return {}
    brought = call.around.brought
    return {"triggers": brought.carried, "activity_feed": brought.activity_feed}


def _choose(
    call: Call, opened: Opening, places: Places, called: Sequence[Item]
) -> tuple[Selection, int]:
    """Choose the part, smaller when together with the stable block it counts more.

    Return it with the tokens of both.
    """
    budget = call.who.budget
    while True:
        chosen = _selected(call, opened, places, called, budget)
        tokens = _together(call, opened, chosen.block.text)
        over = tokens - call.who.budget.total
        # With a counter whose counts add up it never is.
        if over <= 0 or not chosen.tokens:
            return chosen, tokens
        if over >= chosen.tokens:
            return Selection(), _together(call, opened, "")
        budget = budget.with_turn_limit(chosen.tokens - over)


def _together(call: Call, opened: Opening, text: str) -> int:
    return call.using.recall.printer.count.joined([opened.text, text], {})


def _selected(
    call: Call, opened: Opening, places: Places, called: Sequence[Item], budget: Budget
) -> Selection:
    trail, stable = call.history.trail, opened.build
    if trail.last is None:
        return Selection()
    in_view, listed = {*stable.in_view, *opened.state.left_out, *call.left}, set(stable.shown)
    # What was learned from an answer that was left is not to be told either.
    whole: set[str] = set(call.left)
    for known in chain.from_iterable(places.values()):
        in_view.update(known.shows)
        whole.update(ref for ref in known.shows if ref not in known.briefly)
        listed.update(known.mentions)
    parts = call.blocks.blocks(ref.hash for refs in places.values() for ref in refs)
    waiting = free(call.waiting, trail.turn, call.seen.at) if call.waiting else ()
    offers = TurnOffers(
        own=call.around.own,
        waiting=[entry.item() for entry in waiting],
        called=[*call.remedies, *shown_as_text(called)],
        # Where the system prompt begins, and cannot tell it all.
        notes=notes_after_tools(call.using.journal, call.situation) if call.began else (),
        brought=call.around.brought,
    )
    shown = AlreadyShown(
        refs=in_view,
        whole=whole,
        listed=listed,
        said=call.said,
        points_on=stable.points_on,
        texts=[opened.text, *(block.text for block in parts.values())],
    )
    recall, head = call.using.recall, call.seen.head
    return build_part(recall, call.situation, budget, offers, shown, head=head)


def assemble(call: Call, opened: Opening, part: Part, *, capture: bool = False) -> Planned:
    """Return the call with its blocks placed.

    `capture`: what the history brings that was not captured yet is written too.
    """
    placed, shown = _placed(call, opened, part)
    tools = tools_of_call(call, part.state.loaded)
    bound = call.offered.sent(lambda names: call.using.recall.catalog.bound(names, tools))
    sent = sent_pieces(call.offered.texts(bound), placed)
    record = _record(call, opened, part, _entries(part), sent)
    hashes = hashes_of(placed)
    record = _with_what_was_sent(call, part, record, hashes)
    record = record.model_copy(update={"tools": bound})
    entries = record.entries
    before_this = call.using.conversations.prompts.get((call.who.user, call.who.session))
    sent_prompt = SentPrompt(
        record=record.ref,
        hashes=hashes,
        prints=prints_of(sent),
        links=before_this.links + 1 if before_this and record.sent_after else 0,
    )
    before, trail = call.seen.state, call.history.given_trail
    fresh = (
        unheard(call.using.journal.store, part.state, call.history.given, trail) if capture else []
    )
    state = _state_after(call, part, fresh if capture else None)
    written = state_rows(before, state)
    prepared = Prepared(
        messages=placed,
        context=record,
        given=call.history.given,
        trail=trail,
        capture=capture,
        learn=call.who.learn,
        branches=call.may_branch,
        tools=tuple(tools),
        bound=bound,
    )
    return Planned(
        call=call,
        prepared=prepared,
        state=state,
        state_row=written[0],
        rows=(*call.blocks.rows, record.row(), *written),
        opened=opened,
        shown=shown,
        entries=entries,
        sent=sent_prompt,
        unheard=tuple(fresh),
    )


def tools_of_call(call: Call, loaded: Sequence[str]) -> list[str]:
    """Return the names of the catalog's tools for a call: always first, then as they came."""
    always = call.catalog.names("tool")
    return list(dict.fromkeys((*always, *loaded_names(loaded, call.catalog))))


def _placed(call: Call, opened: Opening, part: Part) -> tuple[list[Message], frozenset[str]]:
    """Return the prompt, and the refs of all that it shows."""
    history, places = call.history, part.places
    blocks = call.blocks.blocks(ref.hash for refs in places.values() for ref in refs)
    texts = {at: "".join(blocks[ref.hash].text for ref in refs) for at, refs in places.items()}
    fixed = {at for at, refs in places.items() if any(ref.untrusted for ref in refs)}
    shown = call.blocks.block(opened.build.hash).refs.union(*(b.refs for b in blocks.values()))
    for at, note in history.notes.items():
        # A note may quote tools: it has no place in a system prompt.
        texts[at] = note + texts.get(at, "")
        fixed.add(at)
        shown |= history.note.refs
    with stage("place"):
        placement = call.who.placement
        placed = place(history.messages, opened.text, texts, placement=placement, fixed=fixed)
    return history.bridged(placed), frozenset(shown)


def _entries(part: Part) -> dict[str, str]:
    """Return the waiting entries that the prompt shows, by ref, with their versions."""
    parts = [ref for refs in part.places.values() for ref in refs]
    return {ref: one.shows[ref] for one in parts for ref in one.entries if ref in one.shows}


@stage("record")
def _record(
    call: Call,
    opened: Opening,
    part: Part,
    entries: Mapping[str, str],
    sent: Sequence[Sent],
) -> ContextRecord:
    who, history, printer = call.who, call.history, call.using.recall.printer
    before = call.using.conversations.prompts.get((who.user, who.session))
    replayed = sum(ref.tokens for refs in part.places.values() for ref in refs)
    return ContextRecord(
        user=who.user,
        ref=long_ref(ContextRecord.prefix, call.using.journal.random),
        at=call.seen.at,
        session=who.session,
        turn=history.trail.turn,
        epoch=part.state.epoch,
        tokens=part.tokens,
        limit=who.budget.total,
        counter=printer.count.name,
        exact=printer.count.exact,
        stable_build=opened.build.ref,
        part_build=part.build.ref,
        entries=dict(entries),
        replayed_tokens=max(0, replayed - part.build.tokens),
        view=history.view.ref if history.view else "",
        prefix_share=shared_prefix(before.prints if before else None, sent),
        degraded=part.build.fault or opened.fault,
        stable=opened.text,
        part=part.text,
        builds=(opened.build, part.build),
    )


def _with_what_was_sent(
    call: Call, part: Part, record: ContextRecord, hashes: tuple[str, ...]
) -> ContextRecord:
    """Return the record with all of ours that the prompt holds, and the hashes of its messages."""
    own = {part.build.ref, ""}
    parts = [ref for refs in part.places.values() for ref in refs]
    replayed = [ref for ref in parts if ref.hash and ref.build not in own]
    blocks = call.blocks.blocks(ref.hash for ref in replayed)
    fetched = answers_in(part.state, call.history.messages)
    earlier = [
        *(still_shown(_replayed(call, ref.build), blocks[ref.hash].refs) for ref in replayed),
        *(shown_again(build, "fetched") for build in fetched_builds(call.blocks, fetched)),
    ]
    before = call.using.conversations.prompts.get((call.who.user, call.who.session))
    return record.model_copy(
        update={
            "replayed": tuple((ref.build, ref.hash) for ref in replayed),
            "fetched": fetched,
            "earlier": tuple(earlier),
            **sent_fields(before, hashes),
        }
    )


def _replayed(call: Call, ref: str) -> Build:
    """Return what a part of an earlier turn shows: a long conversation has hundreds of them."""
    kept = call.using.conversations.replayed
    known = kept.get((call.who.user, ref))
    if known is None:
        known = shown_again(call.blocks.build(ref), "replayed")
        kept.put((call.who.user, ref), known)
    return known


def _state_after(call: Call, part: Part, fresh: Sequence[int] | None) -> SessionState:
    """Return the state as it is written: what stood where, and what the call was heard to say."""
    state, given, trail = part.state, call.history.given, call.history.given_trail
    stood = first_stood(state.parts, part.places, call.history.trail)
    changes: dict[str, object] = {
        "parts": with_stood(state.parts, part.build.ref, stood),
        "stamp": call.using.journal.random.getrandbits(48),
    }
    if fresh is not None:
        new = dict.fromkeys(trail.anchors[at] for at in fresh)
        changes["untaught"] = tuple(dict.fromkeys((*state.untaught, *new)))
        changes["turns"] = state.turns + len(fresh)
        changes |= heard(state, given, trail, fresh)
    return state.model_copy(update=changes)

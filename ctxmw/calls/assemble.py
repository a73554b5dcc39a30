"""The prompt of a call and everything that is written with it, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..conversation.conversation import Prepared
from ..conversation.record import ContextRecord
from ..conversation.replay.hearing import heard, unheard
from ..conversation.replay.parts import with_stood
from ..conversation.replay.prefix import Prints, prints_of
from ..conversation.replay.trail import first_stood
from ..conversation.state import SessionState, state_rows
from ..runtime.stages import stage
from ..values.messages import Message, place
from ..values.refs import long_ref
from .call import Call, Opening, Part, Planned


def assemble(call: Call, opened: Opening, part: Part, *, capture: bool = False) -> Planned:
    """Return the call with its blocks placed.

    `capture`: what the history brings that was not captured yet is written too.
    """
    placed, shown = _placed(call, opened, part)
    prints, entries = prints_of(placed), _entries(part)
    record = _record(call, opened, part, entries, share_of=(placed, prints))
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
        tools=tuple(tool.name for build in record.builds for tool in build.tools),
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
        prints=prints,
        unheard=tuple(fresh),
    )


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
    return placed, frozenset(shown)


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
    share_of: tuple[Sequence[Message], Prints],
) -> ContextRecord:
    who, history, printer = call.who, call.history, call.using.recall.printer
    prefixes = call.using.conversations.prefixes
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
        counter=printer.counter,
        exact=printer.exact,
        stable_build=opened.build.ref,
        part_build=part.build.ref,
        entries=dict(entries),
        replayed_tokens=max(0, replayed - part.build.tokens),
        view=history.view.ref if history.view else "",
        prefix_share=prefixes.share(who.user, who.session, *share_of),
        degraded=part.build.fault or opened.fault,
        stable=opened.text,
        part=part.text,
        builds=(opened.build, part.build),
    )


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

"""The stable block that opens a prompt: the epoch's, or a new one when a new epoch begins."""

from __future__ import annotations

from dataclasses import replace

from ..conversation.replay.parts import trimmed
from ..conversation.state import Ledger
from ..recall.pipeline import build_stable
from ..values.items import Item
from ..values.record_items import row_item
from ..values.scoring import Rating
from .call import Call, Chosen, Opening, build_of, shown_as_text


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
    leave = {*call.outdated, *build.in_view, *state.removed}
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
        removed=call.seen.state.removed,
    )
    return Chosen(selection=selection, head=call.seen.head)


def _added(call: Call) -> list[Item]:
    """Return the records that somebody added to the conversation by hand."""
    journal, situation = call.using.journal, call.situation
    rows = journal.store.get(call.who.user, call.seen.state.added)
    items = journal.faults.read([row for row in rows if row.live], row_item)
    rated = map(Rating.of(situation, call.using.recall.weights).score, items)
    here = {"project": situation.project, "language": situation.language}
    return [
        replace(
            item,
            lane="pinned",
            include="manual",
            # A heading names the project and the language at hand.
            section=item.section if item.scope.admits(**here) else "references",
        )
        for item in rated
        if item.trust == "trusted"
    ]

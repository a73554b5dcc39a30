"""The turn's part: what the user's words bring, the same for every call of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ..conversation.replay.parts import part_ref, with_room
from ..conversation.replay.trail import Places, find_places
from ..conversation.state import PartRef, SessionState
from ..recall.catalog import called_for
from ..recall.entries import free
from ..recall.in_view import AlreadyShown
from ..recall.pipeline import TurnOffers, build_part
from ..recall.selection import Selection
from ..tokens.counter import joined
from ..values.budget import Budget
from ..values.items import Item
from .call import Call, Opening, Part, build_of, shown_as_text


def part(call: Call, opened: Opening) -> Part:
    """Return the part of the call's turn; a new one at the turn's first call."""
    state, trail = opened.state, call.history.trail
    places = find_places(state.parts, trail)
    for known in open_parts(call, state):
        text = call.blocks.block(known.hash).text
        tokens = _together(call, opened, text)
        if tokens <= call.who.budget.total:
            build = call.blocks.build(known.build)
            return Part(build=build, state=state, places=places, text=text, tokens=tokens)
    called = called_for(call.catalog.on_call, call.situation.query, call.using.recall.agent_search)
    chosen, tokens = _choose(call, opened, places, called)
    parts = with_room(state.parts, places, call.who.replayed - chosen.tokens)
    if parts != state.parts:
        # What left the view may be just what is asked for.
        chosen, tokens = _choose(call, opened, find_places(parts, trail), called)
    build = build_of(call, "turn", chosen, called)
    parts = (*parts, part_ref(build, trail, parts))
    return Part(
        build=build,
        state=state.model_copy(update={"parts": parts, **_noticed(call)}),
        places=find_places(parts, trail),
        text=chosen.block.text,
        tokens=tokens,
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
    return joined(call.using.recall.printer.count, [opened.text, text], {})


def _selected(
    call: Call, opened: Opening, places: Places, called: Sequence[Item], budget: Budget
) -> Selection:
    trail, stable = call.history.trail, opened.build
    if trail.last is None:
        return Selection()
    in_view, listed = {*stable.in_view, *opened.state.removed}, set(stable.shown)
    whole: set[str] = set()
    for known in chain.from_iterable(places.values()):
        in_view.update(known.shows)
        whole.update(ref for ref in known.shows if ref not in known.briefly)
        listed.update(known.mentions)
    offers = TurnOffers(
        own=call.around.own,
        waiting=[entry.item() for entry in free(call.waiting, trail.turn, call.seen.at)],
        called=shown_as_text(called),
        brought=call.around.brought,
    )
    shown = AlreadyShown(
        refs=in_view,
        whole=whole,
        listed=listed,
        said=call.said,
        points_on=stable.points_on,
    )
    recall, head = call.using.recall, call.seen.head
    return build_part(recall, call.situation, budget, offers, shown, head=head)

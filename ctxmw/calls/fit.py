"""The plan of a call that fits the model's window: where it would not, it is compacted first.

That is decided by what is certain to be in the prompt, before anything is searched or printed. Only
where the part that the turn brings tips the scale, it is decided after, and the call planned again.
"""

from __future__ import annotations

from dataclasses import replace

from ..compaction.compact import Need, needed, shrink, store_view
from ..compaction.make_view import archive
from ..compaction.policy import Window
from ..conversation.replay.trail import find_places, over_cap
from .assemble import assemble
from .call import Call, Chosen, Planned
from .opening import choose, opening
from .part import open_parts, part


def plan(call: Call, window: Window | None = None, *, capture: bool = False) -> Planned:
    """Return what the call shows and writes; in a window, compacted where it has to be."""
    if window is None:
        return _planned(call, None, capture=capture)
    certain = _certain(call, window)
    need = _needed(call, certain)
    call, chosen = _compacted(call, window, need)
    planned = _planned(call, chosen, capture=capture)
    exact = _exact(planned, window)
    fits = _taken(exact) - _taken(certain) <= need.spare
    if chosen is None and (fits or need.cut):
        return planned  # there is room, or it cannot be made
    call, chosen = _compacted(call, window, _needed(call, exact))
    return planned if call is planned.call else _planned(call, chosen, capture=capture)


def _planned(call: Call, chosen: Chosen | None, *, capture: bool) -> Planned:
    opened = opening(call, chosen)
    return assemble(call, opened, part(call, opened), capture=capture)


def _certain(call: Call, window: Window) -> Window:
    """Return the window with what the prompt is certain to hold of ours, and maybe more to come."""
    if call.began:
        # Then nothing is: what was forgotten leaves earlier parts too.
        return window
    state, who = call.seen.state, call.who
    places = find_places(state.parts, call.history.trail)
    known = open_parts(call, state)[:1]
    # A new part may take the place of old ones.
    cap = who.replayed if known else who.replayed - who.budget.turn_limit
    left = set() if known else over_cap(places, cap, keep=())
    in_view = [one for refs in places.values() for one in refs if one.build not in left]
    own = sum(one.tokens for one in known)
    stable = call.blocks.build(state.stable_build).tokens
    replayed = max(0, sum(one.tokens for one in in_view) - own)
    return replace(window, taken=window.taken + stable + own, replayed=replayed)


def _exact(planned: Planned, window: Window) -> Window:
    """Return the window with what the prompt holds of ours."""
    record = planned.prepared.context
    return replace(window, taken=window.taken + record.tokens, replayed=record.replayed_tokens)


def _taken(window: Window) -> int:
    return window.taken + window.replayed


def _needed(call: Call, window: Window) -> Need:
    return needed(call.history, window, call.using.policy, call.using.recall.printer.count)


def _compacted(call: Call, window: Window, need: Need) -> tuple[Call, Chosen | None]:
    """Return the call with its history compacted, where needed, and what is to open it then.

    A new epoch begins with it. What opens it is chosen here, before the note, which does not repeat
    it; room is left for the largest part that the turn may bring.
    """
    if not need.cut:
        return call, None
    using, who, history = call.using, call.who, call.history
    archive(using, who, history, need.cut)
    # What was just learned may be in the stable block already.
    call = call.again(history)
    chosen = choose(call)
    known = {*chosen.selection.shown, *call.seen.state.removed}
    ours = chosen.selection.tokens + _part_at_most(call, chosen)
    room = replace(window, taken=window.taken + ours)
    smaller = shrink(using, who, history, room, situation=call.situation, known=known)
    if smaller is None:
        return call, None
    store_view(using, who, smaller)
    return call.again(smaller), chosen


def _part_at_most(call: Call, chosen: Chosen) -> int:
    known = open_parts(call, call.seen.state)
    if known:
        return known[0].tokens
    budget = call.who.budget
    return min(budget.turn_limit, budget.total - chosen.selection.tokens)

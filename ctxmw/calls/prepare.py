"""One model call of a conversation: from the caller's messages to the prompt and its record.

A call is planned from what is stored, then written in one transaction, provided nobody changed the
conversation meanwhile; otherwise it is planned again. The last plan is made inside the
transaction, so every call ends.

Where a plan would not fit the model's window, the conversation is compacted first. That is decided
by what is certain to be in the prompt, before anything is searched or printed. Only where the part
that the turn brings tips the scale, it is decided after, and the call planned again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from ..compaction.compact import Need, needed, shrink, store_view, tokens_in_view
from ..compaction.compactor import Compactor, Window
from ..compaction.hooks import event_of
from ..conversation.conversation import SHOWN_TYPES, Identity, Prepared
from ..conversation.exchanges import Telling
from ..conversation.record import ContextRecord
from ..conversation.replay.current import current_history, with_present_note
from ..conversation.replay.trail import find_places, over_cap
from ..conversation.replay.views import View
from ..conversation.state import SessionState
from ..errors import NotFound
from ..recall.entries import Entry, claimed
from ..runtime.telemetry import stage
from ..text.cleaning import one_line
from ..tokens.prompt_counter import PER_MESSAGE, Measure, at_most
from ..values.messages import Message
from ..values.records import Turn
from .binding import OfferedTools, loaded_with
from .call import Call, Chosen, Planned, Seen
from .prompt import assemble, choose, open_parts, opening, part, tools_of_call

log = logging.getLogger("ctxmw")

_OPTIMISTIC = 3
TOKENS_OF_A_JOIN = 2
"""Two texts joined may have so many more than both."""
MANY_WAIT = 32
"""Turns that may wait to be learned from."""
_TYPES = (SessionState.type, *SHOWN_TYPES, Entry.type)


@stage("prepare")
def prepare_call(
    using: Compactor,
    who: Identity,
    messages: Sequence[Message],
    window: Window | None = None,
    *,
    offered: OfferedTools | None = None,
    capture: bool = True,
) -> Prepared:
    """Return the messages with our blocks placed, and write down what was done.

    What was said is stored with it, unless told otherwise. A prompt that would take up too much of
    the window is compacted first.
    """
    for _ in range(_OPTIMISTIC):
        try:
            planned = plan(_begun(using, who, messages, offered), window, capture=capture)
        except NotFound:
            continue  # the conversation was forgotten since the call was begun
        if commit(planned):
            break
    else:
        with using.journal.store.atomic(who.user):
            planned = plan(_begun(using, who, messages, offered), capture=capture)
            commit(planned)
    keep_at_hand(planned)
    return planned.prepared


def peek_call(using: Compactor, who: Identity, messages: Sequence[Message]) -> Prepared:
    """Return what `prepare_call` would now, and leave no trace of it."""
    seen = Seen.now(using.conversations, who)
    history = current_history(using.conversations, who, messages, seen.state)
    return plan(Call.begin(using, who, history, seen)).prepared


def _begun(
    using: Compactor, who: Identity, messages: Sequence[Message], offered: OfferedTools | None
) -> Call:
    seen = Seen.now(using.conversations, who)
    if len(seen.state.untaught) > MANY_WAIT:
        # Whoever never finishes a call has it learned here.
        using.learner.learn_what_waits(who)
        seen = Seen.now(using.conversations, who)
    history = current_history(using.conversations, who, messages, seen.state)
    present = with_present_note(using.conversations, who, history)
    if present is not history:
        seen = Seen.now(using.conversations, who)
    return Call.begin(using, who, present, seen, offered)


def plan(call: Call, window: Window | None = None, *, capture: bool = False) -> Planned:
    """Return what the call shows and writes; in a window, compacted where it has to be."""
    if window is None:
        return _planned(call, None, capture=capture)
    window = _with_tools(call, window)
    planned = _told_if_over(_fitted(call, window, capture=capture), window)
    return _told_if_compacted(planned, call.history.view)


def _fitted(call: Call, window: Window, *, capture: bool) -> Planned:
    certain = _certain(call, window)
    need = _needed(call, certain)
    call, chosen = _compacted(call, window, need)
    planned = _planned(call, chosen, capture=capture)
    told = planned.prepared.context
    ours = window.taken + told.tokens + told.replayed_tokens + _seams_at_most(told)
    fits = ours - certain.taken - certain.replayed <= need.spare
    if chosen is None and (fits or need.cut):
        return planned  # there is room, or it cannot be made
    call, chosen = _compacted(call, window, _needed(call, _exact(planned, window)))
    return planned if call is planned.call else _planned(call, chosen, capture=capture)


def _told_if_compacted(planned: Planned, before: View | None) -> Planned:
    history, who = planned.call.history, planned.call.who
    if history.view is None or (before is not None and before.ref == history.view.ref):
        return planned
    event = event_of(who, history)
    return replace(planned, prepared=replace(planned.prepared, compaction=event))


def _told_if_over(planned: Planned, window: Window) -> Planned:
    """Return the plan; where even so the prompt is over the window, its record and a log say so."""
    prompt, count = planned.prepared.messages, planned.call.using.recall.printer.count
    if at_most(prompt) + window.taken <= window.tokens:
        return planned
    over = Measure(count).messages(prompt) + window.taken - window.tokens
    if over <= 0:
        return planned
    record = planned.prepared.context.model_copy(update={"over_window": over})
    log.warning(
        "a prompt of conversation %r is %d tokens over the model's window of %d: what must stay in "
        "view takes more. Shorten the last message or its tool outputs, or offer fewer tools.",
        one_line(planned.call.who.session, 80),
        over,
        window.tokens,
    )
    rows = tuple(record.row() if row.ref == record.ref else row for row in planned.rows)
    return replace(planned, prepared=replace(planned.prepared, context=record), rows=rows)


def _with_tools(call: Call, window: Window) -> Window:
    """Return the window with what the tools take that go with the call."""
    state, context, offered = call.seen.state, call.catalog, call.offered
    if not offered.schemas:
        return window
    under_way = open_parts(call, state)
    loaded = state.loaded if under_way else loaded_with(state, context, call.called)
    tools = tools_of_call(call, loaded)
    bound = offered.sent(lambda names: call.using.recall.catalog.bound(names, tools))
    taken = offered.tokens(bound, Measure(call.using.recall.printer.count))
    return replace(window, taken=window.taken + taken)


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


def _seams_at_most(told: ContextRecord) -> int:
    """Return what the prompt may count besides our texts: a message of ours, tokens at joins."""
    return PER_MESSAGE + TOKENS_OF_A_JOIN * (2 + len(told.replayed))


def _exact(planned: Planned, window: Window) -> Window:
    """Return the window with what the prompt holds of ours: counted in its place.

    Where texts are joined there are a few tokens more than in both.
    """
    measure, record = Measure(planned.call.using.recall.printer.count), planned.prepared.context
    said = tokens_in_view(planned.call.history, measure)
    ours = measure.messages(planned.prepared.messages) - said
    return replace(window, taken=window.taken + record.tokens, replayed=ours - record.tokens)


def _needed(call: Call, window: Window) -> Need:
    return needed(call.history, window, call.using.policy, call.using.recall.printer.count)


def _compacted(call: Call, window: Window, need: Need) -> tuple[Call, Chosen | None]:
    """Return the call with its history compacted, where needed, and what is to open it then.

    A new epoch begins with it. What opens it is chosen here, before the note, which does not repeat
    it; room is left for the largest part that the turn may bring.
    """
    if not need.cut:
        return call, None
    from ..compaction.make_view import archive

    using, who, history = call.using, call.who, call.history
    archive(using, who, history, need.cut)
    # What was just learned may be in the stable block already.
    call = call.again(history)
    chosen = choose(call)
    known = {*chosen.selection.shown, *call.seen.state.left_out}
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


@stage("write")
def commit(planned: Planned) -> bool:
    """Write everything at once, unless something of it changed since the call was planned.

    That is the conversation, or a record that the prompt shows: what was forgotten meanwhile
    must not be written again.
    """
    call, state = planned.call, planned.state
    store, user, seen, history = call.using.journal.store, call.who.user, call.seen, call.history
    with store.atomic(user):
        changes = store.changes(user, planned.opened.since, _TYPES)
        late = [change for change in changes if change.seq > seen.head]
        if not {state.ref, *planned.shown}.isdisjoint(change.ref for change in late):
            return False
        # What opens the prompt of a call that was compacted was read before all the rest.
        early = {change.ref for change in changes if change.seq <= seen.head}
        if not early.isdisjoint(planned.opened.build.shown):
            return False
        shown, turn = planned.entries, history.trail.turn
        claims = claimed(store, user, shown, turn, seen.at) if shown else ()
        turns: list[Turn] = []
        if planned.unheard:
            trail = history.given_trail
            # It was looked up after the head was read: what was stored since is a change.
            as_found = all(change.type != Turn.type for change in late)
            anchors = dict.fromkeys(trail.anchors[at] for at in planned.unheard)
            told = Telling(messages=history.given, trail=trail, at=seen.at, places=planned.unheard)
            known = anchors if as_found else None
            turns = call.using.learner.new_turns(call.who, seen.state, told, known)
        store.put([*planned.rows, *claims, *(said.row() for said in turns)])
    return True


def keep_at_hand(planned: Planned) -> None:
    """Keep in this process what was written and sent, for the next call."""
    conversations, who = planned.call.using.conversations, planned.call.who
    conversations.keep(planned.state_row, planned.state)
    planned.call.blocks.written()
    conversations.in_view.put((who.user, who.session), planned.call.said)
    conversations.prompts.put((who.user, who.session), planned.sent)

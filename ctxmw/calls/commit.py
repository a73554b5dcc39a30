"""A planned call is written in one transaction, provided nobody changed what it relies on."""

from __future__ import annotations

from ..conversation.conversation import keep_state
from ..conversation.epochs import SHOWN_TYPES
from ..conversation.state import SessionState
from ..learning.capture import store_turns
from ..recall.entries import Entry, claimed
from ..runtime.stages import stage
from ..values.records import Turn
from .call import Planned

_TYPES = (SessionState.type, *SHOWN_TYPES, Entry.type)


@stage("write")
def commit(planned: Planned) -> bool:
    """Write everything at once, unless something of it changed since the call was planned.

    That is the conversation, or a record that the prompt shows: what was forgotten meanwhile
    must not be written again.
    """
    call, state = planned.call, planned.state
    store, user, seen, history = call.setup.store, call.who.user, call.seen, call.history
    with store.atomic(user):
        changes = store.changes(user, planned.opened.since, _TYPES)
        late = [change for change in changes if change.seq > seen.head]
        if not {state.ref, *planned.shown}.isdisjoint(change.ref for change in late):
            return False
        # What opens the prompt of a call that was compacted was read before all the rest.
        early = {change.ref for change in changes if change.seq <= seen.head}
        if not early.isdisjoint(planned.opened.build.shown):
            return False
        claims = claimed(store, user, planned.entries, history.trail.turn, seen.at)
        store.put([*planned.rows, *claims])
        if planned.unheard:
            trail = history.given_trail
            # It was looked up after the head was read: what was stored since is a change.
            as_found = all(change.type != Turn.type for change in late)
            anchors = dict.fromkeys(trail.anchors[at] for at in planned.unheard)
            store_turns(
                call.setup,
                call.who,
                state,
                messages=history.given,
                trail=trail,
                at=seen.at,
                numbered=seen.state.turns,
                places=planned.unheard,
                known=anchors if as_found else None,
            )
    return True


def keep_at_hand(planned: Planned) -> None:
    """Keep in this process what was written and sent, for the next call."""
    setup, who = planned.call.setup, planned.call.who
    keep_state(setup, planned.state_row, planned.state)
    planned.call.blocks.written()
    setup.prefixes.keep_said(who.user, who.session, planned.call.said)
    setup.prefixes.keep(who.user, who.session, planned.prints)

"""A planned call is written in one transaction, provided nobody changed what it relies on."""

from __future__ import annotations

from ..conversation.epochs import SHOWN_TYPES
from ..conversation.exchanges import Telling
from ..conversation.state import SessionState
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
        claims = claimed(store, user, planned.entries, history.trail.turn, seen.at)
        store.put([*planned.rows, *claims])
        if planned.unheard:
            trail = history.given_trail
            # It was looked up after the head was read: what was stored since is a change.
            as_found = all(change.type != Turn.type for change in late)
            anchors = dict.fromkeys(trail.anchors[at] for at in planned.unheard)
            told = Telling(messages=history.given, trail=trail, at=seen.at, places=planned.unheard)
            known = anchors if as_found else None
            call.using.learner.store_turns(call.who, seen.state, told, known)
    return True


def keep_at_hand(planned: Planned) -> None:
    """Keep in this process what was written and sent, for the next call."""
    conversations, who = planned.call.using.conversations, planned.call.who
    conversations.keep(planned.state_row, planned.state)
    planned.call.blocks.written()
    conversations.prefixes.keep_said(who.user, who.session, planned.call.said)
    conversations.prefixes.keep(who.user, who.session, planned.prints)

"""What was said is stored, and learned from, each message once and whatever became of its call.

A question is stored as its call is prepared, so that nothing can lose it any more. What it teaches
is learned when the call is finished, or at the next occasion: the rules for that take a while to
load, and a prompt does not need them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from ..conversation.conversation import Identity, load_state, put_state, scope_of
from ..conversation.exchanges import StoredTurns
from ..conversation.replay.trail import Trail
from ..conversation.state import SessionState
from ..recall.pipeline import Setup
from ..runtime.stages import stage
from ..values.messages import Message
from ..values.records import Turn, load_all
from ..values.refs import short_refs
from .turns import new_turns, stored_turns


@stage("capture")
def capture_messages(
    setup: Setup,
    who: Identity,
    messages: Sequence[Message],
    trail: Trail,
    at: datetime,
    *,
    places: Collection[int] | None = None,
    settle: bool = True,
) -> list[Turn]:
    """Store the messages, or those at some places, as turns, and learn; return those new.

    Whoever writes the state right after may write instead of `settle` that nothing waits any more,
    and how many turns there are.
    """
    with setup.store.atomic(who.user):
        state = load_state(setup, who, at)
        chosen = range(len(messages)) if places is None else places
        anchors = [*(trail.anchors[place] for place in chosen), *state.untaught]
        known = stored_turns(setup.store, who.user, who.session, anchors)
        turns = store_turns(
            setup,
            who,
            state,
            messages=messages,
            trail=trail,
            at=at,
            numbered=state.turns,
            places=chosen,
            known=known,
        )
        _learn(setup, who, state, turns, _waiting(state, known), messages=messages, trail=trail)
        if settle and (turns or state.untaught):
            put_state(setup, state, untaught=(), turns=state.turns + len(turns))
    return turns


def store_turns(
    setup: Setup,
    who: Identity,
    state: SessionState,
    *,
    messages: Sequence[Message],
    trail: Trail,
    at: datetime,
    numbered: int,
    places: Collection[int],
    known: StoredTurns | None = None,
) -> list[Turn]:
    """Store the messages at some places as turns; return those that are new.

    To be called inside a transaction; nothing is learned. So many turns of the conversation are
    `numbered` already; `known` tells which are stored.
    """
    turns = new_turns(
        setup.store,
        messages,
        trail,
        short_refs(setup.store, who.user, setup.random),
        user=who.user,
        session=who.session,
        scope=scope_of(who, state),
        at=at,
        places=places,
        known=known,
        forgotten=state.forgotten,
        numbered=numbered,
        trust=setup.trust,
    )
    setup.store.put([turn.row() for turn in turns])
    return turns


def learn_what_waits(
    setup: Setup, who: Identity, messages: Sequence[Message] = (), trail: Trail | None = None
) -> None:
    """Learn from what was stored as calls were prepared; the messages are the present call's."""
    with setup.store.atomic(who.user):
        state = load_state(setup, who, setup.clock())
        if state.untaught:
            known = stored_turns(setup.store, who.user, who.session, state.untaught)
            waiting = _waiting(state, known)
            _learn(setup, who, state, (), waiting, messages=messages, trail=trail or Trail())
            put_state(setup, state, untaught=())


def _learn(
    setup: Setup,
    who: Identity,
    state: SessionState,
    turns: Sequence[Turn],
    waiting: Sequence[Turn],
    *,
    messages: Sequence[Message],
    trail: Trail,
) -> None:
    """Learn from new turns, and before them from those that wait."""
    # Its rules take a tenth of a second to load, and a command that only looks needs none.
    from .lessons import learn

    # The trail may go on where the messages end.
    places = {anchor: at for at, anchor in enumerate(trail.anchors[: len(messages)])}
    here = [_moved(turn, places[turn.anchor]) for turn in waiting if turn.anchor in places]
    for turn in waiting:
        if turn.anchor not in places:
            # Its call is not this one: another branch, or a history that was cut.
            learn(setup, who, state, [_as_message(turn)], [_moved(turn, 0)])
    learn(setup, who, state, messages, [*here, *turns])


def _waiting(state: SessionState, known: StoredTurns) -> list[Turn]:
    rows = [row for anchor in state.untaught if (row := known[anchor])]
    turns = load_all(rows, Turn)
    return sorted(turns, key=lambda turn: (turn.at, turn.position))


def _moved(turn: Turn, place: int) -> Turn:
    return turn.model_copy(update={"position": place})


def _as_message(turn: Turn) -> Message:
    return {
        "role": turn.role,
        "content": turn.text,
        "name": turn.speaker,
        "author": turn.author,
    }

"""Branches of a conversation: which answers a history has left behind.

Whoever has a question answered again, goes back to an earlier point, or puts a question in other
words, leaves what came after it. The history that is sent tells: an answer whose question is in it
and which is not in it itself was rejected. What a person said was said, on whatever branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..protocols import Find, Row
from ..store.journal import Journal
from ..values.records import Note, Observation, Turn
from .replay.trail import Trail
from .state import SessionState

LOOKED_AT = 400
"""Turns of a conversation that are looked at: its last."""


def left_behind(journal: Journal, state: SessionState, trail: Trail) -> list[Turn]:
    """Return the answers, and outputs of tools, of branches that this history is not on."""
    turns = _turns(journal, state)
    known = {turn.anchor: turn for turn in turns}
    # Before the first message there is nothing that two branches could share.
    places = {anchor: at for at, anchor in enumerate(trail.anchors) if anchor}
    after: defaultdict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        if turn.anchor not in places:
            after[turn.before].append(turn)
    left: list[Turn] = []
    for anchor, at in places.items():
        for turn in after.get(anchor, ()):
            if _is_left(turn, at, trail, known):
                branch = [one for one in _branch(turn, after) if one.role in ("assistant", "tool")]
                # What comes again behind a gap was cut short, and not left; so were steps on the
                # way to an answer that has come since.
                again = {one.print for one in branch}.intersection(trail.prints[at + 1 :])
                if not again and any(_answers(one) for one in branch):
                    left += branch
    return left


def _branch(first: Turn, after: Mapping[str, Sequence[Turn]]) -> list[Turn]:
    """Return a turn and all that follows it."""
    branch = [first]
    for turn in branch:
        branch += after.get(turn.anchor, ())
    return branch


def settle_branches(journal: Journal, state: SessionState, trail: Trail) -> None:
    """Write down which answers this history has left, and which it has come back to."""
    left = {turn.ref: turn for turn in left_behind(journal, state, trail)}
    on_trail = set(trail.anchors)
    back = {
        turn.ref: turn
        for turn in _turns(journal, state)
        if turn.rejected and turn.anchor in on_trail and turn.ref not in left
    }
    changed = [turn for turn in left.values() if not turn.rejected] + list(back.values())
    if changed:
        rows = [_marked(turn, turn.ref in left).row() for turn in changed]
        journal.store.put([*rows, *_learned_from(journal, state, left, back)])


def _is_left(turn: Turn, at: int, trail: Trail, known: Mapping[str, Turn]) -> bool:
    """Say whether a turn that follows this history's, and is not on it, was left for another."""
    if turn.role == "user":
        # Few-shot examples have many questions after them; an answer of ours has one.
        answer = known.get(turn.before)
        return at + 1 in trail.users and answer is not None and answer.answered
    # One that looks different in the history is the same answer, put in another form.
    return at + 1 == len(trail.anchors) or trail.anchors[at + 1] in known


def _answers(turn: Turn) -> bool:
    return turn.role == "assistant" and not turn.calls


def _turns(journal: Journal, state: SessionState) -> list[Turn]:
    asked = Find(types=(Turn.type,), sessions=(state.session,), limit=LOOKED_AT)
    return journal.read(journal.store.query(state.user, asked), Turn)


def _marked(turn: Turn, rejected: bool) -> Turn:
    return turn.model_copy(update={"rejected": rejected})


def _learned_from(
    journal: Journal, state: SessionState, left: dict[str, Turn], back: dict[str, Turn]
) -> Sequence[Row]:
    """Return what was learned from these turns, as it holds from now on."""
    asked = Find(types=("note", "observation"), sessions=(state.session,), live=None)
    rows = journal.store.query(state.user, asked)
    notes = journal.read([row for row in rows if row.type == Note.type], Note)
    seen = journal.read([row for row in rows if row.type == Observation.type], Observation)
    changed: list[Row] = []
    for one in (*notes, *seen):
        said_by = one.derived_from[:1] if isinstance(one, Note) else one.derived_from
        rejected = any(ref in left for ref in said_by)
        if rejected != one.rejected and (rejected or any(ref in back for ref in said_by)):
            changed.append(one.model_copy(update={"rejected": rejected}).row())
    return changed

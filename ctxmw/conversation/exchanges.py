"""Exchanges: which messages of a call are new, which question each belongs to, and their order.

The place in the caller's list does not tell: one conversation may be told in many lists, and each
begins anew. Nor does the time alone: much is captured at one moment. So every turn is numbered as
it is captured, and knows when its exchange began: with the last message of a user before it.

A call brings its whole history, or the end of it: what a person said is in there also when the
call that said it failed, or was made before there was a memory. A message is known by the hash of
all that stands before it. Where that is different, because the beginning of the history was cut off
or is there again, it is known by its words: the person's last ones are kept in mind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..protocols import Find, Row, Store
from ..values.messages import Message, moment_of
from ..values.records import Turn
from .replay.trail import Trail
from .state import SessionState

_Exchange = tuple[datetime, int]
"""When it began, and the number of its question."""
StoredTurns = Mapping[str, Row | None]
"""The rows of turns by anchor; None where it is known that there is none."""
ANCHORS = 4
"""Questions whose place is kept in mind: a conversation goes on from one of the last."""
TAIL = 64
"""The person's last messages that are kept in mind, to know a history whose beginning is gone."""
SHORT = 16
"""So much of a message's hash is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Messages as a caller tells them, and which of them are to be captured."""

    messages: Sequence[Message]
    trail: Trail
    at: datetime
    """When those were said that have no time of their own."""
    places: Collection[int] | None = None
    """Where they stand that are to be captured; None: all."""
    learn: bool = True
    """Whether something may be learned from what is new."""
    answered: bool = False
    """Whether the last of the messages is what a call was finished with."""
    shown: Sequence[str] = ()
    """Refs of strangers' words that our own text in the prompt shows."""

    @property
    def chosen(self) -> Sequence[int]:
        """The places that are to be captured, in order."""
        return range(len(self.messages)) if self.places is None else sorted(self.places)


def in_order(
    store: Store, turns: Sequence[Turn], told: Telling, known: StoredTurns, numbered: int
) -> list[Turn]:
    """Return new turns of these messages with what sorts them among all of the conversation.

    So many of them are `numbered` already. Within one list, the list's order holds whatever its
    times say. What is `known` is not looked up.
    """
    if not turns:
        return []
    numbers = {turn.position: n for n, turn in enumerate(turns, numbered + 1)}
    asked = _questions(told.messages, tuple(numbers))
    stored = _stored(store, turns, asked, told.trail, known)
    exchanges: dict[int, _Exchange] = {}
    last: _Exchange | None = None
    for turn in turns:
        first = asked[turn.position]
        if first not in exchanges:
            last = exchanges[first] = (
                _known(stored[first])
                if first in stored
                else _begun(told.messages[first], numbers[turn.position], told.at, last)
            )
    return [
        turn.model_copy(
            update={
                "began": exchanges[asked[turn.position]][0],
                "exchange": exchanges[asked[turn.position]][1],
                "order": numbers[turn.position],
            }
        )
        for turn in turns
    ]


def since_question(messages: Sequence[Message], places: Sequence[int]) -> range:
    """Return the places from the question on that the first of these belongs to.

    What a call adds is at the end: of a long history nothing else is looked at.
    """
    if not places:
        return range(0)
    before = range(min(places), -1, -1)
    begins = next((at for at in before if messages[at]["role"] == "user"), 0)
    return range(begins, max(places) + 1)


def _questions(messages: Sequence[Message], places: Sequence[int]) -> dict[int, int]:
    """Return for these places where each one's question stands: itself, where none was asked."""
    asked: dict[int, int] = {}
    last: int | None = None
    for place in since_question(messages, places):
        role = messages[place]["role"]
        if role == "user" or (last is None and role != "system"):
            last = place
        asked[place] = place if last is None else last
    return asked


def _stored(
    store: Store,
    turns: Sequence[Turn],
    asked: Mapping[int, int],
    trail: Trail,
    known: StoredTurns,
) -> Mapping[int, Row]:
    """Return the questions of these turns that were captured before, by place."""
    new = {turn.position for turn in turns}
    places = {trail.anchors[asked[place]]: asked[place] for place in new if asked[place] not in new}
    rows = [row for anchor in places if (row := known.get(anchor))]
    unknown = tuple(anchor for anchor in places if anchor not in known)
    if unknown:
        first = turns[0]
        asking = Find(types=("turn",), sessions=(first.session,), digests=unknown)
        rows += store.query(first.user, asking)
    return {places[row.digest]: row for row in rows}


def _known(row: Row) -> _Exchange:
    turn = Turn.model_validate_json(row.body)
    return turn.since, turn.exchange


def _begun(message: Message, number: int, at: datetime, before: _Exchange | None) -> _Exchange:
    began = (moment_of(message) or at).astimezone(UTC)
    return (began if before is None else max(began, before[0])), number


def unheard(
    store: Store, state: SessionState, messages: Sequence[Message], trail: Trail
) -> list[int]:
    """Return where the messages stand that are to be captured, in order.

    From the last question on that is everything; before it, what a person said and was not heard to
    say before. The answers to that come along the first time only: later they are known, and only
    look different at times.
    """
    last = len(messages) if trail.last is None else trail.last
    since = _since(trail, state.captured)
    known = _captured(
        store, state, [trail.anchors[at] for at in _asked(state, messages, since, last)]
    )
    # Up to where everything is captured nothing has to be known again.
    users = [at for at in range(since + 1, last) if messages[at]["role"] == "user"]
    said_before = frozenset(state.heard)
    again = [at for at in users if trail.prints[at][:SHORT] in said_before]
    known |= {trail.anchors[at] for at in again}
    if since < 0 and len(again) > 1 and len(state.heard) == TAIL:
        since = again[0] - 1  # what stands before was said before all that is kept in mind
    fresh, with_answers = [], False
    for at in range(since + 1, len(messages)):
        role, anchor = messages[at]["role"], trail.anchors[at]
        if role == "user":
            with_answers = anchor not in known and not state.captured
        elif role == "system" or not (with_answers or at > last):
            continue
        if anchor not in known:
            fresh.append(at)
    return fresh


def heard(
    state: SessionState, messages: Sequence[Message], trail: Trail, fresh: Sequence[int]
) -> dict[str, Any]:
    """Return what the state keeps in mind of a call's messages, once these are captured."""
    said = [trail.prints[at][:SHORT] for at in fresh if messages[at]["role"] == "user"]
    others = [anchor for anchor in state.captured if anchor != trail.turn]
    return {
        "captured": (trail.turn, *others)[:ANCHORS],
        "heard": (*state.heard, *said)[-TAIL:],
    }


def may_branch(state: SessionState, trail: Trail) -> bool:
    """Say whether a history may leave something behind: it does not go on where all has ended.

    Told from what the state keeps in mind, so that an ordinary call looks nothing up.
    """
    if not state.captured:
        return False
    if trail.place_of(state.captured[0]) is not None:
        return bool(state.answer) and trail.place_of(state.answer) is None
    heard = set(state.heard)
    return any(trail.prints[at][:SHORT] in heard for at in trail.users)


def _since(trail: Trail, captured: Sequence[str]) -> int:
    """Return the last place up to which everything is captured; -1 when that is not known."""
    ends = (trail.end_of(anchor) for anchor in captured)
    return max((at for at in ends if at is not None), default=-1)


def _asked(
    state: SessionState, messages: Sequence[Message], since: int, last: int
) -> Iterator[int]:
    """Yield where it matters whether a message is stored: not where answers are known."""
    for at in range(since + 1, len(messages)):
        if at >= last or messages[at]["role"] == "user" or not state.captured:
            yield at


def _captured(store: Store, state: SessionState, anchors: Sequence[str]) -> set[str]:
    if not anchors:
        return set()
    asked = Find(types=("turn",), sessions=(state.session,), digests=tuple(anchors))
    return {row.digest for row in store.query(state.user, asked)} | set(state.forgotten)

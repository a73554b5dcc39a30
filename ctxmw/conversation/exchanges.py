"""Which question a turn belongs to, and in what order turns were said.

The place in the caller's list does not tell: one conversation may be told in many lists, and each
begins anew. Nor does the time alone: much is captured at one moment. So every turn is numbered as
it is captured, and knows when its exchange began: with the last message of a user before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..protocols import Find, Row, Store
from ..values.messages import Message, moment_of
from ..values.records import Turn
from .replay.trail import Trail

_Exchange = tuple[datetime, int]
"""When it began, and the number of its question."""
StoredTurns = Mapping[str, Row | None]
"""The rows of turns by anchor; None where it is known that there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Messages as a caller tells them, and which of them are to be captured."""

    messages: Sequence[Message]
    trail: Trail
    at: datetime
    """When those were said that have no time of their own."""
    places: Collection[int] | None = None
    """Where they stand that are to be captured; None: all."""

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
    asked = _questions(told.messages)
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


def _questions(messages: Sequence[Message]) -> list[int]:
    """Return for each message where its question stands: itself, where none was asked before."""
    asked: list[int] = []
    last: int | None = None
    for place, message in enumerate(messages):
        if message["role"] == "user" or (last is None and message["role"] != "system"):
            last = place
        asked.append(place if last is None else last)
    return asked


def _stored(
    store: Store,
    turns: Sequence[Turn],
    asked: Sequence[int],
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

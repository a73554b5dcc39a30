"""Which messages of a call were not captured yet.

A call brings its whole history, or the end of it: what a person said is in there also when the
call that said it failed, or was made before there was a memory. A message is known by the hash of
all that stands before it. Where that is different, because the beginning of the history was cut off
or is there again, it is known by its words: the person's last ones are kept in mind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...protocols import Find, Store
from ...values.messages import Message
from ..state import SessionState
from .trail import Trail

ANCHORS = 4
"""Questions whose place is kept in mind: a conversation goes on from one of the last."""
TAIL = 64
"""The person's last messages that are kept in mind, to know a history whose beginning is gone."""
SHORT = 16
"""So much of a message's hash is kept."""


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
    known = _stored(
        store, state, [trail.anchors[at] for at in _asked(state, messages, since, last)]
    )
    users = [at for at in range(last) if messages[at]["role"] == "user"]
    again = [at for at in users if trail.prints[at][:SHORT] in state.heard]
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


def _since(trail: Trail, captured: Sequence[str]) -> int:
    """Return the last place up to which everything is captured; -1 when that is not known."""
    known = set(captured)
    places = range(len(trail.anchors) - 1, -1, -1)
    return next((at for at in places if trail.anchors[at] in known), -1)


def _asked(
    state: SessionState, messages: Sequence[Message], since: int, last: int
) -> Iterator[int]:
    """Yield where it matters whether a message is stored: not where answers are known."""
    for at in range(since + 1, len(messages)):
        if at >= last or messages[at]["role"] == "user" or not state.captured:
            yield at


def _stored(store: Store, state: SessionState, anchors: Sequence[str]) -> set[str]:
    if not anchors:
        return set()
    asked = Find(types=("turn",), sessions=(state.session,), digests=tuple(anchors))
    return {row.digest for row in store.query(state.user, asked)} | set(state.forgotten)

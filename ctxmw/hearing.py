"""Which messages of a call were not captured yet.

A call brings its whole history, or the end of it: what a person said is in there also when the
call that said it failed, or was made before there was a memory. A message is known by the hash of
all that stands before it; where the beginning of the history was cut off, by the person's last
words that were captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .messages import Message
from .protocols import Find, Store
from .replay import Trail
from .state import SessionState

ANCHORS = 4
"""Questions whose place is kept in mind: a conversation goes on from one of the last."""
TAIL = 8
"""The person's last messages that are kept in mind, to know a history whose beginning is gone."""


def unheard(
    store: Store, state: SessionState, messages: Sequence[Message], trail: Trail
) -> list[int]:
    """Return where the messages stand that are to be captured, in order.

    From the last question on that is everything; before it, what a person said. The answers to
    that come along the first time only: later they are known, and only look different at times.
    """
    last = len(messages) if trail.last is None else trail.last
    since = _since(trail, state.captured)
    known = _stored(
        store, state, [trail.anchors[at] for at in _asked(state, messages, since, last)]
    )
    users = [at for at in range(last) if messages[at]["role"] == "user"]
    if since < 0 and known.isdisjoint(trail.anchors[at] for at in users):
        since = _recognised(users, [trail.prints[at] for at in users], state.heard)
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
    said = [trail.prints[at] for at in fresh if messages[at]["role"] == "user"]
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


def _recognised(users: Sequence[int], prints: Sequence[str], tail: Sequence[str]) -> int:
    """Return the place of the last message that the tail ends with; -1 when there is none.

    The longest run of equal messages tells, the later one of two. A single one may be chance
    ("yes"), unless there is no other that it could be compared with.
    """
    best = (0, -1)
    for at in range(len(users)):
        for end in range(len(tail)):
            run = 0
            while run <= min(at, end) and prints[at - run] == tail[end - run]:
                run += 1
            if run > 1 or (run == 1 and 0 in (at, end)):
                best = max(best, (run, users[at]))
    return best[1]

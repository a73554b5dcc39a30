"""Which messages of a call were not captured yet.

A call brings its whole history, or the end of it: what a person said is in there also when the
call that said it failed, or was made before there was a memory. A message is known by the hash of
all that stands before it; where the beginning of the history was cut off, by the person's last
words that were captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
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
    known = _stored(store, state, trail.anchors[since + 1 :])
    users = [at for at in range(last) if messages[at]["role"] == "user"]
    prints = [trail.prints[at] for at in users]
    settled = _settled(users, since, [trail.anchors[at] in known for at in users])
    if settled:
        since = max(since, _said_since(users, prints, settled, state.heard))
    else:
        since = max(since, _recognised(users, prints, state.heard))
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


def _stored(store: Store, state: SessionState, anchors: Sequence[str]) -> set[str]:
    if not anchors:
        return set()
    asked = Find(types=("turn",), sessions=(state.session,), digests=tuple(anchors))
    return {row.digest for row in store.query(state.user, asked)} | set(state.forgotten)


def _settled(users: Sequence[int], since: int, known: Sequence[bool]) -> int:
    """Return how many messages there are up to the last one that is known by its place."""
    places = range(len(users) - 1, -1, -1)
    return 1 + next((n for n in places if users[n] <= since or known[n]), -1)


def _said_since(
    users: Sequence[int], prints: Sequence[str], settled: int, tail: Sequence[str]
) -> int:
    """Return the place of the last message that was captured from a history that was cut; or -1.

    The first `settled` messages are known. What follows may have been sent without them meanwhile:
    then it is what was heard since.
    """
    longest = 0
    for end in (end for end, heard in enumerate(tail) if heard == prints[settled - 1]):
        pairs = zip(prints[settled:], tail[end + 1 :], strict=False)
        longest = max(longest, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return users[settled + longest - 1] if longest else -1


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

"""Finds the place of earlier parts in a history that the caller sends again without them.

A part belongs to one user message. It is found by the hash of all messages up to there, so that
branches of a conversation keep their own parts; where the beginning of the history was cut off, by
the message and the one before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from .messages import Message, fingerprint, last_user
from .state import PartRef
from .text import digest


@dataclass(frozen=True, slots=True)
class Trail:
    """The hashes of a history, message by message. System messages do not count."""

    prints: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    locals: tuple[str, ...] = ()
    """Of user messages, with the one before each; no others have a part."""
    last: int | None = None
    """Where the last user message stands."""

    @property
    def turn(self) -> str:
        """What is equal for all calls of one turn."""
        if self.last is not None:
            return self.anchors[self.last]
        return self.anchors[-1] if self.anchors else ""

    def then(self, message: Message) -> Trail:
        """Return the trail as it goes on with one more message."""
        own = fingerprint(message)
        return Trail(
            (*self.prints, own),
            (*self.anchors, digest(self.anchors[-1] if self.anchors else "", own)),
            (*self.locals, digest("", own) if message["role"] == "user" else ""),
            self.last,
        )


def trail_of(messages: Sequence[Message]) -> Trail:
    """Return the trail of a history."""
    prints, anchors, locals_ = [], [], []
    anchor = before = ""
    for message in messages:
        own = fingerprint(message)
        prints.append(own)
        locals_.append(digest(before, own) if message["role"] == "user" else "")
        if message["role"] != "system":
            anchor = digest(anchor, own)
            before = own
        anchors.append(anchor)
    return Trail(tuple(prints), tuple(anchors), tuple(locals_), last_user(messages))


Placed = tuple[int, PartRef]
"""A part, and the message it stands at."""
Places = dict[int, tuple[PartRef, ...]]
"""The parts in view, by the message they stand at."""


def find_places(parts: Sequence[PartRef], messages: Sequence[Message], trail: Trail) -> Places:
    """Return which parts are in view, and at which message each of them stands.

    A part that was made after a later message of this history had been sent has never stood in
    it, and does not now: an earlier question was asked again, and that made a branch. No two parts
    in view show the same item; the older one stays.
    """
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    by_anchor = {trail.anchors[at]: at for at in users}
    anchored = [(by_anchor[part.anchor], part) for part in parts if part.anchor in by_anchor]
    others = [part for part in parts if part.anchor not in by_anchor]
    passed = _passed(parts, by_anchor)
    sent = [*_orders(anchored), *passed.items()]
    stood = _in_time(anchored, users, sent)
    if others:
        moved = _moved(others, users, trail, settled={at for at, _ in stood})
        # What the call that passed a message did not have was not there.
        there = [(at, part) for at, part in moved if part.order < passed.get(at, inf)]
        stood += _in_time(_before_it_went_on(there), users, sent)
    found: list[Placed] = []
    shown: set[str] = set()
    for at, part in stood:
        if shown.isdisjoint(part.shows):
            found.append((at, part))
            shown.update(part.shows)
    places: dict[int, list[PartRef]] = {}
    for at, part in sorted(found, key=lambda entry: (entry[0], entry[1].order)):
        places.setdefault(at, []).append(part)
    return {at: tuple(stand) for at, stand in places.items()}


def over_cap(places: Places, cap: int, *, keep: Collection[str]) -> set[str]:
    """Return the builds to drop: none while under the cap, else the oldest down to half of it.

    Dropping many at once and seldom breaks the provider's cache once instead of at every turn.
    """
    shown = [part for at in sorted(places) for part in places[at]]
    total = sum(part.tokens for part in shown)
    if total <= cap:
        return set()
    dropped = set()
    for part in shown:
        if total <= cap // 2:
            break
        if part.build not in keep:
            dropped.add(part.build)
            total -= part.tokens
    return dropped


def _passed(parts: Sequence[PartRef], by_anchor: Mapping[str, int]) -> dict[int, int]:
    """Return the order of the first call that sent each message without a part of its own."""
    passed: dict[int, int] = {}
    for part in parts:
        for anchor in part.passed:
            if (at := by_anchor.get(anchor)) is not None:
                passed[at] = min(part.order, passed.get(at, part.order))
    return passed


def _orders(placed: Iterable[Placed]) -> list[tuple[int, int]]:
    return [(at, part.order) for at, part in placed]


def _in_time(
    placed: Iterable[Placed], users: Sequence[int], sent: Iterable[tuple[int, int]]
) -> list[Placed]:
    """Return the parts that were made before the message after theirs was sent.

    `sent` has the order of calls, each with a message that it sent.
    """
    first: dict[int, int] = {}
    for at, order in sent:
        first[at] = min(order, first.get(at, order))
    latest, limit = {}, inf
    for at in reversed(users):
        latest[at] = limit
        limit = min(limit, first.get(at, limit))
    return [(at, part) for at, part in placed if part.order <= latest[at]]


def _before_it_went_on(moved: Sequence[Placed]) -> list[Placed]:
    """Return the parts without those of a question that was asked again after it had been answered.

    Its first part tells when it was asked, and a later message's that the history went on. One
    that is older than both was asked elsewhere before.
    """
    first: dict[int, int] = {}
    for at, order in _orders(moved):
        first[at] = min(order, first.get(at, order))
    return [
        (at, part)
        for at, part in moved
        if part.order == first[at]
        or not any(first[at] < first[later] < part.order for later in first if later > at)
    ]


def _moved(
    parts: Sequence[PartRef], users: Sequence[int], trail: Trail, *, settled: Collection[int]
) -> list[Placed]:
    """Return where parts of another history stand in this one, known by the message before."""
    # The message being answered is placed by its whole history only: a repeated question is new.
    loose = [at for at in users if at not in settled and at != trail.last]
    by_local = _unique({at: trail.locals[at] for at in loose})
    return [(by_local[part.local], part) for part in parts if part.local in by_local]


def _unique(hashes: Mapping[int, str]) -> dict[str, int]:
    often = Counter(hashes.values())
    return {value: at for at, value in hashes.items() if often[value] == 1}

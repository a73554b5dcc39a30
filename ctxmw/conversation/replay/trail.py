"""Where earlier parts stand in a history that the caller sends again without them.

A part is made for one user message, the last one of its call. A turn is a user message and all that
follows it up to the next one; it is over when there is a next one. What stands in a turn that is
over is written down when it is first sent, under the hash of all messages up to the turn's end.
From then on it is looked up, not worked out.

The law: when the messages of two calls of an epoch are equal up to the end of a turn, and both go
on with another user message, the same bytes are placed in that turn and in all turns before it.

The proof goes from turn to turn. A turn's hash covers every message up to its end, so both calls
look under the same one. The call that is written first finds what stands there or writes it, in one
transaction, and is planned again when somebody changed the conversation meanwhile. Nothing written
is ever overwritten. So the other call finds the same parts. Of these it leaves out each that shows
an item of an earlier turn; what stands in earlier turns is the same in both calls, for that is
nothing where the first turn is concerned, and proven already where any other is. And within an
epoch the text of a part does not change.

None of this depends on how a turn is filled when it is first sent: that rule only has to make
sense. The question being asked is in no turn that is over; every part made for it stands there. A
retry and a tool loop make no new one. Asked again after its answer, it may get one more.

What ends the law: a new epoch, when parts lose what was forgotten, edited, removed, pinned or
compacted; the cap on the tokens of parts in view, which empties the oldest; and the limits of what
is kept in mind (`MOST_PARTS`, `KNOWN_TURNS`). Each costs the provider's cache one miss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from ...protocols import TokenCounter
from ...runtime.lru import LruCache
from ...text.cleaning import digest
from ...values.messages import Message, fingerprint, last_user
from ..state import PartRef

if TYPE_CHECKING:
    from ..blocks import Blocks
    from ..record import Build

SEEN = 64
"""Conversations whose trails are at hand."""
SHORT = 16
"""So much of a turn's hash is written down."""
MOST_PARTS = 256
"""Parts that are kept in mind, of all branches; over it, the older half is dropped in one go."""
KNOWN_TURNS = 1024
"""Turns of which it is known what stood there, of all branches; over it, the older half is dropped.
A history that is cut at every call has new ones at every call."""


@dataclass(frozen=True)
class Trail:
    """The hashes of a history, message by message. System messages do not count."""

    prints: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    locals: tuple[str, ...] = ()
    """Of user messages, with the one before each; no others have a part."""
    last: int | None = None
    """Where the last user message stands."""
    systems: tuple[int, ...] = ()
    """Where system messages stand: they have the hash of what stands before them."""
    bring: tuple[int, ...] = ()
    """Where strangers' words came along."""
    known: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """First places by hash, once they were asked for. Trails that go on from this one add theirs,
    so what is found here is looked at again."""

    @cached_property
    def users(self) -> list[int]:
        """Where the user messages stand."""
        return [at for at, local in enumerate(self.locals) if local]

    @property
    def over(self) -> dict[int, str]:
        """The user messages whose turn is over, each with the hash up to the turn's end."""
        return {at: self.anchors[after - 1][:SHORT] for at, after in pairwise(self.users)}

    @property
    def turn(self) -> str:
        """What is equal for all calls of one turn."""
        if self.last is not None:
            return self.anchors[self.last]
        return self.anchors[-1] if self.anchors else ""

    def then(self, message: Message) -> Trail:
        """Return the trail as it goes on with one more message."""
        own = fingerprint(message)
        longer = Trail(
            (*self.prints, own),
            (*self.anchors, digest(self.anchors[-1] if self.anchors else "", own)),
            (*self.locals, digest("", own) if message["role"] == "user" else ""),
            self.last,
            self.systems,
            (*self.bring, *([len(self.prints)] if message.get("brings") else ())),
        )
        return longer.going_on_from(self)

    def going_on_from(self, before: Trail) -> Trail:
        """Return the same trail, which begins with another of which it is known what is where."""
        known = before._first_places()
        for at in range(len(before.anchors), len(self.anchors)):
            known.setdefault(self.anchors[at], at)
        return replace(self, known=known)

    def place_of(self, anchor: str) -> int | None:
        """Return where the message stands with which the history has come to a hash."""
        at = self._first_places().get(anchor)
        if at is None or self.anchors[at : at + 1] == (anchor,):
            return at
        return self.anchors.index(anchor) if anchor in self.anchors else None

    def end_of(self, anchor: str) -> int | None:
        """Return the last place that has a hash: system messages after a message have its own."""
        at = self.place_of(anchor)
        while at is not None and at + 1 in self.systems:
            at += 1
        return at

    def _first_places(self) -> dict[str, int]:
        if not self.known:
            first: dict[str, int] = {}
            for at, anchor in enumerate(self.anchors):
                first.setdefault(anchor, at)
            # All at once: what another thread finds here, it takes for all there is.
            self.known.update(first)
        return self.known


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """How much of a history was there in the last call as well, and what is known of that."""

    length: int = 0
    """So many of its first messages."""
    copies: Sequence[object] = ()
    """Of all messages of the last call: whoever made them may change theirs."""
    trail: Trail = field(default_factory=Trail)
    """Of these."""
    plain: bool = True
    """Whether none of these has text that may be ours."""


class Trails:
    """The trails of conversations that were seen last. Any thread may use it.

    A history that has grown is read and hashed from where it has grown: to go through all of it
    again would cost more with every turn.
    """

    def __init__(self) -> None:
        self._known: LruCache[tuple[str, str], Beginning] = LruCache(SEEN)
        self._compared: LruCache[tuple[str, str], tuple[object, Beginning]] = LruCache(SEEN)

    def begun(self, conversation: tuple[str, str], messages: Sequence[Message]) -> Beginning:
        """Return what is known of the beginning of a history."""
        before, begun = self._compared.get(conversation) or (None, Beginning())
        if before is messages:
            return begun
        known = self._known.get(conversation) or Beginning()
        return replace(known, length=_alike(known.copies, messages))

    def compared(
        self, conversation: tuple[str, str], messages: Sequence[Message], begun: Beginning
    ) -> None:
        """Keep how this very list has begun until its trail is asked for."""
        self._compared.put(conversation, (messages, begun))

    def of(
        self,
        conversation: tuple[str, str],
        messages: Sequence[Message],
        begun: Beginning,
        *,
        plain: bool,
    ) -> Trail:
        """Return the trail of a history that has begun so, and keep it for the next call."""
        same = begun.length
        trail = trail_of(messages, begun.trail, same)
        copies = [*begun.copies[:same], *map(_copy_of, messages[same:])]
        known = Beginning(length=len(copies), copies=copies, trail=trail, plain=plain)
        self._known.put(conversation, known)
        self._compared.let_go([conversation])
        return trail


def _alike(copies: Sequence[object], messages: Sequence[Message]) -> int:
    """Return how many of the first messages are like these copies."""
    length = min(len(copies), len(messages))
    try:
        if list(messages[:length]) == copies[:length]:
            return length
        pairs = zip(messages, copies, strict=False)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), length)
    except Exception:  # noqa: BLE001 - a message may hold anything, an array that has no truth
        return 0


def _copy_of(message: Message) -> object:
    """Return what a message is known again by; None where it has something that may change."""
    if type(message) is not dict:
        return None
    try:
        # Numbers of its own are places and marks: what they equal they are.
        return {
            key: held if isinstance(held, _NUMBERS) else _copied(held)
            for key, held in message.items()
        }
    except (TypeError, RecursionError):
        return None


def _copied(value: Any) -> Any:
    if value is None or isinstance(value, _FIXED):
        return value
    if isinstance(value, _NUMBERS):
        return _Exactly(value)
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(held) for key, held in value.items()}
    raise TypeError(type(value))


_FIXED = (str, bytes, datetime)
_NUMBERS = (int, float)


class _Exactly:
    """A number that no other kind of number equals: True is not sent as 1 is."""

    __slots__ = ("_value",)

    def __init__(self, value: float) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        value = self._value
        return other is value or (type(other) is type(value) and other == value)

    __hash__ = None  # type: ignore[assignment]


def trail_of(messages: Sequence[Message], known: Trail | None = None, same: int = 0) -> Trail:
    """Return the trail of a history; so many of its first messages have a trail that is known."""
    known = known or Trail()
    prints, anchors = list(known.prints[:same]), list(known.anchors[:same])
    locals_, systems = list(known.locals[:same]), [at for at in known.systems if at < same]
    bring = [at for at in known.bring if at < same]
    anchor = anchors[-1] if anchors else ""
    said = (at for at in range(same - 1, -1, -1) if at not in systems)
    before = next((prints[at] for at in said), "")
    for at, message in enumerate(messages[same:], same):
        own = fingerprint(message)
        prints.append(own)
        locals_.append(digest(before, own) if message["role"] == "user" else "")
        if message["role"] == "system":
            systems.append(at)
        else:
            anchor = digest(anchor, own)
            before = own
        anchors.append(anchor)
        if message.get("brings"):
            bring.append(at)
    hashes = tuple(prints), tuple(anchors), tuple(locals_)
    trail = Trail(*hashes, last_user(messages), tuple(systems), tuple(bring))
    return trail.going_on_from(known) if same == len(known.anchors) else trail


Places = dict[int, tuple[PartRef, ...]]
"""The parts in view, by the message they stand at."""
Stood = dict[str, tuple[int, ...]]
"""What stands in turns that are over: the orders of its parts, by the hash up to the turn's end."""
Made = dict[int, tuple[int, ...]]
"""Orders of parts, by the message they may stand at."""


def find_places(parts: Sequence[PartRef], trail: Trail) -> Places:
    """Return which parts are in view, and at which message each of them stands.

    Of two that show the same item the first one stays: what is known to have stood, then what was
    made for a message of this history, then the rest.
    """
    stood = _stood(parts)
    known = {at: stood[end] for at, end in trail.over.items() if end in stood}
    own = _made_here(parts, [at for at in trail.users if at not in known], trail)
    # The message being answered is known by its whole history only: a repeated question is new.
    loose = [at for at in trail.over if at not in known and at not in own]
    alike = _made_elsewhere(parts, loose, stood, trail)
    numbered = {part.order: part for part in parts if part.hash}
    places: Places = {}
    shown: set[str] = set()
    for at, orders in chain(known.items(), own.items(), alike.items()):
        for part in [numbered[order] for order in orders if order in numbered]:
            if shown.isdisjoint(part.shows):
                places[at] = (*places.get(at, ()), part)
                shown.update(part.shows)
    return dict(sorted(places.items()))


def first_stood(parts: Sequence[PartRef], places: Places, trail: Trail) -> Stood:
    """Return what is to be written down: what stands in turns of which nothing is known yet."""
    known = _stood(parts)
    return {
        end: tuple([part.order for part in places.get(at, ())])
        for at, end in trail.over.items()
        if end not in known
    }


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


def _stood(parts: Iterable[PartRef]) -> Stood:
    return {end: orders for part in parts for end, orders in part.stood.items()}


def _made_here(parts: Iterable[PartRef], users: Iterable[int], trail: Trail) -> Made:
    """Return the parts that were made for these messages: they went out with them last."""
    orders = _by_anchor(parts)
    anchors = {at: trail.anchors[at] for at in users}
    return {at: orders[anchor] for at, anchor in anchors.items() if anchor in orders}


def _made_elsewhere(
    parts: Sequence[PartRef], users: Sequence[int], stood: Stood, trail: Trail
) -> Made:
    """Return what stands at these messages in the history whose beginning was cut off.

    A message is known again by the one before it; of several such places the newest counts.
    """
    here = {trail.anchors[at] for at in trail.users}
    origins = {part.local: part.anchor for part in parts if part.anchor not in here}
    often = Counter([trail.locals[at] for at in users])
    orders, after = _by_anchor(parts), dict(pairwise(trail.users))
    made: Made = {}
    for at in users:
        origin = origins.get(trail.locals[at])
        if origin is not None and often[trail.locals[at]] == 1:
            end = _end_of(origin, trail, range(at + 1, after[at]))
            made[at] = stood.get(end, orders[origin])
    return made


def _by_anchor(parts: Iterable[PartRef]) -> dict[str, tuple[int, ...]]:
    orders: dict[str, list[int]] = {}
    for part in parts:
        orders.setdefault(part.anchor, []).append(part.order)
    return {anchor: tuple(made) for anchor, made in orders.items()}


def _end_of(anchor: str, trail: Trail, rest: Iterable[int]) -> str:
    """Return the hash up to the end of a turn, from that up to its user message."""
    for place in rest:
        # System messages do not count.
        if trail.anchors[place] != trail.anchors[place - 1]:
            anchor = digest(anchor, trail.prints[place])
    return anchor[:SHORT]


Parts = tuple[PartRef, ...]


def part_ref(build: Build, trail: Trail, parts: Sequence[PartRef]) -> PartRef:
    """Return where a new part stands and how it came about."""
    return PartRef(
        anchor=trail.turn,
        local=trail.locals[trail.last] if trail.last is not None else "",
        build=build.ref,
        hash=build.hash,
        tokens=build.tokens,
        shows=build.in_view,
        briefly=tuple([used.ref for used in build.used if used.shown == "brief"]),
        entries=tuple([used.ref for used in build.used if used.kind == "notice"]),
        untrusted=any(used.trust == "untrusted" for used in build.used if used.shown != "none"),
        mentions={ref: build.shown[ref] for ref in build.shown.keys() - build.in_view.keys()},
        order=max((part.order for part in parts), default=0) + 1,
        open=True,
        until=build.until,
    )


def with_room(parts: Parts, places: Places, cap: int) -> Parts:
    """Return the parts with the oldest in view dropped, when those in view are over the cap."""
    dropped = over_cap(places, cap, keep=())
    left = tuple(part.emptied() if part.build in dropped else part for part in parts)
    return left[-MOST_PARTS // 2 :] if len(left) > MOST_PARTS else left


def with_stood(parts: Parts, build: str, stood: Stood) -> Parts:
    """Return the parts, the one of that build with what stood before it."""
    if not stood:
        return parts
    told = [
        part.model_copy(update={"stood": part.stood | stood}) if part.build == build else part
        for part in parts
    ]
    left = sum(len(part.stood) for part in told)
    if left <= KNOWN_TURNS:
        return tuple(told)
    for at, part in enumerate(told[:-1]):
        if left <= KNOWN_TURNS // 2:
            break
        left -= len(part.stood)
        told[at] = part.model_copy(update={"stood": {}}) if part.stood else part
    return tuple(told)


def trimmed(
    part: PartRef, refs: set[str], archive: Blocks, count: TokenCounter, now: datetime
) -> PartRef:
    """Return the part without these items."""
    if refs.isdisjoint((*part.shows, *part.mentions)):
        return part
    block = archive.block(part.hash).without(refs)
    if not block.text:
        return part.emptied()
    archive.keep_block(block, now)
    update: dict[str, Any] = {"hash": block.hash, "tokens": count(block.text)}
    for name in ("shows", "mentions"):
        kept = getattr(part, name).items()
        update[name] = {ref: version for ref, version in kept if ref not in refs}
    return part.model_copy(update=update)

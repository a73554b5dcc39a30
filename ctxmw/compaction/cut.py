"""The cut: which messages of a history stay in view; places and tokens in, places out.

First old tool outputs are cleared, the oldest first. When that is not enough, the history is cut:
what must stay stays, the newest groups stay as far as there is room, and all before them goes. When
even that is too much, the outputs that stay share the room that is free; what was read gives way
to what was not.

Groups of messages stay or go together: a call of tools and all that was answered. A model's
provider refuses a result without its call, and a call without its result. They are matched by id
over the whole history, in both directions, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..conversation.replay.cleared import cleared
from ..text.cutting.json_text import shared_out
from ..tokens.prompt_counter import Measure, parts_besides_text
from ..values.messages import Message, last_user, message_text

RECENT = 3
"""So many of the newest calls keep their outputs, as long as that is possible at all."""
WORTH_CLEARING = 50
"""Tokens that clearing an output has to save."""
LEAST_UNREAD = 200
"""Characters of an output that was not read yet, however small the room."""
SHORT_NOTE = 200
"""Tokens of a note that has little to say."""
LEAST_NOTE = 100
"""Tokens of a note that says no more than that there is something, and how to get it."""
ANY_REF = "t234567"
"""As long as any ref."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages that belong together, by their places; most groups have one."""

    places: tuple[int, ...]
    calls: bool = False
    """Whether it begins with a call of tools."""
    open: bool = False
    """Whether a call in it has no result yet."""
    orphan: bool = False
    """Whether it is a result whose call is not in the history."""


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """Return the groups of a history by their first message; system messages have none.

    A result belongs to the last call before it that has its id: some models give every call the
    same. One without an id belongs to the last call that waits, else to the message before it.
    """
    members: dict[int, list[int]] = {}
    waiting: dict[int, list[str]] = {}
    callers: dict[str, int] = {}
    home: dict[int, int] = {}
    orphans: set[int] = set()
    for place, message in enumerate(messages):
        first = place
        if message["role"] == "tool":
            first = _caller(messages, place, callers, waiting, home)
            if first == place:
                orphans.add(place)
        home[place] = first
        members.setdefault(first, []).append(place)
        calls = [str(call.get("id") or "") for call in message.get("tool_calls") or ()]
        if calls:
            waiting[place] = calls
            callers |= dict.fromkeys(calls, place)
    return [
        Group(
            places=tuple(places),
            calls=first in waiting,
            open=bool(waiting.get(first)),
            orphan=first in orphans,
        )
        for first, places in members.items()
        if messages[first]["role"] != "system"
    ]


def _caller(
    messages: Sequence[Message],
    place: int,
    callers: dict[str, int],
    waiting: dict[int, list[str]],
    home: dict[int, int],
) -> int:
    """Return the message that called for this result, and take the call as answered."""
    id_ = str(messages[place].get("tool_call_id") or "")
    if id_:
        caller = callers.get(id_, place)
    else:
        open_calls = [at for at, calls in waiting.items() if calls]
        before = place - 1
        alone = before < 0 or messages[before]["role"] not in ("assistant", "tool")
        caller = open_calls[-1] if open_calls else place if alone else home[before]
    answered = waiting.get(caller, [])
    if id_ in answered:
        answered.remove(id_)
    elif answered and not id_:
        answered.pop(0)
    return caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many tokens the messages may have."""

    target: int
    """After compaction, the note included."""
    most: int
    """At most, if need be: then even an output that was not read yet is cut down."""
    note: float
    """The share of what is not bound to stay that the note may have."""
    note_most: int
    """Tokens of the note at most."""
    told: int = 0
    """Tokens of the note that is in view already."""

    @property
    def short_note(self) -> int:
        """Tokens of a note that has little to say besides."""
        return max(SHORT_NOTE, self.told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What becomes of a history, by the places of its messages."""

    dropped: frozenset[int] = frozenset()
    cleared: frozenset[int] = frozenset()
    unread: Mapping[int, int] = field(default_factory=dict)
    """Outputs that had to be cut down though they are new, each with the characters it has."""
    note: int = 0
    """Tokens that the note may have."""

    @property
    def covered(self) -> int:
        """The place of the last message that is dropped or cleared."""
        return max(self.dropped | self.cleared | self.unread.keys())

    def __bool__(self) -> bool:
        return bool(self.dropped or self.cleared or self.unread)


def cut(
    messages: Sequence[Message],
    room: Room,
    measure: Measure,
    leaving: Collection[int] = (),
) -> Cut:
    """Return what to drop and what to clear, so that the rest and the note are in the room.

    `leaving` are messages that somebody else chose to leave out: they go, with what belongs to
    them, and others only where that does not do.

    Kept whatever the room: system messages, the first and the last user message, pinned messages,
    the newest group, calls that wait for their results, and what is not text, as only text can be
    archived.
    """
    return _Cutting(messages, room, measure, frozenset(leaving)).cut()


class _Cutting:
    """A history while it is being cut."""

    def __init__(
        self,
        messages: Sequence[Message],
        room: Room,
        measure: Measure,
        leaving: frozenset[int],
    ) -> None:
        self._messages = messages
        self._leaving = leaving
        self._room = room
        self._groups = groups_of(messages)
        self._costs = [measure.message(message) for message in messages]
        self._measure = measure

    def cut(self) -> Cut:
        cleared = self._clear_old()
        short = self._room.short_note
        if sum(self._costs) + short <= self._room.target and not self._leaving:
            return Cut(cleared=frozenset(cleared), note=short if cleared else 0)
        must = _bound_to_stay(self._messages, self._groups)
        free = self._room.target - self._cost_of(must)
        note = max(SHORT_NOTE, min(self._room.note_most, int(free * self._room.note)))
        kept = self._chosen(must) or must | self._newest(must, free - note)
        dropped = {place for group in self._groups for place in group.places} - kept
        cleared |= self._clear_read(kept - cleared, self._room.most - note)
        # What was not read yet is worth more than a long note.
        unread = self._share(kept - cleared, self._room.most - LEAST_NOTE)
        return Cut(
            dropped=frozenset(dropped),
            cleared=frozenset(cleared) - dropped,
            unread=unread,
            # A note that would burst the window is shorter.
            note=max(LEAST_NOTE, min(note, self._room.most - self._cost_of(kept))),
        )

    def _chosen(self, must: set[int]) -> set[int]:
        """Return what stays when others choose what leaves; nothing where that is too much."""
        if not self._leaving:
            return set()
        gone = [group for group in self._groups if not self._leaving.isdisjoint(group.places)]
        all_places = {place for group in self._groups for place in group.places}
        kept = must | (all_places - {place for group in gone for place in group.places})
        return kept if self._cost_of(kept) + LEAST_NOTE <= self._room.most else set()

    def _clear_old(self) -> set[int]:
        """Clear outputs, the oldest first, until what is left fits; return which."""
        chosen: set[int] = set()
        if self._leaving:
            return chosen
        for place in _old_outputs(self._messages, self._groups):
            if sum(self._costs) + self._room.short_note <= self._room.target:
                break
            if self._saved(place) >= WORTH_CLEARING:
                chosen.add(place)
                self._costs[place] -= self._saved(place)
        return chosen

    def _clear_read(self, kept: set[int], most: int) -> set[int]:
        """Clear outputs that were read, the oldest first, while what is kept is too much."""
        chosen = set()
        for place in self._outputs(kept, read=True):
            if self._cost_of(kept) > most and self._saved(place) >= WORTH_CLEARING:
                chosen.add(place)
                self._costs[place] -= self._saved(place)
        return chosen

    def _share(self, kept: set[int], most: int) -> dict[int, int]:
        """Return the characters of outputs that were not read yet: they share what is free."""
        total = self._cost_of(kept)
        if total <= most:
            return {}
        outputs = self._outputs(kept, read=False)
        sizes = [self._costs[place] for place in outputs]
        rooms = shared_out(sizes, most - (total - sum(sizes)))
        shares: dict[int, int] = {}
        for place, size, room in zip(outputs, sizes, rooms, strict=True):
            if size - room > 0:
                shares[place], self._costs[place] = self._shrunk(place, room)
        return shares

    def _shrunk(self, place: int, room: int) -> tuple[int, int]:
        """Return how many characters of an output fit into a room in tokens, and what they cost."""
        message, cost = self._messages[place], self._costs[place]
        characters = len(message_text(message))
        while True:
            # Closer with every step: how many characters a token has differs within a text.
            characters = min(characters - 1, int(0.97 * characters * room / cost))
            characters = max(characters, LEAST_UNREAD)
            left = cleared(message, ANY_REF, unread=characters)
            cost = self._measure.message(left)
            if cost <= room or characters == LEAST_UNREAD:
                return characters, cost

    def _outputs(self, places: Iterable[int], *, read: bool) -> list[int]:
        """Return the outputs of tools that were read, or not: whether anything was said since."""
        said = [at for at, one in enumerate(self._messages) if one["role"] in ("assistant", "user")]
        since = said[-1] if said else -1
        return sorted(
            place
            for place in places
            if self._messages[place]["role"] == "tool"
            and not self._messages[place].get("pinned")
            and (place < since) == read
        )

    def _newest(self, must: set[int], room: int) -> set[int]:
        """Return the newest messages that fit, without a gap but for what stays anyway."""
        kept: list[Group] = []
        for group in reversed(self._groups):
            others = [place for place in group.places if place not in must]
            if group.orphan or not others:
                continue
            price = self._cost_of(others)
            if price > room:
                break
            room -= price
            kept.append(group)
        # An answer whose question is gone says little: the view begins with a question or a call.
        while kept and _is_plain_answer(self._messages, kept[-1]):
            kept.pop()
        return {place for group in kept for place in group.places}

    def _saved(self, place: int) -> int:
        left = self._measure.message(cleared(self._messages[place], ANY_REF))
        return self._costs[place] - left

    def _cost_of(self, places: Iterable[int]) -> int:
        return sum(self._costs[place] for place in places)


def _bound_to_stay(messages: Sequence[Message], groups: Sequence[Group]) -> set[int]:
    last = last_user(messages)
    if last is None:
        # Without a user's message there is no place for a note of what is gone.
        return set(range(len(messages)))
    first = next(place for place, message in enumerate(messages) if message["role"] == "user")
    must = {first, last, len(messages) - 1}
    must |= {place for place, message in enumerate(messages) if _stays(message)}
    for group in groups:
        waits = group.open and group.places[-1] > last
        if waits or not must.isdisjoint(group.places):
            must.update(group.places)
    return must


def _stays(message: Message) -> bool:
    kept_whole = message["role"] != "tool" and parts_besides_text(message)
    return message["role"] == "system" or bool(message.get("pinned")) or bool(kept_whole)


def _old_outputs(messages: Sequence[Message], groups: Sequence[Group]) -> list[int]:
    """Return the outputs of all but the newest calls; what is pinned or not answered stays."""
    called = [group for group in groups if len(group.places) > 1]
    old = [group for group in called[:-RECENT] if not group.open]
    return sorted(
        place
        for group in old
        for place in group.places[1:]
        if messages[place]["role"] == "tool" and not messages[place].get("pinned")
    )


def _is_plain_answer(messages: Sequence[Message], group: Group) -> bool:
    return messages[group.places[0]]["role"] == "assistant" and not group.calls

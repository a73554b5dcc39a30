"""The one currency of the pipeline: whatever a source finds becomes an `Item`, named by its ref.

Sources make items, scoring rates them, selection decides how much of each is shown, rendering
prints them. Nothing downstream knows where an item came from.

Refs are cheap to show in a prompt: a prefix and six base32 characters cost about five tokens where
a UUID costs twenty-two. They are unique per user: the store is asked before one is given out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import inf
from random import Random
from typing import Any, Literal, get_args

from ..errors import InvalidValue
from ..protocols import Store
from ..text.cleaning import digest, storable

Include = Literal["always", "manual", "agent"]
"""How an item came in: with every conversation, added by hand, or found for this request."""

Shown = Literal["full", "brief", "index", "none"]
"""How much of an item the model sees."""

Priority = Literal["critical", "high", "normal", "low"]
"""A class, not a score: every critical item goes before any high one."""

Trust = Literal["trusted", "untrusted"]
"""Untrusted text is never pinned and never enters the system prompt."""

PRIORITIES: tuple[Priority, ...] = get_args(Priority)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_SHORT, _LONG = 6, 16
A_QUESTION = 140
"""Characters of a question that tells nothing besides."""
MakeRef = Callable[[str], str]
"""Takes a prefix and returns a new ref."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a memory holds: everywhere, in one language, or in one project."""

    kind: Literal["universal", "language", "project"] = "universal"
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Return the scope written as "universal", "language:X" or "project:Y".

        The name is everything after the first colon, so "project:acme:web" is the project
        "acme:web" and never "acme".
        """
        if not isinstance(text, str):
            raise InvalidValue(f"scope must be text, not {type(text).__name__}. {_SCOPES}")
        if storable(text) != text:
            raise InvalidValue(f"scope is {text!r:.60}: half surrogate pairs are not allowed.")
        kind, _, name = text.partition(":")
        if text == "universal":
            return UNIVERSAL
        if kind == "language" and name.strip():
            return cls("language", name.strip().lower())
        if kind == "project" and name.strip():
            return cls("project", name.strip())
        raise InvalidValue(f"unknown scope {text!r}. {_SCOPES}")

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind

    def admits(self, *, project: str | None, language: str | None) -> bool:
        """Say whether a memory of this scope is a candidate in that project and language."""
        here = {"universal": "", "language": language or None, "project": project or None}
        return here[self.kind] == self.name


_SCOPES = 'Allowed: "universal", "language:NAME" or "project:NAME".'
UNIVERSAL = Scope()


# Without slots: a search copies dozens of items with other scores, and a dict is copied at once.
@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that may be shown to the model."""

    ref: str
    """Short id, unique per user; what `mem_get` and `forget` take."""
    kind: str
    """What it is: preference, decision, turn, summary, done, rule ..."""
    text: str
    """The whole text, as stored; it is cleaned and escaped when rendered."""
    lane: str
    """The lane of the budget that pays for it."""
    section: str
    """The section it is shown in; see `render.SECTIONS`."""
    label: str = ""
    """What is printed before the text: "Avoid", "done", a speaker."""
    scope: Scope = UNIVERSAL
    title: str = ""
    """One line that stands for it in the index; made from the text when empty."""
    at: datetime | None = None
    session: str = ""
    seen: int = 1
    """How often it was stated. Being shown does not count."""
    ages: bool = True
    """False for what holds until it is taken back: preferences, rules, anti-patterns."""
    instructs: bool = False
    """True for what says how to work: it is paid for by the lane of instructions first."""
    include: Include = "always"
    priority: Priority = "normal"
    trust: Trust = "trusted"
    tainted: bool = False
    """Whether a stranger's words may be in it, as in a turn or in code: then it has no place in a
    system prompt either, though it is not marked."""
    sensitive: bool = False
    """True for what is shown only where it is spoken of; of a turn, the sentences that tell it."""
    situational: bool = False
    """True for what its speaker told of themselves in one field of life: food, travel, films."""
    because: str = ""
    """Why it took another one's place, which, and when that was said; for the record."""
    source: str = ""
    version: str = ""
    """Changes when the text does; a block that shows another version is out of date."""
    score: float = 0.0
    match: float | None = None
    """How well it answers the query, 0 to 1; None when no query brought it."""
    reasons: tuple[tuple[str, float], ...] = ()
    """The signals behind the score, by name."""
    passage: str = ""
    """The sentences of a long text that a query matches; shown instead of the whole."""
    origins: tuple[str, ...] = ()
    """Refs of the turns it was learned from."""
    since: datetime | None = None
    """From when on it holds, where that is known."""
    until: datetime | None = None
    """Until when it holds, that moment excluded."""
    group: str = ""
    """Items of one group share a sub-heading; one group is one conversation."""
    group_title: str = ""
    """The sub-heading: the day of the conversation."""
    order: tuple[Any, ...] = ()
    """What sorts it among what was said: by time, a question and its answer next to each other."""
    place: int = 0
    """Where it stands within its group, or among others that score the same."""

    @property
    def exchange(self) -> tuple[str, tuple[Any, ...]]:
        """A question and its answer have the same."""
        return self.session, self.order[:2]

    @property
    def is_question(self) -> bool:
        """Whether it is a question and little else, put by a person."""
        asks = self.kind == "turn" and len(self.text) <= A_QUESTION and self.label != "assistant"
        return asks and self.text.rstrip().endswith(("?", "\uff1f"))

    def holds_at(self, now: datetime) -> bool:
        """Say whether it has begun to hold, and has not run out."""
        begun = self.since is None or self.since <= now
        return begun and (self.until is None or now < self.until)


def changed(item: Item, **values: Any) -> Item:
    """Return the item with other values: `dataclasses.replace`, ten times as fast."""
    new = object.__new__(Item)
    object.__setattr__(new, "__dict__", item.__dict__ | values)
    return new


def by_rank(item: Item) -> tuple[int, int, float, int, float]:
    """Order items as they are offered to the budget: class first, then score, place, the newest.

    Those that are equal stay as they come: refs are random and say nothing.
    """
    rank = urgency(item), _INCLUDE[item.include]
    return (*rank, -item.score, item.place, newest_first(item))


def is_heard(item: Item) -> bool:
    """Say whether it was learned from what was said, and not remembered by anybody."""
    return item.source in _HEARD


_HEARD = frozenset({"assistant", "conversation", "model"})


def urgency(item: Item) -> int:
    """Order items by priority, what is critical first."""
    return _PRIORITY[item.priority]


def newest_first(item: Item) -> float:
    """Order items by time, the newest first, and last those of which no time is known."""
    return inf if item.at is None else -item.at.timestamp()


_PRIORITY = {name: place for place, name in enumerate(PRIORITIES)}
_INCLUDE: dict[Include, int] = {name: place for place, name in enumerate(get_args(Include))}


def short_refs(store: Store, user: str, random: Random) -> MakeRef:
    """Return a maker of refs that the user has not got yet; use it inside `store.atomic`."""
    given: set[str] = set()

    def make(prefix: str) -> str:
        while True:
            ref = prefix + _letters(random, _SHORT)
            if ref not in given and not store.get(user, [ref]):
                given.add(ref)
                return ref

    return make


def many_refs(store: Store, user: str, random: Random, prefix: str, most: int) -> list[str]:
    """Return so many refs that the user has not got yet; use it inside `store.atomic`."""
    found: dict[str, None] = {}
    while len(found) < most:
        drawn = [prefix + _letters(random, _SHORT) for _ in range(most - len(found))]
        there = {row.ref for row in store.get(user, drawn)}
        found |= dict.fromkeys(ref for ref in drawn if ref not in there)
    return list(found)


def long_ref(prefix: str, random: Random) -> str:
    """Return a ref that needs no asking; for records that no prompt shows."""
    return prefix + _letters(random, _LONG)


def code_ref(*parts: str) -> str:
    """Return the ref of a piece of code or of a file: another one when what it shows changed."""
    number = int(digest(*parts)[:12], 16)
    return "x" + "".join([_LETTERS[number >> 5 * at & 31] for at in range(7)])


def names_stored(ref: str) -> bool:
    """Say whether a ref is one that `short_refs` makes: of something that is kept in the store.

    What sources find elsewhere, such as code, is called otherwise.
    """
    return bool(_STORED.fullmatch(ref))


_STORED = re.compile(rf"[emnorst][{_LETTERS}]{{{_SHORT}}}")


def _letters(random: Random, n: int) -> str:
    # One draw: the system's randomness takes its time for each.
    bits = random.getrandbits(5 * n)
    return "".join([_LETTERS[bits >> 5 * at & 31] for at in range(n)])

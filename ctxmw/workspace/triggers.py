"""What brings context by itself: what a message names, and what happens in an editor.

A trigger is a few things to look for, how much that counts, and how long. Recent ones carry over to
the next messages of a conversation, counting less with each: whoever works on AuthService and then
wants "to add validation" still works on AuthService.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import InvalidValue
from ..values.clocks import after, span
from ..values.records import utc_now
from .mentions import (
    Frame,
    Known,
    asked_about,
    exceptions_in,
    excerpt,
    files_mentioned,
    frames_in,
    split_line,
    symbols_in,
)

if TYPE_CHECKING:
    from .activity import Activity

TriggerKind = Literal[
    "symbol", "path", "trace", "message", "open", "edit", "hover", "session_start"
]
TRIGGER_KINDS: tuple[TriggerKind, ...] = get_args(TriggerKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """What brings context, how much each kind counts, and for how long. A weight of 0 is off."""

    symbol: float = 0.9
    """A code symbol in a message."""
    path: float = 0.95
    """A file in a message."""
    trace: float = 0.95
    """A stack trace in a message: its files, lines and exceptions."""
    message: float = 0.7
    """What a question is about."""
    open: float = 0.8
    """A file opened in an editor."""
    edit: float = 0.95
    """A file edited, with the symbols that changed."""
    hover: float = 0.7
    """A symbol looked at in an editor."""
    session_start: float = 0.7
    """Work begun in an editor, with the file at hand."""
    decay: float = 0.85
    """What is left of the weight with each further message."""
    turns: int = 3
    """How many more messages a trigger lasts."""
    minutes: float = 15
    """How long it lasts."""
    sections: int = 10
    """Pieces of code context a message brings at most."""
    hits: int = 3
    """Definitions a symbol brings at most."""
    tokens: int = 1000
    """Tokens of code context for one message."""
    related: int = 5
    """Neighbours named with a definition."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name))

    @classmethod
    def off(cls) -> Triggers:
        """Return the policy with which nothing comes by itself."""
        return cls(symbol=0, path=0, trace=0, message=0, open=0, edit=0, hover=0, session_start=0)

    def weight(self, kind: TriggerKind) -> float:
        """Return how much a trigger of this kind counts."""
        return float(getattr(self, kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Something to look for."""

    kind: TriggerKind
    queries: tuple[str, ...]
    """Names, paths ("a.py", "a.py:12") or words, depending on the kind."""
    weight: float
    """0 to 1; what it brings is worth no more than that."""
    source: str
    """Where it comes from: "message", or the file."""
    expires: datetime
    turns: int = 0
    """For how many messages it has been there."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths among what it looks for."""
        if self.kind in ("path", "trace", "open", "edit", "session_start"):
            return tuple(split_line(query)[0] for query in self.queries if _has_dot(query))
        return ()


def analyze_message(
    text: str,
    *,
    now: datetime | None = None,
    policy: Triggers | None = None,
    known: Known | None = None,
) -> list[Trigger]:
    """Return what a message asks to look for: symbols, each file, traces, and its subject.

    `known` tells whether a plain word is a distinctive name of the code at hand.
    """
    chosen = policy or Triggers()
    text = excerpt(text)
    frames, exceptions = frames_in(text), exceptions_in(text)
    named = {frame.path for frame in frames}
    found: list[tuple[TriggerKind, Sequence[str]]] = [
        ("symbol", [name for name in symbols_in(text, known) if name not in exceptions]),
        ("trace", [*map(_place, frames), *exceptions]),
        *(("path", [path]) for path in files_mentioned(text) if split_line(path)[0] not in named),
        ("message", asked_about(text)),
    ]
    ends = after(now or utc_now(), span(minutes=chosen.minutes))
    return [
        Trigger(
            kind=kind,
            queries=tuple(queries),
            weight=chosen.weight(kind),
            source="message",
            expires=ends,
        )
        for kind, queries in found
        if queries and chosen.weight(kind)
    ]


def analyze_activity(
    activity: Activity, *, now: datetime | None = None, policy: Triggers | None = None
) -> list[Trigger]:
    """Return what something done in an editor asks to look for; closing a file, nothing."""
    chosen = policy or Triggers()
    kind = _KINDS.get(activity.type)
    if kind is None or not chosen.weight(kind):
        return []
    # A glance at a symbol is about the symbol and not about its file.
    only_symbols = kind == "hover" and activity.symbols
    named = activity.symbols if only_symbols else (activity.path, *activity.symbols)
    queries = tuple(filter(None, named))
    if not queries and kind != "session_start":
        return []
    began = activity.at or now or utc_now()
    return [
        Trigger(
            kind=kind,
            queries=queries,
            weight=chosen.weight(kind),
            source=activity.path or activity.type,
            expires=after(began, span(minutes=chosen.minutes)),
        )
    ]


def still_alive(triggers: Iterable[Trigger], now: datetime, policy: Triggers) -> list[Trigger]:
    """Return the triggers of earlier messages that still count, by as much as they now do."""
    return [
        trigger
        for trigger in triggers
        if trigger.expires > now and trigger.turns <= policy.turns and policy.weight(trigger.kind)
    ]


def carried_over(triggers: Iterable[Trigger], policy: Triggers) -> tuple[Trigger, ...]:
    """Return what the next message inherits: each a bit less, the newest first.

    What a question was about ends with it.
    """
    older = [
        replace(trigger, turns=trigger.turns + 1, weight=trigger.weight * policy.decay)
        for trigger in triggers
        if trigger.kind != "message" and trigger.turns < policy.turns
    ]
    newest: dict[tuple[str, tuple[str, ...]], Trigger] = {}
    for trigger in sorted(older, key=lambda one: one.turns):
        newest.setdefault((trigger.kind, trigger.queries), trigger)
    return tuple(newest.values())[:_CARRIED]


_CARRIED = 12
_KINDS: dict[str, TriggerKind] = {
    "file_open": "open",
    "file_edit": "edit",
    "file_save": "edit",
    "symbol_hover": "hover",
    "session_start": "session_start",
}


def _place(frame: Frame) -> str:
    return f"{frame.path}:{frame.line}"


def _has_dot(query: str) -> bool:
    return "/" in query or "." in query


_A_YEAR = 365 * 24 * 60
_WHOLE = frozenset(("turns", "sections", "hits", "tokens", "related"))


def _check(name: str, value: object) -> None:
    allowed, most = "a number from 0 to 1", 1.0
    if name == "minutes":
        allowed, most = f"a number from 0 to {_A_YEAR}", _A_YEAR
    elif name in _WHOLE:
        allowed, most = "a whole number, 0 or more", inf
    kind = int if name in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value <= most:
        raise InvalidValue(f"Triggers.{name} is {value!r:.60}: it must be {allowed}.")

"""Groups of messages that stay or go together: a call of tools and all that was answered.

A model's provider refuses a result without its call, and a call without its result. They are
matched by id over the whole history, in both directions, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..values.messages import Message


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

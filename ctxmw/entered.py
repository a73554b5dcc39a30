"""Which conversation `with chat:` makes the current one, and for whom.

A context variable alone cannot tell. It belongs to a task, and a generator has none of its own:
what a generator enters, whoever iterates it would be in as well, and would stay in when it breaks
off, for a generator may be closed later, in another task. So every `with` leaves an entry that
knows the frame it stands in, and an entry goes by what is known of that frame:

- The caller is called from it: it is inside.
- It is a generator that waits at a `yield`, and whoever iterated it is calling: it is outside.
- Neither, in a thread or task that was started inside: the context says it, the last entry wins.

An entry that is left is removed by itself and not by its place. Where that happens in another
context than it was entered in, it holds nowhere any more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from types import FrameType
from typing import TYPE_CHECKING

from .errors import InvalidValue

if TYPE_CHECKING:
    from .session import Session

FramePlace = tuple[int, str]
"""A frame by its address and its name: whoever holds a frame keeps alive what is in it."""
Frames = dict[FramePlace | None, int]
"""The frames that somebody is called from, each with how far away it is."""

_ENTERED: ContextVar[tuple[Entered, ...]] = ContextVar("ctxmw_entered", default=())


@dataclass(slots=True, eq=False)
class Entered:
    """One `with chat:`."""

    chat: Session
    statement: FramePlace | None
    """The frame that has the `with` in it; None once it was left."""
    block: FramePlace | None
    """The frame that runs what is inside: another one when the `with` is in a context manager."""
    generator: FrameType | None
    """The same frame, when it is a generator ..."""
    consumer: FramePlace | None
    """... and who iterates it."""
    beside: tuple[tuple[Entered, int], ...]
    """Generators that were waiting in conversations of their own, and where they stood."""
    token: Token[tuple[Entered, ...]] | None = field(default=None, repr=False)
    """Knows the context it was entered in."""
    over: bool = False
    """Whether it was left in another context than that."""

    def may_hold(self, frames: Frames) -> bool:
        """Say whether somebody called from these frames can be inside."""
        if self.over:
            return False
        return self.consumer is None or self.block in frames or self.consumer not in frames

    def has_gone_on(self, stood: int) -> bool:
        """Say whether a generator that stood there has gone on since, and is still inside."""
        return self.generator is not None and not self.over and self.generator.f_lasti != stood

    def left(self) -> None:
        """Note that it was left; what was started inside is in it still."""
        self.statement = self.block = self.generator = self.consumer = None
        self.beside = ()


def current_session(user: str | None = None) -> Session | None:
    """Return the conversation of the innermost `with chat:` around the caller, if any.

    Of one user, when it is told whose. Whoever iterates a generator is not inside of what the
    generator has entered.
    """
    entries = [entry for entry in _ENTERED.get() if user in (None, entry.chat.user)]
    innermost = _innermost(entries, _frames(sys._getframe(1))) if entries else None
    return innermost.chat if innermost else None


def enter(chat: Session, caller: FrameType) -> Entered:
    """Make a conversation the current one for what the caller does inside of its `with`."""
    statement = _outside_of_libraries(caller)
    block, frames = _unwrapped(statement), _frames(caller)
    generator = block if _is_generator(block) else None
    entries = tuple(entry for entry in _ENTERED.get() if not entry.over)
    waiting = [other for other in entries if not other.may_hold(frames)]
    entry = Entered(
        chat=chat,
        statement=_place(statement),
        block=_place(block),
        generator=generator,
        consumer=_consumer(generator) if generator else None,
        beside=tuple((other, other.generator.f_lasti) for other in waiting if other.generator),
    )
    entry.token = _ENTERED.set((*entries, entry))
    return entry


def exit_from(entries: list[Entered], caller: FrameType) -> None:
    """Remove the caller's entry from those of a conversation, and from what is current."""
    entry = _own(entries, _place(_outside_of_libraries(caller)))
    entries.remove(entry)
    around = _ENTERED.get()
    try:
        # Only to learn whether this is the context it was entered in: what was entered since stays.
        if entry.token is not None:
            _ENTERED.reset(entry.token)
    except ValueError:
        entry.over = True
    _ENTERED.set(tuple(other for other in around if other is not entry))
    entry.left()


def _own(entries: Sequence[Entered], statement: FramePlace) -> Entered:
    """Return the last entry of the statement; without one, the last of this context."""
    around = _ENTERED.get()
    last_first = entries[::-1]
    of_statement = (entry for entry in last_first if entry.statement == statement)
    of_context = (entry for entry in last_first if entry in around)
    return next(of_statement, None) or next(of_context, None) or last_first[0]


def _innermost(entries: Sequence[Entered], frames: Frames) -> Entered | None:
    candidates = [entry for entry in reversed(entries) if entry.may_hold(frames)]
    if not candidates:
        return None
    if candidates[0].block not in frames:
        return _unmistakable(candidates[0], entries)
    called_from = [entry for entry in candidates if entry.block in frames]
    return min(called_from, key=lambda entry: frames[entry.block])


def _unmistakable(entry: Entered, entries: Sequence[Entered]) -> Entered:
    """Return the entry, unless the caller may as well come from a generator beside it."""
    beside = [other for other, stood in entry.beside if other.has_gone_on(stood)]
    for other in beside:
        if other in entries and other.chat.workers is entry.chat.workers:
            raise InvalidValue(
                f"generators that take turns have entered {other.chat!r} and {entry.chat!r}, and "
                "which of them this call comes from cannot be told: give each a task of its own, "
                "or name the user in the call."
            )
    return entry


def _frames(frame: FrameType | None) -> Frames:
    found: Frames = {}
    while frame is not None:
        found[_place(frame)] = len(found)
        frame = frame.f_back
    return found


def _place(frame: FrameType) -> FramePlace:
    return id(frame), frame.f_code.co_qualname


def _outside_of_libraries(frame: FrameType) -> FrameType:
    """Return the frame, or the one behind it that is not of the library for `with` statements."""
    while frame.f_globals.get("__name__") == "contextlib" and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _unwrapped(frame: FrameType) -> FrameType:
    """Return who runs the inside of a `with`: of a context manager's, whoever uses that one."""
    while _is_generator(frame) and frame.f_back is not None and _enters(frame.f_back):
        while frame.f_back is not None and _enters(frame.f_back):
            frame = _outside_of_libraries(frame.f_back)
    return frame


def _enters(frame: FrameType) -> bool:
    return frame.f_code.co_name in ("__enter__", "__aenter__")


def _consumer(generator: FrameType) -> FramePlace | None:
    """Return who iterates a generator, through whatever other generators."""
    frame: FrameType | None = generator
    while frame is not None and _is_generator(frame):
        frame = frame.f_back
    return _place(frame) if frame is not None else None


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR))

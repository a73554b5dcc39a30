"""What time it may be: within what can be reckoned with.

A device without a battery begins in year 1, a test may end in 9999, and a day before the one or
after the other is no date at all. So what a clock or a caller says is looked at once, where it
comes in.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from ..errors import InvalidValue

if TYPE_CHECKING:
    from ..protocols import Clock

FIRST_YEAR, LAST_YEAR = 100, 9900
_LONGEST = timedelta(days=36_500)
"""As far as anything is reckoned from now: what is given for longer holds so long."""


def checked_clock(clock: object) -> Clock:
    """Return a clock that tells a time to reckon with, or raises."""
    if not callable(clock):
        raise InvalidValue(f"clock is {clock!r:.60}: give a function that returns the time.")
    asked: Callable[[], object] = clock
    return lambda: _present(asked())


def _present(at: object) -> datetime:
    now = checked_moment(at, "what the clock says")
    if not FIRST_YEAR <= now.year <= LAST_YEAR:
        raise InvalidValue(
            f"the clock says {now.isoformat()}: it must be of a year from {FIRST_YEAR} to "
            f"{LAST_YEAR}. Set it, or open the memory with another one (clock=...)."
        )
    return now


def checked_moment(at: object, what: str) -> datetime:
    """Return when something was said, which may be any time that there is in UTC, or raise."""
    if not isinstance(at, datetime) or at.utcoffset() is None:
        raise InvalidValue(f"{what} is {at!r:.60}: give an aware datetime, as datetime.now(UTC).")
    try:
        at.astimezone(UTC)
    except OverflowError:
        raise InvalidValue(f"{what} is {at.isoformat()}: in UTC that is no date.") from None
    return at


def begin_of(day: object, what: str) -> datetime:
    """Return when a day begins, in UTC, or the aware datetime that was given; else raise."""
    return _of_day(day, what, timedelta(0))


def end_of(day: object, what: str) -> datetime:
    """Return when a day is over, in UTC, or the aware datetime that was given; else raise."""
    return _of_day(day, what, timedelta(days=1))


def _of_day(day: object, what: str, more: timedelta) -> datetime:
    if isinstance(day, date) and not isinstance(day, datetime):
        try:
            return datetime(day.year, day.month, day.day, tzinfo=UTC) + more
        except OverflowError:
            raise InvalidValue(f"{what} is {day.isoformat()}: there is no day after it.") from None
    if not isinstance(day, datetime) or day.utcoffset() is None:
        raise InvalidValue(f"{what} is {day!r:.60}: give a date or an aware datetime.")
    return checked_moment(day, what)


def span(**amount: float) -> timedelta:
    """Return so many minutes, or hours; what no calendar holds is a hundred years."""
    try:
        return min(timedelta(**amount), _LONGEST)
    except OverflowError:
        return _LONGEST


def after(at: datetime, lasting: timedelta) -> datetime:
    """Return the time so much later; the last there is when it would be beyond that."""
    try:
        return at + max(-_LONGEST, min(lasting, _LONGEST))
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)

"""What to test your own code with: a clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class FixedClock:
    """A clock for `ContextMiddleware.open(..., clock=FixedClock())`."""

    def __init__(self, now: datetime = _START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> datetime:
        """Move the clock and return the new time; negative amounts move it back."""
        self.now += timedelta(days=days, hours=hours, minutes=minutes)
        return self.now

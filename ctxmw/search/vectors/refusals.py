"""What is kept in the place of something that could not be made, and when to try it again.

A model may have a bad hour and answer with NaN. So a text is asked about again after a minute, and
after ever longer pauses up to a day. One that has no words is never asked about again. The end of
a conversation that failed is tried again in the same way.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_FORM = struct.Struct("<Bd")
REFUSAL_BYTES = _FORM.size
"""Nine, which no vector of 4-byte numbers has."""
_NEVER = 255
_FIRST, _LONGEST = 60.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """How often it failed, and when it last did."""

    times: int
    at: float
    """In seconds since 1970."""

    @classmethod
    def of(cls, blob: bytes) -> Refusal | None:
        """Return what a blob tells; None when it is a vector."""
        return cls(*_FORM.unpack(blob)) if len(blob) == REFUSAL_BYTES else None

    @classmethod
    def after(cls, before: Refusal | None, now: float, *, final: bool) -> Refusal:
        """Return the refusal that follows another; a final one is the last."""
        if final:
            return cls(_NEVER, now)
        return cls(min((before.times if before else 0) + 1, _NEVER - 1), now)

    def blob(self) -> bytes:
        """Return what the store keeps."""
        return _FORM.pack(self.times, self.at)

    def is_due(self, now: float) -> bool:
        """Say whether it is time to ask again."""
        if self.times == _NEVER:
            return False
        pause: float = _FIRST * 4.0 ** min(self.times - 1, 8)
        # A clock that was set back must not make it wait for years.
        return not self.at <= now < self.at + min(pause, _LONGEST)

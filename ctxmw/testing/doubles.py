"""A clock that stands still, and an embedder without a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from ..errors import InvalidValue
from ..text.cleaning import words

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


class HashEmbedder:
    """An embedder for tests: texts that share words are near each other.

    Each word adds 1 to one of `size` numbers, chosen by its hash: the same in every process, with
    nothing to download. A text without a word gives zeros.
    """

    def __init__(self, size: int = 256) -> None:
        if not isinstance(size, int) or size < 1:
            raise InvalidValue(f"size must be a whole number, 1 or more, not {size!r:.60}.")
        self.size = size
        self.name = f"hash:{size}"

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector for each text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str, /) -> list[float]:
        """Return the vector of a text."""
        vector = [0.0] * self.size
        for word in words(text):
            hashed = blake2b(word.encode(), digest_size=8).digest()
            vector[int.from_bytes(hashed, "big") % self.size] += 1.0
        return vector

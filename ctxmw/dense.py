"""The dense leg of search: how near in meaning records are to a question."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from .vectors import Vectors

HANDFUL = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """How near one record is."""

    rank: float
    """0 for no better than most, 1 for the nearest; for ranking."""
    match: float
    """How well it matches by itself, 0 to 1; for the gate."""


class Dense:
    """Nearness by vectors. What has no vector yet gets one first."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def near(self, user: str, query: str, n: int) -> dict[str, Near]:
        """Return the records nearest in meaning, by ref."""
        self.vectors.refresh(user)
        found = self.vectors.similar(user, query, n)
        if not found:
            return {}
        cosines = [cosine for _, cosine in found]
        low = _no_better_than_most(cosines, n)
        span = max(max(cosines) - low, 1e-6)
        return {
            ref: Near(
                rank=min(1.0, max(0.0, (cosine - low) / span)),
                match=self.vectors.calibrated(cosine),
            )
            for ref, cosine in found
        }

    def close(self) -> None:
        """Close the index; closing twice is fine."""
        self.vectors.close()


def _no_better_than_most(cosines: list[float], n: int) -> float:
    """Return the cosine that counts nothing.

    Of all records that of the middle one, of the nearest that of the last. Of a handful it is 0:
    there is no "most".
    """
    if len(cosines) < HANDFUL:
        return 0.0
    return statistics.median(cosines) if len(cosines) < n else min(cosines)

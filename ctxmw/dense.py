"""The dense leg of search: how near in meaning records are to a question."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from .vectors import Vectors


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
        # When all records are known half of them count nothing; among the nearest, the last one.
        low = statistics.median(cosines) if len(found) < n else min(cosines)
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

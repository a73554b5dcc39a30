"""The dense leg of search: how near in meaning records are to a question."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from ..offered_meaning import OfferedMeaning
from .backlog import Backlog
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
    """Nearness by vectors.

    Without a backlog, what has no vector yet gets one first, however long that takes. With one,
    records are embedded beside the requests: a search embeds the newest few at most.
    """

    def __init__(
        self,
        vectors: Vectors,
        backlog: Backlog | None = None,
        offered: OfferedMeaning | None = None,
    ) -> None:
        """`offered` are the vectors of what the application offers."""
        self.vectors = vectors
        self.offered = offered
        self._backlog = backlog

    def near(self, user: str, query: str, n: int, *, in_haste: bool = False) -> dict[str, Near]:
        """Return the records nearest in meaning, by ref.

        In haste nothing but the question is embedded.
        """
        if self._backlog is None:
            self.vectors.refresh(user)
        elif not in_haste:
            self.vectors.freshen(user)
        found = self.vectors.similar(user, query, n)
        if self.vectors.waiting(user):
            self.embed_soon(user)
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

    def embed_soon(self, user: str) -> None:
        """Say that the user has something new."""
        if self._backlog is not None:
            self._backlog.work_off(user)

    def counts(self) -> dict[str, int]:
        """Return how far the backlog is."""
        return self._backlog.counts() if self._backlog is not None else {}

    def close(self) -> None:
        """Close the index; closing twice is fine."""
        if self._backlog is not None:
            self._backlog.close()
        self.vectors.close()


def _no_better_than_most(cosines: list[float], n: int) -> float:
    """Return the cosine that counts nothing.

    Of all records that of the middle one, of the nearest that of the last. Of a handful it is 0:
    there is no "most".
    """
    if len(cosines) < HANDFUL:
        return 0.0
    return statistics.median(cosines) if len(cosines) < n else min(cosines)

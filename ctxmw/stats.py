"""Counts of what happened, for `ctx.stats()`."""

from __future__ import annotations

import threading
from collections import Counter


class Stats:
    """Named counters, safe for threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, name: str, by: int = 1) -> int:
        """Add to a counter and return what it stands at."""
        with self._lock:
            self._counts[name] += by
            return self._counts[name]

    def snapshot(self) -> dict[str, int]:
        """Return every counter by name."""
        with self._lock:
            return dict(sorted(self._counts.items()))

"""Counts of what happened and how long it took, for `ctx.stats()`."""

from __future__ import annotations

import threading
from collections import Counter, deque

RECENT = 1024
"""How many of the last calls of a kind the percentiles are made from."""


class Stats:
    """Named counters and times, safe for threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._times: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def count(self, name: str, by: int = 1) -> int:
        """Add to a counter and return what it stands at."""
        with self._lock:
            self._counts[name] += by
            return self._counts[name]

    def took(self, name: str, milliseconds: float) -> None:
        """Count a call and keep how long it took."""
        with self._lock:
            self._counts[f"{name}.calls"] += 1
            self._times.setdefault(name, deque(maxlen=RECENT)).append(milliseconds)

    def snapshot(self) -> dict[str, float]:
        """Return every counter by name, with the percentiles of recent calls in milliseconds."""
        with self._lock:
            counts: dict[str, float] = dict(self._counts)
            times = {name: sorted(kept) for name, kept in self._times.items()}
        for name, ordered in times.items():
            for share in (50, 99):
                at = min(len(ordered) - 1, len(ordered) * share // 100)
                counts[f"{name}.ms.p{share}"] = round(ordered[at], 3)
        if shown := counts.get("items.shown"):
            counts["items.share_recurring"] = round(counts.get("items.recurring", 0) / shown, 3)
        return dict(sorted(counts.items()))

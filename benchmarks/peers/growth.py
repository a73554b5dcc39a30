"""What recall and adding one record cost as the records of one user grow."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.search import START, TURNS, Zipf
from benchmarks.timing import percentile, timed

from .systems import Entry, System

BUDGET = 1_000
PATIENCE = 600.0
"""Seconds of filling after which a system is not tried with more."""


def grow(entry: Entry, sizes: Sequence[int], embedder: str, queries: int) -> dict[str, Any]:
    """Return the cost at each size that the system can be brought to."""
    figures: dict[str, Any] = {}
    text = Zipf(Random(1))
    with tempfile.TemporaryDirectory() as folder:
        system = entry.make(Path(folder), embedder)
        filled, spent = 0, 0.0
        for size in sizes:
            if size > entry.most or spent > PATIENCE:
                figures[str(size)] = {"left out": "filling it would take too long"}
                continue
            started = time.perf_counter()
            system.add([turn(text, number) for number in range(filled, size)])
            spent += time.perf_counter() - started
            filled = size
            figures[str(size)] = _cost(system, text, size, queries) | {"fill_s": round(spent, 1)}
        system.close()
    return figures


def turn(text: Zipf, number: int) -> dict[str, Any]:
    """Return one turn of a made-up conversation; a few words are frequent, most are rare."""
    session = number // TURNS
    return {
        "id": f"i{number}",
        "session": f"s{session}",
        "speaker": ("Ann", "Bob")[number % 2],
        "ts": (START + timedelta(days=session % 360)).isoformat(),
        "text": f"I say {text.line(18)}.",
    }


def _cost(system: System, text: Zipf, size: int, queries: int) -> dict[str, float]:
    asked = [f"When did Ann mention {text.line(5)} in May?" for _ in range(queries)]
    for query in asked[:5]:
        system.recall(query, BUDGET)
    asking = [timed(partial(system.recall, query, BUDGET)) for query in asked]
    more = [turn(text, 10_000_000 + size + n) for n in range(50)]
    adding = [timed(partial(system.add, [one])) for one in more]
    return {
        "recall_ms": round(percentile(asking, 0.5), 2),
        "recall_p99_ms": round(percentile(asking, 0.99), 2),
        "add_ms": round(percentile(adding, 0.5), 2),
    }

"""Recall of evidence within a budget, and what it costs in time, for every system."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.retrieval import BUDGETS, COUNT, carried, scored
from benchmarks.timing import percentile

from .systems import Entry, System


def score(entry: Entry, path: Path, embedder: str, most: int | None) -> dict[str, Any]:
    """Return what a system reaches on every conversation of a file."""
    recall: dict[int, list[float]] = {budget: [] for budget in BUDGETS}
    asking: list[float] = []
    adding: list[float] = []
    used: list[float] = []
    overruns = 0
    for conversation in _conversations(path, most):
        items = {item["id"]: item for item in conversation["items"]}
        with tempfile.TemporaryDirectory() as folder:
            system = entry.make(Path(folder), embedder)
            adding.append(_seconds(system, conversation["items"]) / len(items))
            for question in scored(conversation["questions"], path.stem):
                for budget in BUDGETS:
                    started = time.perf_counter()
                    found = system.recall(question["question"], budget)
                    asking.append(1000 * (time.perf_counter() - started))
                    tokens = COUNT(found.text)
                    used.append(tokens / budget)
                    overruns += tokens > budget
                    gold = question["evidence"]
                    held = sum(
                        ref in found.ids and carried(items[ref]["text"], found.text) for ref in gold
                    )
                    recall[budget].append(held / len(gold))
            system.close()
    return {
        **{f"rec@{budget}": _percent(values) for budget, values in recall.items()},
        "recall_ms": {"p50": _round(asking, 0.5), "p99": _round(asking, 0.99)},
        "add_ms": round(1000 * statistics.mean(adding), 2),
        "budget_used": _percent(used),
        "overruns": overruns,
        "questions": len(recall[BUDGETS[0]]),
    }


def _conversations(path: Path, most: int | None) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines()[:most]:
        yield json.loads(line)


def _seconds(system: System, items: list[dict[str, Any]]) -> float:
    started = time.perf_counter()
    system.add(items)
    return time.perf_counter() - started


def _percent(values: list[float]) -> float:
    return round(100 * statistics.mean(values), 1)


def _round(values: list[float], share: float) -> float:
    return round(percentile(values, share), 2)

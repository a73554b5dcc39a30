"""What the benchmarks share: timing a call many times, and printing percentiles."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def timed(call: Callable[[], object]) -> float:
    """Return how many milliseconds a call takes."""
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


def cpu_timed(call: Callable[[], object]) -> float:
    """Return how many milliseconds of CPU this thread spends on a call, however busy others are."""
    started = time.thread_time()
    call()
    return 1000 * (time.thread_time() - started)


def keeps_compiled(folder: Path) -> dict[str, str]:
    """Return the environment of a process that finds its modules compiled, from its second start.

    So it is wherever Python may write beside its modules, or pip has compiled them.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def report(name: str, values: Sequence[float], unit: str = "ms") -> str:
    """Return one line with the percentiles."""
    p50, p90, p99 = (percentile(values, share) for share in (0.5, 0.9, 0.99))
    return f"{name:<44} p50 {p50:8.2f}  p90 {p90:8.2f}  p99 {p99:8.2f} {unit}  n={len(values)}"


def control() -> float:
    """Return what a fixed piece of work takes: how fast the machine is just now."""
    began = time.perf_counter()
    numbers = {str(number): (number, 2 * number) for number in range(1500)}
    sorted(json.loads(json.dumps(numbers)), key=lambda key: numbers[key][1])
    return 1000 * (time.perf_counter() - began)

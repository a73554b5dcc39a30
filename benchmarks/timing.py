"""What the benchmarks share: timing a call many times, and percentiles."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

TICK = 0.001
"""Seconds between two looks at the clock of an event loop."""


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


async def watched(call: Callable[[], Awaitable[object]]) -> tuple[float, list[float]]:
    """Return how long a call took, and by how much a clock on the same event loop was late."""
    late: list[float] = [0.0]
    done = asyncio.Event()

    async def tick() -> None:
        while not done.is_set():
            before = time.perf_counter()
            await asyncio.sleep(TICK)
            late.append(1000 * (time.perf_counter() - before - TICK))

    ticking = asyncio.create_task(tick())
    started = time.perf_counter()
    await call()
    took = 1000 * (time.perf_counter() - started)
    done.set()
    await ticking
    return took, late


def keeps_compiled(folder: Path) -> dict[str, str]:
    """Return the environment of a process that finds its modules compiled, from its second start.

    So it is wherever Python may write beside its modules, or pip has compiled them.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return what a table tells of many measurements."""
    found = {f"p{at}": round(percentile(values, at / 100), 2) for at in (50, 90, 99)}
    return {**found, "n": len(values)}


def control() -> float:
    """Return what a fixed piece of work takes: how fast the machine is just now."""
    began = time.perf_counter()
    numbers = {str(number): (number, 2 * number) for number in range(1500)}
    sorted(json.loads(json.dumps(numbers)), key=lambda key: numbers[key][1])
    return 1000 * (time.perf_counter() - began)

"""How the work for a text grows with the text: by CPU time, since nothing counts a regex's steps.

Four times the text is four times the work when it is linear and sixteen times when it is quadratic.
The bound lies between, a factor of two from each; the least of some tries, taken in turns, is far
closer than that to the truth on a busy machine too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

TIMES = 4
BOUND = 8.0
SURELY_LINEAR = 6.0
TRIES = 9
FAST = 0.006
"""Seconds below which a clock tells nothing."""


def growth(call: Callable[[str], object], once: str, more: str) -> float:
    """Return how much more CPU time it takes for the text that is `TIMES` as long."""
    first, second = inf, spent(call, more)
    # In turns, so that a busy moment does not fall on one of the two alone.
    for _ in range(TRIES):
        if second < FAST:
            return 0.0
        first = min(first, spent(call, once))
        if second / max(first, FAST / TIMES / 2) < SURELY_LINEAR:
            break
        second = min(second, spent(call, more))
    return second / max(first, FAST / TIMES / 2)


def spent(call: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    call(text)
    return time.thread_time() - started

"""Waiting for an event, never for a time: how fast the machine is decides nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which something that never takes so long has surely hung, however busy the machine
is. Shorter than the guard of pytest, so that what was waited for is named."""


def until(holds: Callable[[], bool], what: str = "what was waited for") -> None:
    """Wait for what somebody else does, where nothing tells of it."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends, f"{what} did not happen within {PATIENCE:g} seconds"
        time.sleep(0.01)

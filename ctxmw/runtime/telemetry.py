"""What operators and applications are told of what happens in a memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .lru import LruCache
from .observing import Observer
from .stats import Stats

log = logging.getLogger("ctxmw")
QUIET = timedelta(minutes=1)
"""How long after a warning the next ones of the same stage are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """Counters, spans, warnings, and who is told of errors."""

    stats: Stats
    observer: Observer
    on_error: Callable[[str, Exception], None] | None
    strict: bool
    """Whether adapters raise what fails at run time instead of going on without memory."""
    warned: LruCache[str, datetime] = field(default_factory=lambda: LruCache(64))
    """When each stage was last warned about."""

    def degraded(self, stage: str, error: Exception, now: datetime) -> None:
        """Tell that a call goes on without memory, because this failed."""
        kind = type(error).__name__
        self.stats.count(f"degraded.{stage}.{kind}")
        last = self.warned.get(stage)
        if last is None or not timedelta(0) <= now - last < QUIET:
            self.warned.put(stage, now)
            log.warning("%s failed (%s); the call goes on without memory", stage, kind)
            # What an error says may quote what was stored: that is for those who ask for it.
            log.debug("%s failed", stage, exc_info=error)
        if self.on_error is not None:
            self.on_error(stage, error)

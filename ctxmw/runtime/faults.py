"""The border around one record or one conversation: what fails there stops nobody else.

Much is done in passing. A call takes what others wrote into its indexes, reads what waits, and ends
conversations that nobody ended. What cannot be read or done there is set aside: it stays in the
store as it is, it is counted, logged once, told to `on_error`, and tried again later. Only what
leaves nothing half done may fail here: reading a row, or a transaction of its own.

Stages of the pipeline have names, so that a fault tells where it happened.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from typing import Protocol, TypeVar

from ..errors import CtxmwError, StageError
from .lru import LruCache
from .telemetry import Stats

log = logging.getLogger("ctxmw")

TOLD = 1024
"""How many faults are remembered as told."""


class Stored(Protocol):
    """What names a row of a store; a store's own type is of a room above."""

    @property
    def user(self) -> str: ...
    @property
    def ref(self) -> str: ...
    @property
    def type(self) -> str: ...


R = TypeVar("R", bound=Stored)
T = TypeVar("T")


class Faults:
    """What was set aside. Any thread may use it."""

    def __init__(
        self,
        stats: Stats | None = None,
        on_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        self.stats = stats or Stats()
        self._on_error = on_error
        self._told: LruCache[tuple[str, str, str], bool] = LruCache(TOLD)

    def read(
        self,
        rows: Iterable[R],
        read: Callable[[R], T],
        unread: Callable[[str], object] | None = None,
    ) -> list[T]:
        """Return what is read of each row, without those that cannot be read.

        `unread` is called with the ref of each of these.
        """
        found: list[T] = []
        for row in rows:
            try:
                found.append(read(row))
            except MemoryError:
                raise
            # A newer version or a damaged disk may have left anything. Reading a row touches
            # nothing else, so whatever it raises is about this row alone.
            except Exception as error:  # noqa: BLE001
                self.tell("read", (row.user, row.ref), error, f"the {row.type} {row.ref} is unread")
                if unread is not None:
                    unread(row.ref)
        return found

    def tell(self, stage: str, about: tuple[str, str], error: Exception, says: str) -> None:
        """Tell once that something of one user was set aside; `about` names both.

        What the error says may quote what was stored: that is for those who ask for it.
        """
        if self._told.put((stage, *about), True):
            return
        kind = type(error).__name__
        self.stats.count(f"set_aside.{stage}.{kind}")
        log.warning("%s (%s); everything else goes on, and nothing is lost", says, kind)
        log.debug("%s", says, exc_info=error)
        if self._on_error is not None:
            self._on_error(stage, error)


class stage(ContextDecorator):  # noqa: N801 - reads as what it does
    """Raise whatever fails inside as an error of ours that names the stage.

    An error of ours says enough already, and passes; so does a cancellation.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CtxmwError):
            raise StageError(self._name, error) from error


def where(error: Exception, otherwise: str) -> tuple[str, Exception]:
    """Return the stage an error comes from, and what went wrong there."""
    if isinstance(error, StageError):
        return error.stage, error.cause
    return otherwise, error

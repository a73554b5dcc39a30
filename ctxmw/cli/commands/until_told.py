"""How a command that runs until somebody ends it is ended: by Ctrl-C or SIGTERM, then in order.

What a process inherits cannot be relied on. A job that a script starts in the background has SIGINT
ignored, and SIGTERM left alone ends a process where it stands, with its memory open.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came: whatever ends by Ctrl-C ends by this too."""


@contextmanager
def until_told() -> Iterator[None]:
    """Have SIGINT and SIGTERM leave the block by an exception, so that all that is open is closed.

    Signals reach the main thread only: in another one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None stands for a handler that was not set from Python, and cannot be set from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _leave(number: int, _: FrameType | None) -> None:
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

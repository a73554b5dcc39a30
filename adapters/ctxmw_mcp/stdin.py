"""Standard input that can be ended from this side.

A thread that waits for a client's next line cannot be woken, and the server waits for that thread:
told to end, it would stay until the client goes. So the client's bytes come through a pipe of our
own, and closing that pipe is, to the server, the client going away.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_AT_ONCE = 65_536


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Have SIGINT and SIGTERM end standard input; a second one is as urgent as it was before.

    Only the main thread hears signals, only POSIX can wait for a pipe and for something else, and
    an application may have put something of its own in place of standard input: nothing changes
    then.
    """
    hears = threading.current_thread() is threading.main_thread()
    if not hears or sys.platform == "win32" or not _is_standard():
        yield
        return
    client = os.dup(0)
    (wakes, wake), (to_server, ours) = os.pipe(), os.pipe()
    os.dup2(to_server, 0)
    os.close(to_server)
    carrier = threading.Thread(target=_carry, args=(client, ours, wakes), name="ctxmw-stdin")
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            # None stands for a handler that was not set from Python, and cannot be set from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def end(_: int, __: FrameType | None) -> None:
        restore()
        os.write(wake, b".")

    for number in before:
        signal.signal(number, end)
    carrier.start()
    try:
        yield
    finally:
        restore()
        os.write(wake, b".")
        carrier.join()
        os.dup2(client, 0)
        for descriptor in (client, wakes, wake):
            os.close(descriptor)


def _is_standard() -> bool:
    try:
        return sys.stdin.fileno() == 0
    except (AttributeError, OSError, ValueError):
        return False


def _carry(client: int, ours: int, wakes: int) -> None:
    """Hand on what the client sends until it ends, until woken, or until nobody reads it."""
    os.set_blocking(ours, False)
    sent = b""
    with suppress(OSError):  # the client's side or the server's is gone: that is an end too
        while True:
            ready, _, _ = select.select(
                [wakes] if sent else [wakes, client], [ours] * bool(sent), []
            )
            if wakes in ready:
                break
            if sent:
                sent = sent[os.write(ours, sent) :]
            elif not (sent := os.read(client, _AT_ONCE)):
                break
    os.close(ours)

"""The processes that tests start: each ends with its test, whatever becomes of the test.

Every process is noticed when it is started, wherever that is done. What still runs when the test is
over is killed and reaped, its pipes are closed, and the test that left it is the one that fails:
not the test during which Python happens to collect its garbage.
"""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.support.waiting import PATIENCE


class Processes:
    """Who has started what."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[Any]] = []

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Notice every process that is started in the block."""
        begin = subprocess.Popen.__init__

        def begun(process: subprocess.Popen[Any], *args: Any, **options: Any) -> None:
            begin(process, *args, **options)
            self._started.append(process)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess.Popen, "__init__", begun)
            yield

    @contextmanager
    def ended(self) -> Iterator[None]:
        """End what is started in the block; complain about it unless the block failed already."""
        outside, self._started = self._started, []
        children = set(multiprocessing.active_children())
        try:
            yield
        finally:
            mine, self._started = self._started, outside
            left = [_end(process) for process in mine if _is_left(process)]
            for child in set(multiprocessing.active_children()) - children:
                child.kill()
                child.join()
                left.append(str(child))
        assert not left, f"processes were left behind, and are ended now: {left}"

    @contextmanager
    def of_another(self) -> Iterator[None]:
        """Leave what is started in the block to its owner, who outlives the test at hand."""
        mine, self._started = self._started, []
        try:
            yield
        finally:
            self._started = mine


@contextmanager
def running(*command: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Have a process for as long as the block; it is told to end, and must.

    What it prints can be read; what it complains of as well.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    arguments = [str(part) for part in command]
    process = subprocess.Popen(arguments, text=True, **pipes | options)
    try:
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    finally:
        if _is_left(process):
            _end(process)


def in_background(*arguments: object) -> list[str]:
    """Return how to start `ctxmw` as a script starts what it puts into the background."""
    begin = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    become = "os.execv(sys.executable, [sys.executable, '-m', 'ctxmw', *sys.argv[1:]])"
    return [sys.executable, "-c", begin + become, *map(str, arguments)]


def _is_left(process: subprocess.Popen[Any]) -> bool:
    if getattr(process, "outlives_the_test", False):
        return False  # a server that was started again: whoever made the server stops it
    pipes = (process.stdin, process.stdout, process.stderr)
    return process.poll() is None or any(pipe is not None and not pipe.closed for pipe in pipes)


def _end(process: subprocess.Popen[Any]) -> str:
    """Kill a process if it runs, close its pipes, and return what to call it."""
    runs = process.poll() is None
    if runs:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            # What was not flushed has no reader any more.
            with suppress(OSError):
                pipe.close()
    return f"{process.args!r} {'ran' if runs else 'had ended, with its pipes open'}"

"""How far a long work is: a bar in a notebook, a line in a terminal.

    ctx.index_code("src", progress=progress("indexing"))

The magics of long works (`%ctx index`, `import`, `reindex`) show one by themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

from ..display.elements import Html, tag
from ..errors import MissingPackage
from ..text.cleaning import one_line

OFTEN = 0.1
"""Seconds between two pictures: a notebook keeps every one that it is sent until it is drawn."""
_WIDTH = 30


def progress(label: str, clock: Callable[[], float] = monotonic) -> ProgressBar:
    """Return what a long work is given as `progress`: it shows how far the work is."""
    return ProgressBar(one_line(label, 60), clock)


class ProgressBar:
    """Shows (done, total) where whoever waits is looking."""

    def __init__(self, label: str, clock: Callable[[], float]) -> None:
        self._label = label
        self._clock = clock
        self._began = clock()
        self._drawn: float | None = None
        self._handle: Any = None
        self._done, self._total = 0, 0

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        recently = self._drawn is not None and now - self._drawn < OFTEN
        if recently and done < total:
            return
        self._drawn, self._done, self._total = now, done, total
        self._show_in_notebook() if _in_notebook() else self._show_in_terminal()

    def __repr__(self) -> str:
        filled = _WIDTH * self._done // max(1, self._total)
        bar = f"[{'#' * filled}{'.' * (_WIDTH - filled)}]"
        return f"{self._label} {bar} {self._done:,}/{self._total:,} {self._seconds():.0f} s"

    def _repr_html_(self) -> Html:
        bar = tag("progress", value=self._done, max=max(1, self._total))
        told = f" {self._done:,} of {self._total:,} · {self._seconds():.0f} s"
        return tag("div", f"{self._label} ", bar, told)

    def _seconds(self) -> float:
        return (self._drawn or self._began) - self._began

    def _show_in_notebook(self) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(self, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(self)

    def _show_in_terminal(self) -> None:
        end = "\n" if self._done >= self._total else ""
        print(f"\r{self!r}", end=end, file=sys.stderr, flush=True)  # noqa: T201 - a bar is printed


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError as error:
        raise MissingPackage('progress needs IPython: pip install "ctxmw[notebook]"') from error
    # Only a kernel has one; a terminal's shell draws no HTML.
    return getattr(get_ipython(), "kernel", None) is not None

"""Where a command prints: lines and tables for people, JSON for programs, progress on the side.

Colours and progress bars are for terminals only. Stored text is cleaned before it is printed, so
that no record can move the cursor or rename the window.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TextIO

Style = Literal["bold", "dim", "red", "green", "yellow"]
_CODES: dict[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_BAR = 30


class Terminal:
    """The output of one command."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err

    @property
    def width(self) -> int:
        """Columns a line may take; plenty when nobody looks at it."""
        return shutil.get_terminal_size().columns if self._out.isatty() else 200

    @property
    def is_watched(self) -> bool:
        """Whether a person looks at the output and can be asked something."""
        return self._out.isatty() and sys.stdin.isatty()

    def line(self, text: str = "") -> None:
        """Print a line."""
        print(_cleaned(text), file=self._out)

    def styled(self, text: str, style: Style) -> None:
        """Print a line in a colour, on a terminal."""
        print(_styled(_cleaned(text), style, self._out), file=self._out)

    def raw(self, text: str) -> None:
        """Print a text as it is, to the byte."""
        self._out.write(text)

    def flush(self) -> None:
        """Have what was printed be seen now: whoever reads a pipe waits for it."""
        self._out.flush()

    def json(self, value: Any) -> None:
        """Print a value for a program to read."""
        print(json.dumps(value, ensure_ascii=False, indent=2, default=str), file=self._out)

    def told(self, line: str, value: Any, *, as_json: bool) -> None:
        """Print what was done, for a person or as JSON for a program."""
        self.json(value) if as_json else self.line(line)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print rows below a header; the last column takes the room that is left."""
        from ...text.cleaning import one_line

        cells = [[one_line(str(cell), self.width) for cell in row] for row in (header, *rows)]
        *widths, _ = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = max(20, self.width - sum(widths) - 2 * len(widths))
        for at, row in enumerate(cells):
            fixed = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            text = "  ".join([*fixed, one_line(row[-1], room)]).rstrip()
            print(_styled(text, "bold", self._out) if at == 0 else text, file=self._out)

    def note(self, text: str) -> None:
        """Say something on the side: it does not go down the pipe."""
        print(_cleaned(text), file=self._err)

    def error(self, text: str) -> None:
        """Say what went wrong."""
        print(f"{_styled('ctxmw:', 'red', self._err)} {_cleaned(text)}", file=self._err)

    def progress(self) -> Callable[[int, int], None] | None:
        """Return what is told how far a long work is; None when nobody looks."""
        return self._bar if self._err.isatty() else None

    def confirmed(self, question: str) -> bool:
        """Ask before something cannot be undone."""
        print(f"{_cleaned(question)} [y/N] ", end="", file=self._err, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def _bar(self, done: int, total: int) -> None:
        filled = _BAR * done // max(1, total)
        end = "\n" if done >= total else ""
        line = f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}"
        print(line, end=end, file=self._err, flush=True)


def _cleaned(text: str) -> str:
    # A hook runs at every prompt, and prints an answer as it is: it does not wait for this.
    from ...text.cleaning import clean

    return clean(text)


def _styled(text: str, style: Style, stream: TextIO) -> str:
    # https://no-color.org: whoever sets it, to whatever, wants none.
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"

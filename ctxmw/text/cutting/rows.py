"""Text cut down by lines, and tables by rows: the header stays, and no row is torn apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 160
"""Characters of a long line that are left at least."""
LOOKED_AT = 40
"""Lines that tell whether a text is a table."""
FEWEST = 4
"""Lines of a table at least."""
_RULE = re.compile(r"\A[ \t|+:=-]{3,}\Z")
_COLUMNS = re.compile(r"\S(?:  +|\t)(?=\S)")
_DELIMITERS = "\t;|,"


def cut_table(text: str, most: int, lines: int | None, rest: str) -> str | None:
    """Return a table cut down by rows, its header kept; None when the text is no table."""
    rows = text.splitlines()
    header = header_lines(rows)
    if not header or len("\n".join(rows[:header])) > most:
        return None
    kept = most - len("\n".join(rows[:header]))
    width = max(WIDTH, kept // 2)
    shown = [row if len(row) <= width else _narrowed(row, width) for row in rows[header:]]
    first, last = _ends(shown, kept, lines, first_share=0.75)
    return _joined(rows[:header], (first, shown, last), "row", rest)


def cut_lines(text: str, most: int, lines: int | None, rest: str) -> str:
    """Return the lines at both ends of a text; of one that is very long, its own two ends."""
    rows = text.splitlines()
    # There is room for one line at either end, and for the sign that it is cut.
    width = most // 2 - 8 if len(rows) > 1 else most
    width = width if lines is None or len(rows) == 1 else min(width, WIDTH)
    shown = [line if len(line) <= width else _narrowed(line, width) for line in rows]
    first, last = _ends(shown, most, lines, first_share=0.5)
    if first + last >= len(rows):
        return "\n".join([*shown, f"[long lines cut. {rest}]"])
    return _joined([], (first, shown, last), "line", rest)


def header_lines(rows: Sequence[str]) -> int:
    """Return how many lines at the beginning of a table are its header; 0 for what is no table.

    That is one in Markdown, with a rule below the names or of separated values, each line with as
    many, or of columns that stand apart.
    """
    seen = [row for row in rows[:LOOKED_AT] if row.strip()]
    if len(seen) < FEWEST:
        return 0
    ruled = next((at for at in (1, 2) if _RULE.match(rows[at]) and "-" in rows[at]), 0)
    if ruled and (rows[ruled - 1].count("|") > 1 or _COLUMNS.search(rows[ruled - 1])):
        return ruled + 1
    alike = 0.9 * len(seen)
    for delimiter in _DELIMITERS:
        held = seen[0].count(delimiter)
        # A line of prose has one comma as well.
        if held >= (2 if delimiter == "," else 1) and (
            sum(row.count(delimiter) == held for row in seen) >= alike
        ):
            return 1
    columns = len(_COLUMNS.findall(seen[0]))
    apart = sum(bool(_COLUMNS.search(row)) for row in seen)
    return 1 if columns >= 2 and apart >= alike else 0


def _ends(rows: Sequence[str], most: int, lines: int | None, first_share: float) -> tuple[int, int]:
    """Return how many rows are left at the beginning and at the end."""
    whole = len(rows)
    first = _fitting_rows(rows[:lines], int(most * first_share))
    behind = rows[first:][::-1]
    last = _fitting_rows(behind[:lines], most - sum(len(row) + 1 for row in rows[:first]))
    if lines is None:
        spent = sum(len(row) + 1 for row in (*rows[:first], *behind[:last]))
        first += _fitting_rows(rows[first : whole - last], most - spent)
    return (max(first, 1), last) if rows else (0, 0)


def _fitting_rows(rows: Sequence[str], room: int) -> int:
    for kept, row in enumerate(rows):
        room -= len(row) + 1
        if room < 0:
            return kept
    return len(rows)


def _joined(
    header: Sequence[str], parts: tuple[int, Sequence[str], int], name: str, rest: str
) -> str:
    first, rows, last = parts
    left_out = len(rows) - first - last
    if left_out <= 0:
        return "\n".join([*header, *rows])
    gap = f"[{left_out} {name if left_out == 1 else name + 's'} left out. {rest}]"
    return "\n".join([*header, *rows[:first], gap, *rows[len(rows) - last :]])


def _narrowed(line: str, width: int) -> str:
    head = width * 3 // 4
    return f"{line[:head]} ... {line[len(line) - (width - head) :]}"

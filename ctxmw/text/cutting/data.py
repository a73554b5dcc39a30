"""Whether a text is data: rows of a table, entries of a log, values of JSON, and little else.

People paste it with a line or two of their own around it. Of prose all that stands around a
sentence belongs to it; of data one row answers a question, and the others only look like it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from .rows import FEWEST, LOOKED_AT, header_lines

_AROUND = 3
"""Lines of somebody's own that may stand before it."""
_MOST = 0.8
"""The share of the lines behind them that look like data."""
_STAMP = re.compile(r"\A\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)")
"""A date or a time at the beginning of a line: the entry of a log."""
_KEYS = 8
"""Keys that JSON has at least; less of it is no list of anything."""


def is_data(text: str) -> bool:
    """Say whether a text is data, but for a few words around it."""
    return _is_json(text) or _is_listed(text.splitlines()[: LOOKED_AT + _AROUND])


def _is_json(text: str) -> bool:
    """Say whether most of a text is one value, which others can read."""
    begins = min((at for mark in "{[" if (at := text.find(mark)) >= 0), default=-1)
    if begins < 0 or begins > (1 - _MOST) * len(text) or text.count('":') < _KEYS:
        return False
    try:
        _, ends = json.JSONDecoder().raw_decode(text, begins)
    except (ValueError, RecursionError):  # no JSON, or nested too deep to be read by anybody
        return False
    return ends - begins >= _MOST * len(text)


def _is_listed(lines: Sequence[str]) -> bool:
    """Say whether a table or a log begins within the first lines."""
    rows = [line for line in lines if line.strip()]
    for before in range(min(_AROUND, len(rows)) + 1):
        seen = rows[before : before + LOOKED_AT]
        if len(seen) < FEWEST:
            return False
        if header_lines(seen) or sum(map(bool, map(_STAMP.match, seen))) >= _MOST * len(seen):
            return True
    return False

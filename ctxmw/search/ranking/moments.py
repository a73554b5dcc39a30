"""How well the moment at which a record was made fits the times a question names."""

from __future__ import annotations

import numpy as np

from ..lexical.index import Floats, Ints
from ..question import Question

CLOSE = 0.5
"""What the week after a day counts, and the day before it."""


def said_when(question: Question, months: Ints, years: Ints) -> Floats:
    """Return 1 for what was said in a month or year the question names, 0 for the rest."""
    said = np.zeros(len(months), bool)
    for number, year in question.months:
        said |= (months == number) & (years == year) if year else months == number
    for year in question.years:
        said |= years == year
    return said.astype(np.float32)


def said_on(question: Question, days: Ints) -> Floats:
    """Return 1 for what was said on a day the question names, or the day after; less near it."""
    said = np.zeros(len(days), np.float32)
    for named in question.days:
        # Days are kept in as few bytes as they take: of year 1, one.
        since = days.astype(np.int32) - named.toordinal()
        said[(since >= -1) & (since <= 7) & (said < CLOSE)] = CLOSE
        said[(since == 0) | (since == 1)] = 1
    return said


def newness(days: Ints) -> Floats:
    """Return 0 for the oldest of these and 1 for the newest."""
    if not len(days):
        return np.zeros(0, np.float32)
    oldest, newest = float(days.min()), float(days.max())
    newer: Floats = ((days - oldest) / max(1.0, newest - oldest)).astype(np.float32)
    return newer

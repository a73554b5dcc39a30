"""What a hit is expected to bring for its tokens, and how little is too little.

The rank of a record reads as the logarithm of its chance to be evidence, up to what all records of
a question have in common. That is taken out here, so that the chances of everything that comes into
question, and of none of it being evidence, add up to how much evidence a question has on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.budget import Appetite
from ..lexical.index import Bools, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHEAP = 30
"""Tokens below which a record does not get cheaper: a short line is no evidence for being short."""
NOTHING = 6.0
"""The rank of "nothing here is evidence": less than the best match of most questions has, and more
than a record that shares a common word with one."""
EVIDENCE = 0.58
"""The logarithm of how many records are evidence for a question, on conversations where that is
known."""

LEAST: dict[Appetite, float] = {"lean": -8.2, "balanced": -8.6, "full": -np.inf}
"""The logarithm of the chance to be evidence, per token, from which on a hit is worth its tokens.

Of a line of fifty tokens, "balanced" wants a chance of one per cent, "lean" of one and a half. On
conversations with known evidence the first loses about two points of recall, the second five.
"""

_APART = 0.6
"""How much less that is where a model reads sentences: its signals count more, so that ranks lie
further apart and the same record seems to have less of a chance beside the best."""


def least(appetite: Appetite, *, by_sentences: bool) -> float:
    """Return from which gain on a hit is worth its tokens."""
    return LEAST[appetite] - (_APART if by_sentences else 0.0)


def gain(rank: Floats, costs: Floats, considered: Bools) -> NDArray[np.float64]:
    """Return the logarithm of each candidate's chance to be evidence, per token."""
    every = np.append(rank[considered].astype(np.float64), NOTHING)
    best = every.max()
    total = best + np.log(np.exp(every - best).sum())
    found: NDArray[np.float64] = rank - total + EVIDENCE - np.log(np.maximum(costs, CHEAP))
    return found


ANOTHER = 0.5
"""What each further hit of a conversation brings less, times the logarithm of how many there are:
the second a third less, the tenth two thirds."""


def spread(gains: NDArray[np.float64], sessions: Ints) -> NDArray[np.float64]:
    """Return the gains with less for those that come after others of their conversation."""
    order = np.lexsort((-gains, sessions))
    begins = np.append(True, np.diff(sessions[order]) != 0)
    starts = np.flatnonzero(begins)
    place = np.arange(len(order)) - starts[np.cumsum(begins) - 1]
    less = np.zeros(len(gains))
    less[order] = ANOTHER * np.log1p(place)
    found: NDArray[np.float64] = np.where(sessions >= 0, gains - less, gains)
    return found

"""How well the best passage of a long record matches: a fact in it is found as in a short one.

A record is kept as one; its terms are read in windows of the length of a passage, each of which
begins in the middle of the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..lexical.index import Floats, Ints, LexicalIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 72
"""Terms that a passage of about 160 tokens has."""
MOST_TERMS = 2_000_000
"""Terms of long records that are read for one question, those first that may match best."""
_HALF = WINDOW // 2


def long_places(index: LexicalIndex, scores: Floats) -> Ints:
    """Return the places that match and are longer than a passage, as many as are read."""
    found = ((scores > 0) & (index.column("length") > WINDOW)).nonzero()[0].astype(np.int32)
    lengths = index.column("length")[found]
    if lengths.sum() <= MOST_TERMS:
        return found
    order = np.argsort(-scores[found], kind="stable")
    enough = int(np.searchsorted(lengths[order].cumsum(), MOST_TERMS))
    return found[order[: max(1, enough)]]


def counted_in_windows(
    index: LexicalIndex, places: Ints, terms: NDArray[Any]
) -> tuple[Floats, NDArray[np.intp]]:
    """Return how often every window holds each of the terms, and where each place's begin."""
    tokens, owner = index.token_runs(places)
    lengths = index.column("length")[places].astype(np.int64)
    starts = lengths.cumsum() - lengths
    halves = -(-lengths // _HALF)
    first = halves.cumsum() - halves
    order = np.argsort(terms)
    at = np.minimum(np.searchsorted(terms[order], tokens), len(terms) - 1)
    said = (terms[order][at] == tokens).nonzero()[0]
    mine = owner[said]
    half = first[mine] + (said - starts[mine]) // _HALF
    counts = np.zeros((int(halves.sum()) + 1, len(terms)), np.float32)
    np.add.at(counts, (half, order[at[said]]), 1)
    windows = counts[:-1].copy()
    follows = np.ones(len(windows), bool)
    follows[first + halves - 1] = False
    windows[follows] += counts[1:][follows]
    return windows, first

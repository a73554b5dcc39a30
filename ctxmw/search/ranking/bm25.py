"""How well words match, by BM25: single records, and whole conversations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lexical.index import Floats, Ints, LexicalIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1, B = 1.2, 0.5
OF_SESSIONS = 0.75
"""How much the length of a whole conversation counts; B is for records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The terms of a question that occur, and who holds them."""

    terms: dict[str, int]
    """Numbers of the terms."""
    sizes: NDArray[np.intp]
    """How many places hold each."""
    worth: dict[str, float]
    """What each says: the fewer hold it, the more."""
    rarity: Floats
    """The same in the order of the terms."""
    places: Ints
    """Places that hold the first term, then those that hold the second ..."""
    counts: Floats
    """How often each of them does."""

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of its term for each of the places."""
        return values.repeat(self.sizes)


def held(index: LexicalIndex, terms: Iterable[str]) -> Held:
    """Return what the index holds of these terms."""
    known = index.vocabulary.known(terms)
    lists = [index.postings(number) for number in known.values()]
    sizes = [len(places) for places, _ in lists]
    rarity = [index.rarity(size) for size in sizes]
    return Held(
        terms=known,
        sizes=np.array(sizes, np.intp),
        worth=dict(zip(known, rarity, strict=True)),
        rarity=np.array(rarity, np.float32),
        places=np.concatenate([np.zeros(0, np.int32), *(places for places, _ in lists)]),
        counts=np.concatenate([np.zeros(0, np.float32), *(counts for _, counts in lists)]),
    )


def of_places(index: LexicalIndex, asked: Held) -> Floats:
    """Return the score of every place, 1 for the best, with a zero in the slot of "no such"."""
    scores = np.zeros(len(index) + 1, np.float32)
    if not asked.terms:
        return scores
    mean = np.float32(max(1.0, index.terms_in_all / max(1, len(index))))
    norm = K1 * (1 - B + B / mean * index.column("length")[asked.places])
    worth = asked.spread(asked.rarity * (K1 + 1))
    np.add.at(scores, asked.places, worth * asked.counts / (asked.counts + norm))
    if index.dead:
        scores *= index.column("alive")
    scores /= scores.max(initial=0) or 1
    return scores


def of_sessions(index: LexicalIndex, asked: Held) -> Floats:
    """Return the score of every conversation, 1 for the best; 0 for records that stand alone."""
    sizes, lengths = index.session_sizes()
    scores = np.zeros(len(sizes), np.float32)
    mine = index.column("session")[asked.places]
    said = (sizes[mine] > 1).nonzero()[0]
    if not len(said):
        return scores
    table = np.zeros(len(asked.terms) * len(sizes), np.float32)
    term = asked.spread(np.arange(len(asked.terms)))
    np.add.at(table, (term * len(sizes) + mine)[said], asked.counts[said])
    filled = table.nonzero()[0]
    term, talk, times = filled // len(sizes), filled % len(sizes), table[filled]
    in_talks = lengths[sizes > 1]
    holders = np.bincount(term, minlength=len(asked.terms))
    rarity = np.log(1 + (len(in_talks) - holders + 0.5) / (holders + 0.5)).astype(np.float32)
    share = lengths[talk] / max(1.0, float(in_talks.sum() / len(in_talks)))
    norm = K1 * (1 - OF_SESSIONS + OF_SESSIONS * share)
    np.add.at(scores, talk, rarity[term] * (K1 + 1) * times / (times + norm))
    return by_best(scores)


def by_best(scores: Floats) -> Floats:
    """Return the scores in proportion to the best."""
    best = scores.max(initial=0)
    return scores / best if best > 0 else scores

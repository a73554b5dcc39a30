"""Which of a question's words a record holds, alone and together with the turns around it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lexical.index import Floats, Ints, LexicalIndex
from ..question import Question
from .bm25 import Held, by_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

TURNS = 4
"""How far before and after a turn the words of others count, fading."""
TERMS_AT_ONCE = 60
ENOUGH = 3
"""This many rare words are match enough, however many more a long question has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a question each candidate covers."""

    match: Floats
    """How well the words within two turns match, 1 for enough."""
    share: Floats
    """The share of the question's words, weighted by rarity, within two turns."""
    own: NDArray[np.intp]
    """How many different words the candidate itself holds."""
    subject: NDArray[np.intp]
    """How many of them belong to the question's subject."""


def coverage(index: LexicalIndex, asked: Held, question: Question, places: Ints) -> Coverage:
    """Return how much of a question the candidates cover."""
    before, after = index.column("previous"), index.column("next")
    reach = [places, before[places], after[places]]
    reach += [before[reach[1]], after[reach[2]]]
    share = np.zeros(len(places), np.float32)
    own, subject = np.zeros(len(places), np.intp), np.zeros(len(places), np.intp)
    about = sum(1 << at for at, term in enumerate(asked.terms) if term in question.subject)
    ends = asked.sizes.cumsum()
    for first in range(0, len(asked.terms), TERMS_AT_ONCE):
        run = slice(first, first + TERMS_AT_ONCE)
        bits = _bits(index, asked, run, ends)
        mine = bits[places]
        around = mine.copy()
        for hop in reach[1:]:
            around |= bits[hop]
        number = np.arange(len(asked.rarity[run]), dtype=bits.dtype)
        holds = (around[:, None] >> number) & bits.dtype.type(1)
        share += (holds * asked.rarity[run].astype(np.float64)).sum(axis=1)
        own += np.bitwise_count(mine)
        subject += np.bitwise_count(mine & bits.dtype.type((about >> first) % (1 << len(number))))
    unknown = math.log(2 * len(index) + 2)
    missing = len(set(question.terms)) - len(asked.terms)
    total = float(asked.rarity.sum()) + missing * unknown
    enough = max(1e-6, min(total, ENOUGH * unknown))
    return Coverage(
        match=np.minimum(1, share / enough),
        share=share / max(total, 1e-6),
        own=own,
        subject=subject,
    )


def _bits(
    index: LexicalIndex, asked: Held, run: slice, ends: NDArray[np.intp]
) -> NDArray[np.unsignedinteger[Any]]:
    """Return a number for every place in which each bit stands for a term it holds."""
    sizes = asked.sizes[run]
    few = np.min_scalar_type((1 << len(sizes)) - 1)
    bits = np.zeros(len(index) + 1, few)
    start = int(ends[run.start] - asked.sizes[run.start])
    which = (few.type(1) << np.arange(len(sizes), dtype=few)).repeat(sizes)
    # A place holds a term once, so that adding is setting.
    np.add.at(bits, asked.places[start : start + len(which)], which)
    return bits


def neighbouring(index: LexicalIndex, places: Ints, words: Floats) -> dict[str, Floats]:
    """Return what the turns before and after say for each candidate."""
    before, after = index.column("previous"), index.column("next")
    return {
        "before": _fading(words, places, before),
        "after": _fading(words, places, after),
        "answered": words[after[places]] * index.column("user")[places],
    }


def _fading(words: Floats, places: Ints, step: Ints) -> Floats:
    total, hop = np.zeros(len(places), np.float32), places
    for distance in range(TURNS):
        hop = step[hop]
        total += math.exp(-distance / 2) * words[hop]
    return total


def together(
    index: LexicalIndex, asked: Held, runs: Sequence[Sequence[str]], places: Ints
) -> Floats:
    """Return how many neighbouring terms of each run are neighbours in a place, 1 for the best.

    `asked` is what is held of them.
    """
    pairs = dict.fromkeys(pair for run in runs for pair in itertools.pairwise(run))
    wanted = [(a, b) for a, b in pairs if a in asked.terms and b in asked.terms]
    scores = np.zeros(len(places), np.float32)
    if not wanted or not len(places):
        return scores
    tokens, owner = index.token_runs(places)
    first, second = tokens[:-1], tokens[1:]
    same = owner[1:] == owner[:-1]
    for a, b in wanted:
        both = (first == asked.terms[a]) & (second == asked.terms[b]) & same
        # Where a place holds a pair twice, adding to it at once counts it once.
        scores[owner[:-1][both]] += asked.worth[a] + asked.worth[b]
    return by_best(scores)

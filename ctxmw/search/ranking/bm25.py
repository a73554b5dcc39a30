"""How well words match, by BM25: records, alone and with the turns around, and conversations.

A fact in a long record is found as in a short one, by its best passage. The record is kept as one;
its terms are read in windows of the length of a passage, each of which begins in the middle of the
one before.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lexical.index import Floats, Ints, LexicalIndex
from ..question import Question

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
    lists = index.postings(known.values())
    sizes = [len(places) for places, _ in lists]
    rarity = [math.log(1 + (len(index) - size + 0.5) / (size + 0.5)) for size in sizes]
    return Held(
        terms=known,
        sizes=np.array(sizes, np.intp),
        worth=dict(zip(known, rarity, strict=True)),
        rarity=np.array(rarity, np.float32),
        places=np.concatenate([np.zeros(0, np.int32), *[places for places, _ in lists]]),
        counts=np.concatenate([np.zeros(0, np.float32), *[counts for _, counts in lists]]),
    )


def of_places(index: LexicalIndex, asked: Held) -> Floats:
    """Return the score of every place, 1 for the best, with a zero in the slot of "no such".

    The score of a long record is that of its best passage.
    """
    scores = np.zeros(len(index) + 1, np.float32)
    if not asked.terms:
        return scores
    lengths = index.columns["length"].all
    mean = max(1.0, float(np.minimum(lengths[:-1], WINDOW).mean()))
    # For a long one this is the most that a passage of it can have.
    norm = _norm(np.minimum(lengths[asked.places], WINDOW), mean)
    worth = asked.spread(asked.rarity * (K1 + 1))
    np.add.at(scores, asked.places, worth * asked.counts / (asked.counts + norm))
    if index.dead:
        scores *= index.columns["alive"].all
    places = long_places(index, scores)
    if len(places):
        windows, first = counted_in_windows(index, places, np.array(list(asked.terms.values())))
        each = windows * (K1 + 1) / (windows + _norm(np.float32(WINDOW), mean))
        # Not by `@`: BLAS may say "invalid value" of numbers that are all finite, as its kernels
        # also calculate with what lies beyond them; and it takes threads for a thin product.
        best = np.einsum("wt,t->w", each, asked.rarity)
        scores[places] = np.maximum.reduceat(best, first)
    scores /= scores.max(initial=0) or 1
    return scores


def _norm(lengths: Any, mean: float) -> Any:
    return np.float32(K1) * (1 - B + B / np.float32(mean) * lengths)


def of_sessions(index: LexicalIndex, asked: Held) -> Floats:
    """Return the score of every conversation, 1 for the best; 0 for records that stand alone."""
    sizes, lengths = index.session_sizes()
    scores = np.zeros(len(sizes), np.float32)
    mine = index.columns["session"].all[asked.places]
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


TURNS = 4
"""How far before and after a turn the words of others count, fading."""
TERMS_AT_ONCE = 60
FEWEST = 400
"""Records from which on their number tells how rare a word is. Of a few, a word that half of them
hold may be as rare as any: they are taken for a sample of so many."""
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
    before, after = index.columns["previous"].all, index.columns["next"].all
    reach = [places, before[places], after[places]]
    reach += [before[reach[1]], after[reach[2]]]
    share = np.zeros(len(places), np.float32)
    own, subject = np.zeros(len(places), np.intp), np.zeros(len(places), np.intp)
    about = sum(1 << at for at, term in enumerate(asked.terms) if term in question.subject)
    ends = asked.sizes.cumsum()
    records = max(len(index), FEWEST)
    rarity = np.log(1 + (records - asked.sizes + 0.5) / (asked.sizes + 0.5))
    for first in range(0, len(asked.terms), TERMS_AT_ONCE):
        run = slice(first, first + TERMS_AT_ONCE)
        bits = _bits(index, asked, run, ends)
        mine = bits[places]
        around = mine.copy()
        for hop in reach[1:]:
            around |= bits[hop]
        number = np.arange(len(rarity[run]), dtype=bits.dtype)
        holds = (around[:, None] >> number) & bits.dtype.type(1)
        share += (holds * rarity[run]).sum(axis=1)
        own += np.bitwise_count(mine)
        subject += np.bitwise_count(mine & bits.dtype.type((about >> first) % (1 << len(number))))
    unknown = math.log(2 * records + 2)
    missing = len(set(question.terms)) - len(asked.terms)
    total = float(rarity.sum()) + missing * unknown
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
    before, after = index.columns["previous"].all, index.columns["next"].all
    return {
        "before": _fading(words, places, before),
        "after": _fading(words, places, after),
        "answered": words[after[places]] * index.columns["user"].all[places],
        "reply": words[before[places]] * index.columns["question"].all[before[places]],
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


WINDOW = 72
"""Terms that a passage of about 160 tokens has."""
MOST_TERMS = 2_000_000
"""Terms of long records that are read for one question, those first that may match best."""
_HALF = WINDOW // 2


def long_places(index: LexicalIndex, scores: Floats) -> Ints:
    """Return the places that match and are longer than a passage, as many as are read."""
    found = ((scores > 0) & (index.columns["length"].all > WINDOW)).nonzero()[0].astype(np.int32)
    lengths = index.columns["length"].all[found]
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
    lengths = index.columns["length"].all[places].astype(np.int64)
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

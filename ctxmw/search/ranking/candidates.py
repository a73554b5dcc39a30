"""Which of many records come into question at all, and which of those are worth their tokens.

The rank of a record reads as the logarithm of its chance to be evidence, up to what all records of
a question have in common. That is taken out here, so that the chances of everything that comes into
question, and of none of it being evidence, add up to how much evidence a question has on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...values.budget import Appetite
from ..lexical.columns import distinct
from ..lexical.index import Bools, Floats, Ints, LexicalIndex
from ..question import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray


EVERY_RECORD = 1000
"""Of up to this many records every one that matches is rated in full; of more only the best ..."""
CANDIDATES = 400
WITH_NEIGHBOURS = 100
"""... and, of the best of these, the two turns to each side."""
BLOCKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Legs:
    """What is known of every place, with a zero in the slot of "no such record"."""

    words: Floats
    related: Floats | None
    sessions: Floats
    """By session."""
    meaning: Floats | None
    files: Floats | None


def candidates(index: LexicalIndex, question: Question, wanted: Bools, legs: Legs) -> Ints:
    """Return the wanted places that come into question, in the order in which they came."""
    if np.count_nonzero(wanted) <= EVERY_RECORD:
        found = wanted.nonzero()[0].astype(np.int32)
    else:
        found = _best(index, question, wanted, legs)
    if not _is_by_words_alone(question, legs):
        return found
    matching: Ints = found[_matching(index, legs, found)]
    return matching


def _best(index: LexicalIndex, question: Question, wanted: Bools, legs: Legs) -> Ints:
    rough = _rough(index, question, legs)[:-1]
    if not wanted.all():
        rough *= wanted
    best = largest(rough, CANDIDATES)
    first = best[np.argsort(-rough[best], kind="stable")[:WITH_NEIGHBOURS]]
    before, after = index.columns["previous"].all, index.columns["next"].all
    near = [before[first], after[first]]
    found = distinct(np.concatenate([best, *near, before[near[0]], after[near[1]]]))
    found = found[found >= 0].astype(np.int32)
    kept: Ints = found[wanted[found]]
    return kept


def _is_by_words_alone(question: Question, legs: Legs) -> bool:
    """Say whether only words bring a record: no name, no time, nothing quoted, no meaning."""
    others = (question.person, question.months, question.years, question.days, question.phrases)
    return not (any(others) or question.latest) and legs.meaning is None and legs.files is None


def _matching(index: LexicalIndex, legs: Legs, places: Ints) -> Bools:
    """Say of each place whether a word of the question is in it, or in its conversation."""
    matching: Bools = legs.words[places] > 0
    if legs.related is not None:
        matching |= legs.related[places] > 0
    if legs.sessions.any():
        matching |= legs.sessions[index.columns["session"].all[places]] > 0
    return matching


def largest(values: Floats, n: int) -> Ints:
    """Return where the `n` largest values above zero are, in no order; fewer if there are fewer."""
    left = (values > 0).nonzero()[0]
    if len(left) > n and len(values) > BLOCKS * BLOCKS * n:
        # The n-th best of the blocks' maxima is no larger than the n-th best of all, and cuts
        # away nearly everything, at a tenth of what sorting out all values would cost.
        block = len(values) // (BLOCKS * n)
        whole = len(values) // block * block
        maxima = values[:whole].reshape(block, -1).max(axis=0)
        least = float(np.partition(maxima, -n)[-n])
        left = ((values >= least) & (values > 0)).nonzero()[0]
    if len(left) > n:
        left = left[np.argpartition(values[left], -n)[-n:]]
    return left.astype(np.int32)


def _rough(index: LexicalIndex, question: Question, legs: Legs) -> Floats:
    rough: Floats = np.sqrt(legs.words)
    rough += legs.words
    if legs.related is not None:
        rough += legs.related
    matched = np.flatnonzero(legs.words > 0)
    rough[matched] += legs.sessions[index.columns["session"].all[matched]]
    # Few have these: adding nothing to all others would take longer than finding them.
    rough[np.flatnonzero(index.columns["instruction"].all)] += 1
    rough[np.flatnonzero(index.columns["preference"].all)] += np.float32(0.5)
    if question.person is not None:
        rough += index.columns["speaker"].all == index.people.speakers[question.person]
    if question.months or question.years:
        rough += 2 * said_when(question, index.columns["month"].all, index.columns["year"].all)
    if question.days:
        rough += 2 * said_on(question, index.columns["day"].all)
    if legs.meaning is not None:
        rough += 2 * legs.meaning
    if legs.files is not None:
        rough += legs.files
    return rough


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


LONG_TOKENS, LONGEST = 100, 500
"""From how many tokens on a record counts as long, and up to how many it counts as longer: of one
that has more, a passage is shown all the same."""


def length(tokens: Any) -> Any:
    """Return by how much records of so many tokens are longer than most."""
    return np.log(np.clip(tokens, LONG_TOKENS, LONGEST) / LONG_TOKENS)


class Candidate(NamedTuple):
    """A record that comes into question, and what speaks for it."""

    match: float
    reasons: tuple[tuple[str, float], ...]
    subject: int
    """How many words of the question's subject it holds."""
    dense: float
    """How well it matches by meaning."""
    pays: bool
    """Whether what it is expected to bring is worth its tokens."""
    beside: frozenset[str]
    """Refs of the neighbours that it is there for, having none of the words itself."""
    gain: float
    """The logarithm of its chance to be evidence, per token ..."""
    tokens: float
    """... where it has so many ..."""
    cost: float
    """... and is taken to cost so many."""
    if_it_lists: bool
    """Whether it comes into question only if little of it has to be shown."""

    def as_shown(self, tokens: float, long: float) -> Candidate:
        """Return it as one that has and costs so many tokens; `long` is what length counts."""
        gain = self.gain + math.log(max(self.cost, CHEAP) / max(tokens, CHEAP))
        gain += long * float(length(tokens) - length(self.tokens))
        return self._replace(gain=gain, tokens=tokens, cost=tokens)

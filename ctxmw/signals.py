"""What speaks for a record being part of the answer: words, neighbours, session, who, when, kind.

The rank of a record is linear in these signals and reads as the logarithm of its chance to be
evidence; `rank_weights` says how much each counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from .lexical import Bools, Floats, Ints, LexicalIndex
from .question import Question
from .rank_weights import RankWeights
from .terms import stem
from .text import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

EVERY_RECORD = 1000
"""Up to this many records every one is rated in full; above it only the best candidates ..."""
CANDIDATES = 400
WITH_NEIGHBOURS = 100
"""... and, of the best of these, the two turns to each side."""
K1, B = 1.2, 0.5
LONG_SESSION = 25
NEIGHBOURS = 4
OPENING = 15.0
LONG_TOKENS = 100


QUERY_SIGNALS = (
    "words",
    "related",
    "pairs",
    "phrase",
    "files",
    "near_words",
    "before",
    "after",
    "answered",
    "session",
    "speaker",
    "month",
    "day",
    "dense",
    "dense_near",
)
"""Signals that come from the question; a record with none of them has nothing to do with it."""


OWN_SIGNALS = ("words", "related", "files", "dense")
"""Those of them that a record has by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The candidates, and the value of every signal for each."""

    places: Ints
    values: dict[str, Floats]
    match: Floats
    """Share of the question's words, weighted by rarity, that each candidate holds. A neighbour
    takes the match of the turn that brought it."""

    def touched(self) -> Bools:
        """Say of each candidate whether it has anything to do with the question."""
        asked = [self.values[name] for name in QUERY_SIGNALS if name in self.values]
        touched: Bools = np.any(np.array(asked) > 0, axis=0)
        return touched

    def by_itself(self) -> Bools:
        """Say of each candidate whether it matches itself, and not only through its neighbours."""
        own = [self.values[name] for name in OWN_SIGNALS if name in self.values]
        matches: Bools = np.any(np.array(own) > 0, axis=0)
        return matches

    def rank(self, weights: RankWeights) -> Floats:
        """Return the logarithm of each candidate's chance to be evidence."""
        total = np.zeros(len(self.places), np.float32)
        for name, values in self.values.items():
            total += getattr(weights, name) * values
        return total

    def reasons(
        self, candidates: NDArray[np.intp], weights: RankWeights
    ) -> list[tuple[tuple[str, float], ...]]:
        """Return, for each of these candidates, the three signals that gave most."""
        names = list(self.values)
        weight = np.array([getattr(weights, name) for name in names], np.float32)
        gave = weight[:, None] * np.array([self.values[name][candidates] for name in names])
        best = np.argsort(-gave, axis=0)[:3]
        return [
            tuple((names[at], round(float(gave[at, n]), 2)) for at in best[:, n] if gave[at, n] > 0)
            for n in range(len(candidates))
        ]


def signals(
    index: LexicalIndex,
    question: Question,
    wanted: Floats,
    *,
    dense: Floats | None = None,
    files: Sequence[str] = (),
) -> Signals:
    """Return every signal for the candidates among the wanted records.

    `wanted` is 1 or 0 for each place, `dense` the nearness of meaning for each, 0 to 1, and `files`
    are the paths in play.
    """
    legs = _Legs(
        words=_by_best(_bm25(index, index.term_ids(question.terms))),
        related=_by_best(_bm25(index, index.term_ids(question.related))),
        sessions=_session_bm25(index, question),
        meaning=None if dense is None else np.append(dense, np.float32(0)),
        files=_file_names(index, files),
    )
    places = _candidates(index, question, wanted, legs)
    match, near = _coverage(index, question, places)
    quoted = [pair for terms in question.phrases for pair in _pairs_of(terms)]
    values = {
        "words": legs.words[places],
        "words_root": np.sqrt(legs.words[places]),
        "related": legs.related[places],
        "pairs": _pairs(index, _pairs_of(question.terms), places),
        "phrase": _pairs(index, quoted, places),
        "files": legs.files[places],
        "near_words": near,
        **_neighbour_signals(index, places, legs.words),
        **_session_signals(index, places, legs.sessions),
        **_person_signals(index, question, places),
        **_time_signals(index, question, places),
        **_kind_signals(index, question, places),
        **_dense_signals(index, places, legs.meaning),
    }
    return Signals(places=places, values=values, match=match)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Legs:
    """What is known of every place, with a zero in the slot of "no such record"."""

    words: Floats
    related: Floats
    sessions: Floats
    """By session."""
    meaning: Floats | None
    files: Floats


def _bm25(index: LexicalIndex, terms: Sequence[int]) -> Floats:
    """Return BM25 of every place, with a zero in the slot of "no such record"."""
    scores = np.zeros(len(index) + 1, np.float32)
    lengths = index.column("length")
    mean = max(1.0, float(lengths.sum()) / max(1, len(index)))
    for term in terms:
        places, counts = index.postings(term)
        norm = K1 * (1 - B + B / mean * lengths[places])
        scores[places] += index.rarity(term) * (K1 + 1) * counts / (counts + norm)
    alive: Floats = scores * index.column("alive")
    return alive


def _by_best(scores: Floats) -> Floats:
    best = scores.max(initial=0)
    return scores / best if best > 0 else scores


def _session_bm25(index: LexicalIndex, question: Question) -> Floats:
    _, lengths = index.session_sizes()
    scores = np.zeros(len(lengths), np.float32)
    norm = K1 * (0.25 + 0.75 * lengths / max(1.0, float(lengths.mean())))
    session = index.column("session")
    for term in index.term_ids(question.terms):
        places, counts = index.postings(term)
        times = np.bincount(session[places], weights=counts, minlength=len(lengths))
        held = np.count_nonzero(times)
        rarity = math.log(1 + (len(lengths) - held + 0.5) / (held + 0.5))
        scores += (rarity * (K1 + 1) * times / (times + norm)).astype(np.float32)
    return _by_best(scores)


def _candidates(index: LexicalIndex, question: Question, wanted: Floats, legs: _Legs) -> Ints:
    everything = np.flatnonzero(wanted).astype(np.int32)
    if len(everything) <= EVERY_RECORD:
        return everything
    matched = legs.words
    rough = matched + np.sqrt(matched) + legs.related
    rough += legs.sessions[index.column("session")] * (matched > 0)
    rough += index.column("instruction") + 0.5 * index.column("preference")
    if question.person is not None:
        rough += index.column("speaker") == index.people.speakers[question.person]
    if question.months or question.years or question.days:
        times = _time_signals(index, question, np.arange(len(index) + 1, dtype=np.int32))
        rough += 2 * (times["month"] + times["day"])
    if legs.meaning is not None:
        rough += 2 * legs.meaning
    rough += legs.files
    rough = np.where(wanted > 0, rough[:-1], -1)
    best = np.argpartition(-rough, CANDIDATES)[:CANDIDATES]
    first = best[np.argsort(-rough[best])[:WITH_NEIGHBOURS]]
    before, after = index.column("previous"), index.column("next")
    near = [before[first], after[first]]
    found = np.unique(np.concatenate([best, *near, before[near[0]], after[near[1]]]))
    found = found[found >= 0].astype(np.int32)
    kept: Ints = found[wanted[found] > 0]
    return kept


def _pairs_of(terms: Sequence[str]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(itertools.pairwise(terms)))


def _pairs(index: LexicalIndex, pairs: Sequence[tuple[str, str]], places: Ints) -> Floats:
    known = index.vocabulary
    wanted = [(known[a], known[b]) for a, b in pairs if a in known and b in known]
    scores = np.zeros(len(places), np.float32)
    if not wanted:
        return scores
    tokens, owner = index.token_runs(places)
    together = owner[1:] == owner[:-1]
    for a, b in wanted:
        at = (tokens[:-1] == a) & (tokens[1:] == b) & together
        scores[np.unique(owner[:-1][at])] += index.rarity(a) + index.rarity(b)
    return _by_best(scores)


def _file_names(index: LexicalIndex, files: Sequence[str]) -> Floats:
    """Return 1 for each place that names one of the files, by its whole name."""
    names = [whole for path in files for whole in words(PurePath(path).name)[:1]]
    held = np.zeros(len(index) + 1, np.float32)
    for term in index.term_ids(map(stem, names)):
        held[index.postings(term)[0]] = 1
    alive: Floats = held * index.column("alive")
    return alive


def _coverage(index: LexicalIndex, question: Question, places: Ints) -> tuple[Floats, Floats]:
    """Return how well the words within two turns match the question, and their plain share."""
    before, after = index.column("previous"), index.column("next")
    reach = [places, before[places], after[places]]
    reach += [before[reach[1]], after[reach[2]]]
    near = np.zeros(len(places), np.float32)
    total = 0.0
    for term in dict.fromkeys(question.terms):
        number = index.vocabulary.get(term)
        if number is None:
            total += math.log(2 * len(index) + 2)
            continue
        total += index.rarity(number)
        holds = np.zeros(len(index) + 1, bool)
        holds[index.postings(number)[0]] = True
        near += index.rarity(number) * np.logical_or.reduce([holds[hop] for hop in reach])
    # Three rare words are match enough, however many more a long question has.
    enough = max(1e-6, min(total, 3 * math.log(2 * len(index) + 2)))
    return np.minimum(1, near / enough), near / max(total, 1e-6)


def _neighbour_signals(index: LexicalIndex, places: Ints, words: Floats) -> dict[str, Floats]:
    before, after = index.column("previous"), index.column("next")
    user = index.column("user")
    return {
        "before": _fading(words, places, before),
        "after": _fading(words, places, after),
        "answered": words[after[places]] * user[places],
    }


def _fading(words: Floats, places: Ints, step: Ints) -> Floats:
    total, hop = np.zeros(len(places), np.float32), places
    for distance in range(NEIGHBOURS):
        hop = step[hop]
        total += math.exp(-distance / 2) * words[hop]
    return total


def _session_signals(index: LexicalIndex, places: Ints, sessions: Floats) -> dict[str, Floats]:
    sizes, _ = index.session_sizes()
    mine = index.column("session")[places]
    # A record that stands alone agrees with nobody.
    shared = (sizes[mine] > 1) * np.minimum(1, LONG_SESSION / sizes[mine])
    return {"session": shared * sessions[mine]}


def _person_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    zero = np.zeros(len(places), np.float32)
    if question.person is None:
        return {"speaker": zero, "speaker_self": zero, "to_speaker": zero}
    theirs = index.column("speaker")[places] == index.people.speakers[question.person]
    return {
        "speaker": theirs.astype(np.float32),
        "speaker_self": theirs * index.column("first")[places],
        "to_speaker": ~theirs * index.column("second")[places],
    }


def _time_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    month, day = np.zeros(len(places), np.float32), np.zeros(len(places), np.float32)
    months, years = index.column("month")[places], index.column("year")[places]
    for number, year in question.months:
        month[(months == number) & ((years == year) if year else True)] = 1
    for year in question.years:
        month[years == year] = 1
    for named in question.days:
        since = index.column("day")[places] - named.toordinal()
        close = np.where((since >= -1) & (since <= 7), np.float32(0.5), np.float32(0))
        day = np.maximum(day, np.where((since == 0) | (since == 1), np.float32(1), close))
    return {"month": month, "day": day, "recent": _newness(index, question, places)}


def _newness(index: LexicalIndex, question: Question, places: Ints) -> Floats:
    """Return 0 for the oldest of these and 1 for the newest, when that is asked for."""
    days = index.column("day")[places]
    if not question.latest or not len(days):
        return np.zeros(len(places), np.float32)
    oldest, newest = float(days.min()), float(days.max())
    newer: Floats = ((days - oldest) / max(1.0, newest - oldest)).astype(np.float32)
    return newer


def _kind_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    def flag(name: str) -> Floats:
        values: Floats = index.column(name)[places]
        return values

    opening = np.exp(-flag("place") / OPENING)
    nothing = np.zeros(len(places), np.float32)
    return {
        "shape": flag(question.shape) if question.shape else nothing,
        "instruction": flag("instruction"),
        "preference": flag("preference"),
        "opening": opening,
        "opening_broad": opening if question.broad else nothing,
        "long": np.log(np.maximum(flag("cost"), LONG_TOKENS) / LONG_TOKENS),
    }


def _dense_signals(index: LexicalIndex, places: Ints, meaning: Floats | None) -> dict[str, Floats]:
    if meaning is None:
        return {}
    around = meaning[index.column("previous")[places]] + meaning[index.column("next")[places]]
    return {"dense": meaning[places], "dense_near": around / 2}

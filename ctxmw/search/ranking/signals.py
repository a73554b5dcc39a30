"""What speaks for a record being part of the answer: words, neighbours, session, who, when, kind.

The rank of a record is linear in these signals and reads as the logarithm of its chance to be
evidence; `weights` says how much each counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ...text.cleaning import words
from ...text.terms import stem
from ..lexical.index import Bools, Floats, Ints, LexicalIndex
from ..question import Question
from . import bm25
from .bm25 import coverage, neighbouring, together
from .candidates import Legs, candidates, length, newness, said_on, said_when
from .weights import RankWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG_SESSION = 25
OPENING = 15.0
NOBODY = -2
"""The number of a speaker whom nobody has heard."""
REASONS = 3

QUERY_SIGNALS = frozenset(
    "words related pairs phrase files near_words before after answered reply session speaker month "
    "day "
    "dense dense_near".split()
)
"""Signals that come from the question; a record with none of them has nothing to do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The candidates, and the value of every signal for each."""

    places: Ints
    names: tuple[str, ...]
    table: Floats
    """A row for each signal, a column for each candidate."""
    match: Floats
    """Share of the question's words, weighted by rarity, that each candidate holds. A neighbour
    takes the match of the turn that brought it."""
    subject: NDArray[np.intp]
    """How many words of the question's subject each candidate itself holds."""
    worth: Mapping[str, float]
    """What each of the question's words that occur says: the fewer hold it, the more."""
    goes_on: bool = False
    """Whether the question is part of work that goes on."""

    def touched(self) -> Bools:
        """Say of each candidate whether it has anything to do with the question."""
        return self._any_of(QUERY_SIGNALS)

    def above(self, name: str, value: float) -> Bools:
        """Say of each candidate whether a signal is above a value."""
        if name not in self.names:
            return np.zeros(len(self.places), bool)
        above: Bools = self.table[self.names.index(name)] > value
        return above

    def beside_best(self, name: str, share: float) -> Bools:
        """Say of each candidate whether it has at least this share of the best one's signal."""
        if name not in self.names:
            return np.zeros(len(self.places), bool)
        values = self.table[self.names.index(name)]
        enough: Bools = (values > 0) & (values >= share * values.max(initial=0))
        return enough

    def counts(self, weights: RankWeights) -> Floats:
        """Return how much each signal counts."""
        return np.array([getattr(weights, name) for name in self.names], np.float32)

    def rank(self, counts: Floats) -> Floats:
        """Return the logarithm of each candidate's chance to be evidence."""
        rank: Floats = np.einsum("i,ij->j", counts, self.table)
        return rank

    def reasons(
        self, chosen: NDArray[np.intp], counts: Floats
    ) -> list[tuple[tuple[str, float], ...]]:
        """Return, for each of these candidates, the signals that gave most."""
        gave = counts[:, None] * self.table[:, chosen]
        best = (-gave).argsort(axis=0, kind="stable")[:REASONS]
        values = gave[best, np.arange(len(chosen))].astype(float).round(2).T.tolist()
        names = np.array(self.names, object)[best].T.tolist()
        each = zip(names, values, strict=True)
        reasons = [tuple(zip(named, gave, strict=True)) for named, gave in each]
        # The most comes first, so the last tells whether all of them gave anything.
        return [
            why if not why or why[-1][1] > 0 else tuple(one for one in why if one[1] > 0)
            for why in reasons
        ]

    def _any_of(self, names: Collection[str]) -> Bools:
        rows = [at for at, name in enumerate(self.names) if name in names]
        found: Bools = np.logical_or.reduce(self.table[rows] > 0)
        return found


def signals(
    index: LexicalIndex,
    question: Question,
    wanted: Bools,
    *,
    dense: Floats | None = None,
    files: Sequence[str] = (),
) -> Signals:
    """Return every signal for the candidates among the wanted records.

    `wanted` says of each place whether it may be found, `dense` how near its meaning is, 0 to 1,
    and `files` are the paths in play. A signal that the question does not have is left out.
    """
    asked = bm25.held(index, question.terms)
    legs = Legs(
        words=bm25.of_places(index, asked),
        related=_related(index, question),
        sessions=bm25.of_sessions(index, asked),
        meaning=None if dense is None else np.append(dense, np.float32(0)),
        files=_file_names(index, files) if files else None,
    )
    places = candidates(index, question, wanted, legs)
    covered = coverage(index, asked, question, places)
    words_here = legs.words[places]
    values = {
        "words": words_here,
        "words_root": np.sqrt(words_here),
        **({} if legs.related is None else {"related": legs.related[places]}),
        "near_words": covered.share,
        **_pairs(index, asked, question, places, covered.own),
        **neighbouring(index, places, legs.words),
        **_session_signals(index, places, legs.sessions),
        **_person_signals(index, question, places),
        **_time_signals(index, question, places),
        **_kind_signals(index, question, places),
        **_dense_signals(index, places, legs.meaning),
    }
    if legs.files is not None:
        values["files"] = legs.files[places]
    table = np.array(list(values.values()), np.float32)
    return Signals(
        places=places,
        names=tuple(values),
        table=table,
        match=covered.match,
        subject=covered.subject,
        worth=asked.worth,
        goes_on=question.goes_on,
    )


def _related(index: LexicalIndex, question: Question) -> Floats | None:
    """Return how well words match that stand for the question's; None when none is anywhere."""
    held = bm25.held(index, question.related) if question.related else None
    return bm25.of_places(index, held) if held and held.terms else None


def _pairs(
    index: LexicalIndex,
    asked: bm25.Held,
    question: Question,
    places: Ints,
    own: NDArray[np.intp],
) -> dict[str, Floats]:
    """Return how many neighbouring words of the question stand together, and of what it quotes."""
    pairs = np.zeros(len(places), np.float32)
    # Only the repetition of a word is a pair in a record that holds one of them.
    repeats = len(set(question.terms)) < len(question.terms)
    several = (own >= (1 if repeats else 2)).nonzero()[0]
    pairs[several] = together(index, asked, [question.terms], places[several])
    if not question.phrases:
        return {"pairs": pairs}
    quoted = bm25.held(index, chain.from_iterable(question.phrases))
    return {"pairs": pairs, "phrase": together(index, quoted, question.phrases, places)}


def _file_names(index: LexicalIndex, files: Sequence[str]) -> Floats:
    """Return 1 for each place that names one of the files, by its whole name."""
    names = [whole for path in files for whole in words(PurePath(path).name)[:1]]
    held = np.zeros(len(index) + 1, np.float32)
    for places, _ in index.postings(index.term_ids(map(stem, names))):
        held[places] = 1
    alive: Floats = held * index.columns["alive"].all
    return alive


def _session_signals(index: LexicalIndex, places: Ints, sessions: Floats) -> dict[str, Floats]:
    sizes, _ = index.session_sizes()
    mine = index.columns["session"].all[places]
    return {"session": sessions[mine] * np.minimum(1, LONG_SESSION / sizes[mine])}


def _person_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    if question.person is None:
        return {}
    theirs = index.columns["speaker"].all[places] == index.people.speakers[question.person]
    return {
        "speaker": theirs.astype(np.float32),
        "speaker_self": theirs * index.columns["first"].all[places],
        "to_speaker": ~theirs * index.columns["second"].all[places],
    }


def _time_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    times = {}
    if question.months or question.years:
        months, years = index.columns["month"].all[places], index.columns["year"].all[places]
        times["month"] = said_when(question, months, years)
    if question.days:
        times["day"] = said_on(question, index.columns["day"].all[places])
    if question.latest:
        times["recent"] = newness(index.columns["day"].all[places])
    return times


def _kind_signals(index: LexicalIndex, question: Question, places: Ints) -> dict[str, Floats]:
    names = ("place", "cost", "instruction", "preference", "question")
    place, cost, instruction, preference, asks = [index.columns[name].all[places] for name in names]
    opening = np.exp(-place / OPENING)
    kinds = {
        "instruction": instruction,
        "preference": preference,
        "question": asks,
        "opening": opening,
        "long": length(cost),
    }
    if question.goes_on:
        answers = index.people.speakers.get("assistant", NOBODY)
        kinds["worked_out"] = index.columns["speaker"].all[places] == answers
    if question.shape:
        kinds["shape"] = index.columns[question.shape].all[places]
    if question.broad:
        kinds["opening_broad"] = opening
    return kinds


def _dense_signals(index: LexicalIndex, places: Ints, meaning: Floats | None) -> dict[str, Floats]:
    if meaning is None:
        return {}
    around = (
        meaning[index.columns["previous"].all[places]] + meaning[index.columns["next"].all[places]]
    )
    return {"dense": meaning[places], "dense_near": around / 2}

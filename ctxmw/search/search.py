"""Finds what an answer needs among everything a user has stored.

The question is read, every candidate is rated by its signals (words, neighbours, session, people,
times, and meaning when there is an embedder), and the best are brought as items in the order in
which a budget should be spent on them: by expected evidence per token. Long texts come with the
passage that matches.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CtxmwError
from ..protocols import Store, TokenCounter
from ..runtime.deadline import LATE, Aside, Deadline, Late
from ..runtime.telemetry import Faults
from ..store.journal import Feed
from ..text.terms import stems
from ..text.topics import TOPIC
from ..values.items import Item
from ..values.situation import Rating, Situation, Weights
from .lexical.index import Bools, Floats, Ints, LexicalIndex
from .per_user import Indexes
from .question import Filter, Question, analyse, rows_allowed
from .ranking.candidates import CHEAP, Candidate, gain, least, length, spread
from .ranking.near_duplicates import shared
from .ranking.signals import Signals, signals
from .ranking.weights import reads_sentences, weights_for
from .reading import LONG, SHARE, Passages, ReadRecord, longest_passage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .feedback import Sway
    from .vectors.dense import Dense, Near

log = logging.getLogger("ctxmw")

GOOD_MATCH = 0.6
"""The match by meaning with which a remark brings something."""
MARGIN = 1.15
"""Records are read until they would cost this many times what there is to spend."""
WEAK = 0.4
"""A record that stands alone is left out when it matches less than this share of the best."""
ALONE = 0.1
"""The same where every record must match by itself: its share of the best match by words."""
NEAR = 0.5
"""... unless it is as near in meaning as this."""
ECHO = 0.9
"""The match from which on a question of the user's is the one that is asked."""
TO_A_QUESTION = 2.0
"""By how much less than others the answer may bring to a question that is shown, as a logarithm."""
NEAREST = 1000
"""How many records the dense leg proposes."""
COMPARED = 100
"""How many new records are compared one by one with a text; more are left to the store."""
RARE = 5
"""A name in so few records, or in one of fifty, tells them from others."""
OWN = 20
"""The same of a thing that is somebody's own, and spoken of again and again."""
FEWEST, READ = 30, 150
"""How many records are read from the store for one question ..."""
IF_SHORT = 10
"""... and how many long ones besides, of which little may have to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, in the order in which tokens should be spent on it."""

    items: tuple[Item, ...] = ()
    opens: bool = False
    """Whether the question asks for anything that is here; "thanks!" does not."""
    named: bool = False
    """Whether it names a time, or somebody or something known by name: then a weak match is
    enough."""
    too_little: frozenset[str] = frozenset()
    """Refs of what is not worth its tokens: it is told in the record, and not shown."""
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Refs of what is there for its neighbours alone, each with those that hold the words."""
    fault: str = ""
    """What did not work, such as the embedder; search went on without it."""


class Search:
    """Search over one store."""

    def __init__(
        self,
        store: Store,
        count: TokenCounter,
        *,
        dense: Dense | None = None,
        aside: Aside | None = None,
        feed: Feed | None = None,
        faults: Faults | None = None,
    ) -> None:
        self._store = store
        self._count = count
        self._faults = faults or Faults()
        self._indexes = Indexes(store, feed, self._faults)
        self._dense = dense
        embedder = dense.vectors.embedder if dense else ""
        self._weights = weights_for(embedder)
        self._by_sentences = reads_sentences(embedder)
        self._aside = aside or Aside()
        self._missing = ""
        """The fault of the last search by meaning, which is not logged twice."""

    def near_offers(
        self, texts: tuple[str, ...], sentences: Sequence[str], deadline: Deadline | None
    ) -> Floats | None:
        """Return how near texts of the application are to sentences; None: words alone tell."""
        offered = self._dense.offered if self._dense else None
        if offered is None:
            return None
        try:
            return self._aside.call(partial(offered.near, texts, sentences), deadline, "offers")
        except Late:
            self._fault("offers", LATE)
        except CtxmwError as error:
            self._fault("offers", type(error).__name__)
        return None

    def find(self, situation: Situation, weights: Weights, wanted: Filter | None = None) -> Found:
        """Return what answers the situation's query."""
        chosen = wanted or Filter()
        if not self._in_time(situation.user, chosen):
            return Found(fault=self._fault("words", LATE))
        near, fault = self._near(situation, chosen.deadline)
        with self._indexes.use(situation.user, chosen.head) as kept:
            index = kept.index
            question = analyse(situation.query, index.people, situation.now)
            findable = rows_allowed(index, situation, chosen)
            if not findable.any() or _asks_nothing(question, near):
                return Found(fault=fault)
            dense = _by_place(index, near)
            rated = signals(index, question, findable, dense=dense, files=situation.files)
            best = self._best(index, rated, chosen, near)
            named = _names_somebody_or_a_time(question)
            named = named or _knows_one_of(index, question.names, findable, most=RARE)
            told = findable & (index.columns["user"].all[:-1] > 0)
            theirs = _knows_one_of(index, question.own, told, most=OWN)
            of_kind = _knows_one_of(index, question.kinds, findable, most=OWN)
            read = kept.readings.read(
                self._store, situation.user, list(best), self._count, self._faults
            )
        longest = longest_passage(chosen.tokens)
        passages = Passages(worth=rated.worth, longest=longest, count=self._count)
        read = [one for one in read if one.lists or not best[one.item.ref].if_it_lists]
        enough = self._enough(chosen)
        best = _at_their_cost(best, read, passages, enough=enough, long=self._weights.long)
        read.sort(key=lambda one: (-best[one.item.ref].gain, one.only_calls))
        if not chosen.lessons:
            read = _turns_for_lessons(read)
        items = _items(Rating.of(situation, weights), read, best, passages)
        too_little = frozenset(ref for ref, candidate in best.items() if not candidate.pays)
        return Found(
            items=tuple(items),
            opens=_opens(question, best.values(), theirs=theirs, of_kind=of_kind),
            named=named or of_kind,
            too_little=too_little,
            beside={ref: hit.beside for ref, hit in best.items() if hit.beside},
            fault=fault,
        )

    def on_topics(
        self, situation: Situation, topics: Collection[str], most: int, wanted: Filter
    ) -> list[ReadRecord]:
        """Return records that speak of one of these topics: of most of them first, then newest."""
        if not self._in_time(situation.user, wanted):
            return []
        with self._indexes.use(situation.user, wanted.head) as kept:
            index = kept.index
            findable = rows_allowed(index, situation, wanted)
            held = np.zeros(len(findable), np.int32)
            named = index.term_ids(stems([TOPIC + topic for topic in topics]))
            for holding, _ in index.postings(named):
                held[holding] += 1
            places = np.flatnonzero(findable & (held > 0))
            chosen = places[np.lexsort((-places, -held[places]))[:most]].astype(np.int32)
            refs = index.refs(chosen)
            return kept.readings.read(self._store, situation.user, refs, self._count, self._faults)

    def read(self, user: str, refs: Collection[str], head: int | None = None) -> list[Item]:
        """Return those of these records that exist, as items: most were read before."""
        with self._indexes.use(user, head) as kept:
            read = kept.readings.read(self._store, user, sorted(refs), self._count, self._faults)
        return [reading.item for reading in read]

    def alike(
        self, user: str, terms: Collection[str], least: float, *, kind: str, scope: str
    ) -> list[str] | None:
        """Return the refs of records that share so much of their terms, the nearest first.

        None when no index is at hand that could tell. What was written since it was last used is
        compared one by one.
        """
        from .ranking.near_duplicates import alike

        with self._indexes.at_hand(user) as kept:
            if kept is None:
                return None
            index, since = kept.value.index, kept.seq
            found = alike(index, terms, least, kind=kind, scope=scope)
        changes = self._store.changes(user, since, (kind,))
        if len(changes) > COMPARED:
            return None
        for change in changes:
            found.pop(change.ref, None)
        for row in self._store.get(user, [change.ref for change in changes if not change.gone]):
            if row.live and row.scope == scope:
                found[row.ref] = shared(terms, stems(row.search_text.split()))
        near = sorted(found, key=lambda ref: found[ref], reverse=True)
        return [ref for ref in near if found[ref] >= least]

    def run_out(self, user: str, now: datetime, head: int | None = None) -> list[str]:
        """Return the refs of what has run out by now, what was written last first."""
        with self._indexes.use(user, head) as kept:
            index = kept.index
            over = index.columns["until"].all[:-1] <= now.timestamp()
            over &= index.columns["alive"].all[:-1] > 0
            return index.refs(np.flatnonzero(over)[::-1].astype(np.int32))

    def follow(self, user: str) -> None:
        """Take in what was just written, so that the next search need not."""
        # It is written already: a store that fails now is for the next search to report.
        with suppress(CtxmwError):
            self._indexes.follow(user)

    def let_go(self, user: str) -> None:
        """Keep nothing at hand of what the user's searches have read: it is read again."""
        self._indexes.let_go(user)

    def _in_time(self, user: str, wanted: Filter) -> bool:
        """Say whether the index can be used: making it may take longer than there is time."""
        if wanted.deadline is None:
            return True
        if not wanted.deadline.left():
            return False
        if self._indexes.is_at_hand(user, wanted.head):
            return True
        try:
            self._aside.call(
                lambda: self._indexes.make_ready(user), wanted.deadline, f"words of {user}"
            )
        except Late:
            return False
        return True

    def _near(
        self, situation: Situation, deadline: Deadline | None
    ) -> tuple[Mapping[str, Near], str]:
        dense, user, query = self._dense, situation.user, situation.query
        if dense is None or not query.strip():
            return {}, ""
        try:
            in_haste = deadline is not None
            ask = partial(dense.near, user, query, NEAREST, in_haste=in_haste)
            near = self._aside.call(ask, deadline, "meaning")
        except Late:
            return {}, self._fault("meaning", LATE)
        except (CtxmwError, OSError) as error:
            return {}, self._fault("meaning", type(error).__name__, error)
        self._missing = ""
        return near, ""

    def _fault(self, leg: str, what: str, error: Exception | None = None) -> str:
        """Count what did not work, and return what the record says of it."""
        self._faults.stats.count(f"degraded.{leg}.{what}")
        fault = f"{leg}: {what}"
        if fault != self._missing:
            self._missing = fault
            log.warning("searching without %s: %s", leg, error or "there was no answer in time")
        return fault

    def _best(
        self, index: LexicalIndex, rated: Signals, wanted: Filter, near: Mapping[str, Near]
    ) -> dict[str, Candidate]:
        """Return the candidates in the order in which tokens should be spent on them."""
        counts = rated.counts(self._weights)
        whole, longest = index.columns["cost"].all[rated.places], longest_passage(wanted.tokens)
        costs = np.where(whole > LONG, np.minimum(whole * SHARE, longest), whole)
        touched = rated.touched()
        rank = rated.rank(counts)
        if wanted.moved:
            rank = rank + _by_place_among(index, rated.places, wanted.moved)
        gains = gain(rank, costs, touched & ~_echoes(index, rated))
        if rated.goes_on:
            gains = spread(gains, _conversations(index, rated.places))
        # What is in view says that there is less left to find, and is not found again.
        touched &= ~_at(index, index.places(wanted.without))[rated.places]
        # Of those worth the same, what was written last goes first.
        order = np.lexsort((-rated.places, -gains))
        order = order[touched[order]]
        enough_gain = self._enough(wanted)
        pays = gains >= enough_gain
        pays |= (gains >= enough_gain - TO_A_QUESTION) & _answers(index, rated.places, pays)
        enough = int(costs[order].cumsum().searchsorted(MARGIN * wanted.tokens)) + 1
        enough = min(enough, READ, int(np.count_nonzero(pays[order])))
        chosen = order[: max(FEWEST, enough)]
        beyond = _best_if_short(rank - self._weights.long * length(whole), whole, order)
        beyond = beyond[~np.isin(beyond, chosen)]
        chosen = np.concatenate([chosen, beyond])
        if wanted.alone:
            chosen = chosen[_by_itself(rated)[chosen]]
        elif wanted.worthwhile:
            chosen = chosen[_worthwhile(index, rated)[chosen]]
        refs = index.refs(rated.places[chosen])
        dense = [near[ref].match if ref in near else 0.0 for ref in refs]
        columns = (
            np.maximum(rated.match[chosen], dense).tolist(),
            _with_opinions(rated.reasons(chosen, counts), refs, wanted.moved),
            rated.subject[chosen].tolist(),
            dense,
            pays[chosen].tolist(),
            _beside(index, rated, chosen),
            gains[chosen].tolist(),
            whole[chosen].tolist(),
            costs[chosen].tolist(),
            np.isin(chosen, beyond).tolist(),
        )
        return dict(zip(refs, map(Candidate, *columns), strict=True))

    def _enough(self, wanted: Filter) -> float:
        """Return from which gain on a hit is worth its tokens."""
        return least(wanted.appetite, by_sentences=self._by_sentences)


def _at_their_cost(
    best: Mapping[str, Candidate],
    read: Sequence[ReadRecord],
    passages: Passages,
    *,
    enough: float,
    long: float,
) -> dict[str, Candidate]:
    """Return the candidates, rated by what is shown of them where that is a few lines.

    Of a long record that lists many things, little has to do with a question: it costs what its
    passage does, and counts as being as long as that; `long` is what length counts. What a tool
    answered says more than that it was called.
    """
    known = dict(best)
    answered: dict[object, float] = {}
    for reading in read:
        ref, candidate = reading.item.ref, best[reading.item.ref]
        if reading.lists and candidate.as_shown(CHEAP, long).gain >= enough:
            candidate = candidate.as_shown(passages.tokens(reading), long)
            known[ref] = candidate._replace(pays=candidate.pays or candidate.gain >= enough)
        if reading.is_output:
            before = answered.get(reading.item.exchange, candidate.gain)
            answered[reading.item.exchange] = max(before, candidate.gain)
    for reading in read:
        if reading.only_calls and reading.item.exchange in answered:
            ref, most = reading.item.ref, answered[reading.item.exchange]
            known[ref] = known[ref]._replace(gain=min(known[ref].gain, most))
    return known


def _best_if_short(rank: Floats, tokens: Floats, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the long candidates that would be the best if they cost little, as data does."""
    long = order[tokens[order] > LONG]
    return long[np.argsort(-rank[long], kind="stable")[:IF_SHORT]]


def _items(
    rating: Rating,
    read: Sequence[ReadRecord],
    best: Mapping[str, Candidate],
    passages: Passages,
) -> list[Item]:
    """Return what was read as items; of several that say the same, the first.

    A question that was asked again stays where its answer does, or that would seem to answer
    whatever was asked before.
    """
    distinct: dict[str, ReadRecord] = {}
    for reading in read:
        distinct.setdefault(reading.plain, reading)
    shown = [one.item for one in distinct.values() if best[one.item.ref].pays]
    answered = {one.exchange for one in shown if not one.is_question}
    found = [
        (reading, best[reading.item.ref])
        for reading in read
        if distinct[reading.plain] is reading
        or (reading.item.is_question and reading.item.exchange in answered)
    ]
    return [
        rating.matched(
            reading.item,
            candidate.match,
            candidate.reasons,
            passages.of(reading) if candidate.pays else "",
        )
        for reading, candidate in found
    ]


def _turns_for_lessons(read: Sequence[ReadRecord]) -> list[ReadRecord]:
    """Return what was read with turns in the place of what was learned from them.

    Both say the same, and the turn says more; where the turn was not found, the lesson stays. Of
    several turns the best comes first.
    """
    learned = [reading for reading in read if reading.item.origins]
    if not learned:
        return list(read)
    found = {reading.item.ref: at for at, reading in enumerate(read)}
    kept: dict[str, ReadRecord] = {}
    for reading in read:
        places = sorted(found[ref] for ref in reading.item.origins if ref in found)
        turns = [read[at] for at in places]
        for one in turns or [reading]:
            kept.setdefault(one.item.ref, one)
    return list(kept.values())


def _worthwhile(index: LexicalIndex, rated: Signals) -> Bools:
    """Say of each candidate whether it is worth its tokens.

    A turn may be evidence for what stands around it. A record that stands alone must say it
    itself, and not much less of it than the best.
    """
    least = WEAK * rated.match.max(initial=0)
    in_talk = index.session_sizes()[0][index.columns["session"].all[rated.places]] > 1
    worthwhile: Bools = in_talk | (rated.match >= least) | rated.above("dense", NEAR)
    return worthwhile


def _by_itself(rated: Signals) -> Bools:
    """Say of each candidate whether it matches by itself, and not much less than the best.

    Words that only stand for those of the question count where none of these is found.
    """
    by_words = rated.beside_best("words", ALONE)
    enough: Bools = by_words | rated.above("dense", NEAR) | rated.above("files", 0)
    return enough if enough.any() else rated.beside_best("related", ALONE)


def _conversations(index: LexicalIndex, places: Ints) -> Ints:
    """Return the conversation of each place; of what somebody always wants, none."""
    wants = index.columns["instruction"].all[places] + index.columns["preference"].all[places]
    of: Ints = np.where(wants > 0, -1, index.columns["session"].all[places])
    return of


def _echoes(index: LexicalIndex, rated: Signals) -> Bools:
    """Say of each candidate whether it only asked the same before.

    Nothing matches better, and nothing is known by it: it must not make all else look unlikely.
    """
    asked = (
        index.columns["question"].all[rated.places] * index.columns["user"].all[rated.places] > 0
    )
    echoes: Bools = asked & (rated.match >= ECHO)
    return echoes


def _answers(index: LexicalIndex, places: Ints, pays: Bools) -> Bools:
    """Say of each candidate whether it answers a user's question that is shown."""
    asked = pays & (index.columns["question"].all[places] * index.columns["user"].all[places] > 0)
    found: Bools = _at(index, places[asked])[index.columns["previous"].all[places]]
    return found


def _at(index: LexicalIndex, places: Ints) -> Bools:
    """Say of every place, and behind them of "no such record", whether it is one of these."""
    found = np.zeros(len(index) + 1, bool)
    found[places] = True
    found[-1] = False
    return found


def _beside(index: LexicalIndex, rated: Signals, chosen: NDArray[np.intp]) -> list[frozenset[str]]:
    """Return, for candidates that have nothing of the question, the neighbours that have.

    An answer is there for itself, whatever words it is put in.
    """
    own = rated.above("words", 0) | rated.above("related", 0) | rated.above("files", 0)
    own |= rated.above("phrase", 0) | rated.above("dense", NEAR)
    holds = _at(index, rated.places[own])
    before, after = index.columns["previous"].all, index.columns["next"].all
    places = rated.places[chosen]
    around = np.array([before[places], after[places]])
    around = np.concatenate([around, [before[around[0]], after[around[1]]]])
    answers = holds[around[0]] & (index.columns["question"].all[around[0]] > 0)
    of_others = ~own[chosen] & ~answers
    return [
        frozenset(index.refs(near[holds[near]])) if alone else frozenset()
        for alone, near in zip(of_others, around.T, strict=True)
    ]


def _by_place(index: LexicalIndex, near: Mapping[str, Near]) -> Floats | None:
    if not near:
        return None
    dense = np.zeros(len(index), np.float32)
    for ref, found in near.items():
        place = index.place(ref)
        if place >= 0:
            dense[place] = found.rank
    return dense


def _by_place_among(index: LexicalIndex, places: Ints, moved: Mapping[str, Sway]) -> Floats:
    """Return by how much each of these places is moved."""
    here = np.zeros(len(index) + 1, np.float32)
    # What is not here goes where no record stands.
    here[index.places(moved)] = [rated + used for rated, used in moved.values()]
    found: Floats = here[places]
    return found


def _with_opinions(
    reasons: Sequence[tuple[tuple[str, float], ...]],
    refs: Sequence[str],
    moved: Mapping[str, Sway],
) -> list[tuple[tuple[str, float], ...]]:
    """Return why each hit is where it is, what people said of it first."""
    return [
        (*moved[ref].reasons(), *why) if ref in moved else why
        for ref, why in zip(refs, reasons, strict=True)
    ]


def _asks_nothing(question: Question, near: Mapping[str, Near]) -> bool:
    return not (question.terms or near or _names_somebody_or_a_time(question))


def _knows_one_of(
    index: LexicalIndex, terms: frozenset[str], findable: Bools, *, most: int
) -> bool:
    """Say whether one of these words is in few records, and so tells them from all others."""
    few = max(most, len(index) // 50)
    held = index.postings(index.term_ids(terms))
    return any(findable[places].any() for places, _ in held if len(places) <= few)


def _names_somebody_or_a_time(question: Question) -> bool:
    return bool(question.person or question.months or question.days or question.years)


def _opens(
    question: Question, found: Collection[Candidate], *, theirs: bool, of_kind: bool
) -> bool:
    """Say whether the question asks for anything that is here.

    Somebody or some time that is named is asked for. Else its subject must occur: with one word
    when something is asked, or when it is said of something of one's own that is known, with two in
    one record when it is only said, or when the question is about the one who answers. Or something
    of the kind that is asked for is known, or near in meaning.
    """
    if _names_somebody_or_a_time(question):
        return bool(question.subject or question.asks) and bool(found)
    if of_kind and not question.to_you:
        return bool(found)
    if not question.subject:
        return False
    enough = 1 if theirs or (question.asks and not question.to_you) else 2
    return any(hit.subject >= enough or hit.dense >= GOOD_MATCH for hit in found)

"""Finds what an answer needs among everything a user has stored.

The question is read, every candidate is rated by its signals (words, neighbours, session, people,
times, and meaning when there is an embedder), and the best are brought as items in the order in
which a budget should be spent on them: by expected evidence per token. Long texts come with the
passage that matches.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from .dense import Dense, Near
from .errors import CtxmwError
from .indexes import SEARCHED, Indexes
from .items import Item, Scope
from .lexical import Bools, Floats, LexicalIndex
from .passages import passage
from .protocols import Store, TokenCounter
from .question import Question, analyse
from .rank_weights import RankWeights
from .scoring import Weights, matched
from .signals import Signals, signals
from .situation import Situation
from .sources.sessions import row_item

log = logging.getLogger("ctxmw")

CHEAP = 30
"""Tokens below which a record does not get cheaper: a short line is no evidence for being short."""
LONG = 200
"""Records of more tokens are shown as a passage ..."""
PASSAGE = 0.5
"""... of at most this share of their tokens."""
GOOD_MATCH = 0.6
"""The match with which a remark that asks nothing brings something."""
MARGIN = 1.5
"""Records are read until they would cost this many times what there is to spend."""
WEAK = 0.4
"""A record that stands alone is left out when it matches less than this share of the best."""
NEAR = 0.5
"""... unless it is as near in meaning as this."""
AT_HAND = 20_000
"""How many records of a user are kept at hand once they were read."""
NEAREST = 1000
"""How many records the dense leg proposes."""
LEAST, READ = 30, 150
"""How many records are read from the store for one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records may be found."""

    types: tuple[str, ...] = SEARCHED
    scopes: tuple[str, ...] | None = None
    """None: those that hold in the situation's project and language. Empty: all."""
    since: datetime | None = None
    without: frozenset[str] = frozenset()
    """Refs that are in view already."""
    own: tuple[str, int] | None = None
    """The present conversation, and how many messages of it the caller sends along: when those are
    all there are, its turns are in view, and must not stand in the way of what is not."""
    worthwhile: bool = False
    """Whether records that stand alone and match much less than the best are left out."""
    tokens: int = 2000
    """What there is to spend; little more than that is read from the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, in the order in which tokens should be spent on it."""

    items: tuple[Item, ...] = ()
    opens: bool = False
    """Whether the question asks for anything that is here; "thanks!" does not."""
    named: bool = False
    """Whether it names somebody who speaks, or a time: then a weak match is enough."""
    matching: frozenset[str] = frozenset()
    """Refs of what matches by itself, and not only through its neighbours."""
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
        weights: RankWeights | None = None,
    ) -> None:
        self._store = store
        self._count = count
        self._indexes = Indexes(store)
        self._dense = dense
        self._weights = weights or RankWeights()

    def find(self, situation: Situation, weights: Weights, wanted: Wanted | None = None) -> Found:
        """Return what answers the situation's query."""
        chosen = wanted or Wanted()
        near, fault = self._near(situation)
        with self._indexes.use(situation.user) as index:
            question = analyse(situation.query, index.people, situation.now)
            among = _among(index, situation, chosen)
            if not among.any() or _asks_nothing(question, near):
                return Found(fault=fault)
            dense = _by_place(index, near)
            rated = signals(index, question, among, dense=dense, files=situation.files)
            best = self._best(index, rated, chosen, near)
            worth = _worth(index, question)
            read = self._read(situation.user, index, best)
        items = self._items(situation, weights, read, best, worth)
        return Found(
            items=tuple(items),
            opens=_opens(items, question, worth),
            named=_names_somebody_or_a_time(question),
            matching=frozenset(ref for ref, candidate in best.items() if candidate.by_itself),
            fault=fault,
        )

    def _near(self, situation: Situation) -> tuple[Mapping[str, Near], str]:
        if self._dense is None or not situation.query.strip():
            return {}, ""
        try:
            return self._dense.near(situation.user, situation.query, NEAREST), ""
        except (CtxmwError, OSError) as error:
            log.warning("searching by words alone: %s", error)
            return {}, f"meaning: {type(error).__name__}"

    def _best(
        self, index: LexicalIndex, rated: Signals, wanted: Wanted, near: Mapping[str, Near]
    ) -> dict[str, _Candidate]:
        """Return the candidates in the order in which tokens should be spent on them."""
        ranks = rated.rank(self._weights)
        costs = index.column("cost")[rated.places]
        order = np.argsort(np.log(np.maximum(costs, CHEAP)) - ranks, kind="stable")
        order = order[rated.touched()[order]]
        shown = np.where(costs > LONG, costs * PASSAGE, costs)[order]
        enough = int(np.searchsorted(np.cumsum(shown), MARGIN * wanted.tokens)) + 1
        chosen = order[: max(LEAST, min(enough, READ))]
        if wanted.worthwhile:
            chosen = chosen[_worthwhile(index, rated)[chosen]]
        reasons, own = rated.reasons(chosen, self._weights), rated.by_itself()
        refs = [index.refs[rated.places[at]] for at in chosen]
        return {
            ref: _Candidate(
                match=max(float(rated.match[at]), near[ref].match if ref in near else 0.0),
                reasons=why,
                by_itself=bool(own[at]),
            )
            for at, ref, why in zip(chosen, refs, reasons, strict=True)
        }

    def _read(self, user: str, index: LexicalIndex, refs: Collection[str]) -> list[Item]:
        """Return the records of these refs; those read before and not changed since are at hand."""
        missing = [ref for ref in refs if ref not in index.read]
        if len(index.read) > AT_HAND:
            index.read.clear()
            missing = list(refs)
        for row in self._store.get(user, missing) if missing else ():
            index.read[row.ref] = row_item(row)
        return [index.read[ref] for ref in refs if ref in index.read]

    def _items(
        self,
        situation: Situation,
        weights: Weights,
        read: Sequence[Item],
        best: Mapping[str, _Candidate],
        worth: Mapping[str, float],
    ) -> list[Item]:
        said: set[str] = set()
        items = []
        for item in read:
            plain = " ".join(item.text.casefold().split())
            if plain not in said:
                said.add(plain)
                found = best[item.ref]
                items.append(
                    matched(
                        item,
                        situation,
                        weights,
                        match=found.match,
                        reasons=found.reasons,
                        passage=self._passage(item.text, worth),
                    )
                )
        return items

    def _passage(self, text: str, worth: Mapping[str, float]) -> str:
        """Return what a long text is shown as; "" for one that is short enough."""
        if len(text) <= LONG:  # a character is at least a byte, and a token at least that
            return ""
        size = self._count(text)
        return passage(text, worth, size * PASSAGE, self._count) if size > LONG else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    match: float
    reasons: tuple[tuple[str, float], ...]
    by_itself: bool


def _worthwhile(index: LexicalIndex, rated: Signals) -> Bools:
    """Say of each candidate whether it is worth its tokens.

    A turn may be evidence for what stands around it. A record that stands alone must say it
    itself, and not much less of it than the best.
    """
    least = WEAK * rated.match.max(initial=0)
    in_talk = index.session_sizes()[0][index.column("session")[rated.places]] > 1
    near = rated.values["dense"] > NEAR if "dense" in rated.values else False
    worthwhile: Bools = in_talk | (rated.match >= least) | near
    return worthwhile


def _among(index: LexicalIndex, situation: Situation, wanted: Wanted) -> Floats:
    """Return 1 for every place that may be found, 0 for the others."""
    among: Floats = index.column("alive")[:-1].copy()
    among *= np.isin(index.column("type")[:-1], [index.number("type", t) for t in wanted.types])
    scopes = _scopes(situation) if wanted.scopes is None else wanted.scopes
    if scopes:
        numbers = [index.number("scope", name) for name in scopes]
        among *= np.isin(index.column("scope")[:-1], numbers)
    if wanted.since is not None:
        among *= index.column("day")[:-1] >= wanted.since.toordinal()
    if wanted.own is not None:
        session, sent = wanted.own
        own = (index.column("session")[:-1] == index.number("session", session)) & (among > 0)
        if own.sum() <= sent:
            among[own] = 0
    for ref in wanted.without:
        if ref in index.places:
            among[index.places[ref]] = 0
    return among


def _scopes(situation: Situation) -> tuple[str, ...]:
    scopes = [Scope()]
    if situation.project:
        scopes.append(Scope("project", situation.project))
    if situation.language:
        scopes.append(Scope("language", situation.language))
    return tuple(map(str, scopes))


def _by_place(index: LexicalIndex, near: Mapping[str, Near]) -> Floats | None:
    if not near:
        return None
    dense = np.zeros(len(index), np.float32)
    for ref, found in near.items():
        place = index.places.get(ref)
        if place is not None:
            dense[place] = found.rank
    return dense


def _asks_nothing(question: Question, near: Mapping[str, Near]) -> bool:
    return not (question.terms or near or _names_somebody_or_a_time(question))


def _worth(index: LexicalIndex, question: Question) -> dict[str, float]:
    known = index.vocabulary
    return {term: index.rarity(known[term]) for term in question.terms if term in known}


def _names_somebody_or_a_time(question: Question) -> bool:
    return bool(question.person or question.months or question.days or question.years)


def _opens(items: Sequence[Item], question: Question, worth: Mapping[str, float]) -> bool:
    """Say whether the question asks for anything that is here.

    Somebody or some time that is named is asked for. Else its subject must occur: with two of its
    words, or with one when it is put as a question, or when the match is good.
    """
    if _names_somebody_or_a_time(question):
        return bool(question.subject or question.asks) and bool(items)
    best = max((item.match or 0 for item in items), default=0.0)
    known = [term for term in question.subject if term in worth]
    if not known:
        return bool(question.subject) and best >= GOOD_MATCH
    return len(known) > 1 or question.asks or best >= GOOD_MATCH

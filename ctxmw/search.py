"""Finds the records that answer a question.

The store proposes rows that share words with the question; here each is matched by the share of
the question's words it covers, rare words counting more. Statistics are the user's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from .items import Item, Scope
from .protocols import Find, Row, Store
from .records import Record, load
from .scoring import Weights, score, with_match
from .situation import Situation
from .sources.sessions import row_item
from .text import words

SEARCHED = ("memory", "observation", "summary", "note", "turn")
QUERY_CHARS = 4_000
"""A question is read up to here."""
CANDIDATES = 200
"""Rows the store proposes."""
RATED = 60
"""Of these, the best by match are read and rated."""

_SAYS_NOTHING = """
a about all also am an and any are as at be been being but by can could did do does doing done for
from get give go had has have he her here hers him his how i if in into is it its just let lets like
me more most my no not now of off ok okay on one or our out over please really say she should so
some such tell than thank thanks that the their them then there these they thing this those to too
us up use very want was we were what when where which who why will with would yes you your
"""
STOP_WORDS = frozenset(_SAYS_NOTHING.split())


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the question and its parts: AuthService is also auth and service."""

    whole: str
    parts: tuple[str, ...]

    def covered_by(self, held: frozenset[str]) -> float:
        """Return 1 when the word is held, else the share of its parts that is."""
        if self.whole in held:
            return 1.0
        return sum(part in held for part in self.parts) / len(self.parts) if self.parts else 0.0


def terms_of(query: str) -> list[Term]:
    """Return what the question asks for, without words that say nothing."""
    found: dict[str, Term] = {}
    for token in query[:QUERY_CHARS].split():
        whole, *parts = words(token) or [""]
        if whole and whole not in STOP_WORDS:
            found.setdefault(whole, Term(whole, tuple(parts)))
    return list(found.values())


def search(
    store: Store, situation: Situation, weights: Weights, find: Find | None = None
) -> list[Item]:
    """Return what shares words with the situation's query, best first.

    Without `find`, only what is in scope; with it, whatever it asks for.
    """
    asked = find or Find(types=SEARCHED)
    asked_words = [word for term in terms_of(situation.query) for word in (term.whole, *term.parts)]
    rows = store.search(situation.user, asked_words, replace(asked, limit=CANDIDATES))
    held = {row.ref: frozenset(row.search_text.split()) for row, _ in rows}
    rate = matcher(situation.query, held.values(), store.count(situation.user, asked))
    if rate is None:
        return []
    match = {ref: rate(words) for ref, words in held.items()}
    here = [row for row, _ in rows if match[row.ref] and (find or _here(row, situation))]
    best = sorted(here, key=lambda row: -match[row.ref])[:RATED]
    items = [score(row_item(row), situation, weights) for row in best]
    found = [with_match(item, match[item.ref]) for item in items]
    return sorted(found, key=lambda item: (-item.score, item.ref))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found, and why."""

    ref: str
    text: str
    score: float
    why: str
    record: Record


def hits_of(store: Store, items: Sequence[Item], user: str) -> list[Hit]:
    """Return items as hits, with their records."""
    records = {row.ref: load(row) for row in store.get(user, [item.ref for item in items])}
    return [
        Hit(
            ref=item.ref,
            text=item.text,
            score=item.score,
            why=", ".join(f"{name} {value:.2f}" for name, value in item.reasons),
            record=records[item.ref],
        )
        for item in items
        if item.ref in records
    ]


def matcher(
    query: str, held: Collection[frozenset[str]], total: int | None = None
) -> Callable[[frozenset[str]], float] | None:
    """Return what rates a text's words by the share of the query it covers; None: nothing asked.

    `held` are the words of the candidates, `total` how many texts there are to choose from.
    """
    terms = terms_of(query)
    if not terms:
        return None
    worth = _worth(terms, held, len(held) if total is None else total)
    return lambda words: _match(terms, worth, words)


def _here(row: Row, situation: Situation) -> bool:
    scope = Scope.parse(row.scope)
    return scope.admits(project=situation.project, language=situation.language)


def _worth(terms: Sequence[Term], held: Collection[frozenset[str]], total: int) -> dict[str, float]:
    """Return how much each term says: the fewer records hold it, the more."""
    counts = {term.whole: sum(term.covered_by(texts) > 0 for texts in held) for term in terms}
    return {whole: math.log(1 + (total + 1) / (n + 0.5)) for whole, n in counts.items()}


def _match(terms: Sequence[Term], worth: dict[str, float], held: frozenset[str]) -> float:
    total = sum(worth.values())
    return sum(term.covered_by(held) * worth[term.whole] for term in terms) / total

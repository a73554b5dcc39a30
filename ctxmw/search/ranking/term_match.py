"""How much of a query a text covers, for the few texts of a catalog: rare words count more."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ...text.cleaning import words
from ...text.lexicon import STOP_WORDS
from ...text.terms import QUERY_CHARS


def matcher(
    query: str, held: Collection[frozenset[str]]
) -> Callable[[frozenset[str]], float] | None:
    """Return what rates a text's words by the share of the query it covers; None: nothing asked.

    `held` are the words of the texts there are to choose from.
    """
    terms = terms_of(query)
    if not terms:
        return None
    worth = _worth(terms, held, len(held))
    return lambda words: _match(terms, worth, words)


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


def _worth(terms: Sequence[Term], held: Collection[frozenset[str]], total: int) -> dict[str, float]:
    """Return how much each term says: the fewer records hold it, the more."""
    counts = {term.whole: sum(term.covered_by(texts) > 0 for texts in held) for term in terms}
    return {whole: math.log(1 + (total + 1) / (n + 0.5)) for whole, n in counts.items()}


def _match(terms: Sequence[Term], worth: dict[str, float], held: frozenset[str]) -> float:
    total = sum(worth.values())
    return sum(term.covered_by(held) * worth[term.whole] for term in terms) / total

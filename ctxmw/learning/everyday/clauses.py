"""A clause as subject, adverbs, verb and the rest, in lower case: what a statement is read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .lexicon import FREQUENCY

Told = Literal["preference", "fact"]
MOST_WORDS = 60
"""Words of a sentence that are read."""


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """Subject, adverbs, verb and the rest of it, in lower case."""

    subject: str
    adverbs: frozenset[str]
    negated: bool
    verb: str
    rest: Sequence[str]
    plain: str


_WORD = re.compile(r"[\w\u00a4][\w'\u00a4-]*|[,;:()]")
_NOT = frozenset(
    "not don't dont can't cant cannot won't wont doesn't couldn't wouldn't never".split()
)
_AUXILIARY = frozenset("do can will would could".split())


def words_in(plain: str) -> list[str]:
    """Return the words of a clause, and its stops."""
    return _WORD.findall(plain.replace(" no longer ", " not "))[:MOST_WORDS]


def clause_of(subject: str, words: Sequence[str], plain: str) -> SpokenClause:
    """Return a clause with what stands around its verb sorted out."""
    adverbs: set[str] = set()
    negated = False
    for at, word in enumerate(words):
        if word in _NOT:
            negated = True
            adverbs.add(word)
        elif word not in _AUXILIARY and not is_adverb(word):
            return SpokenClause(subject, frozenset(adverbs), negated, word, words[at + 1 :], plain)
        else:
            adverbs.add(word)
    return SpokenClause(subject, frozenset(adverbs), negated, "", (), plain)


_ADVERBS = FREQUENCY | frozenset(
    "really much very just also simply still even quite rather definitely now actually so truly"
    " deeply highly too both all most far either ever almost pretty particularly"
    " especially best kinda".split()
)


def is_adverb(word: str) -> bool:
    """Say whether a word only colours the one after it."""
    return word in _ADVERBS or (
        word.endswith("ly") and word not in ("rely", "apply", "fly", "reply")
    )


_POINTING = frozenset(
    "it this that these those them him her you your us one ones so what how why".split()
)


def points_back(rest: Sequence[str]) -> bool:
    """Say whether the object is something that only the conversation tells."""
    return (
        not rest
        or rest[0] in _POINTING
        or (rest[0] == "the" and len(rest) <= 2)
        or (rest[0] == "option")
    )

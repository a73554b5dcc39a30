"""Finds what an application offers for a request: tools, rules, references.

A request is rated sentence by sentence, for it often asks for several things, and a tool by how
much of what is said of *it* a sentence speaks of: the rest of a long request does not count
against it. Of thousands of tools some match any sentence by accident, so the more there are, the
better one has to match; once one does, the request is about tools, and others may match less.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..text.cleaning import words
from ..text.lexicon import STOP_WORDS
from ..text.other_words import EVERYDAY, other_words
from ..text.terms import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

K1, B = 1.2, 0.5
DETAIL = 0.5
"""What a word of the parameters counts, beside those of name and description."""
IN_OTHER_WORDS = 0.5
"""What a word counts that was not said, but something that often stands for it."""
NAMED = 0.7
"""What speaking of all of a name counts, beside all of name and description."""
ENOUGH = 1.33
"""So many rare words are match enough, however short a description is."""
FEW, MANY = (64, 0.25), (4096, 0.785)
"""How many offers there are, and how well one has to match to be called for."""
BESIDE = 0.5
"""The share of that which is enough for another, once one is called for."""
ADMITTED = 0.3
"""The match that stands for the least which is called for."""
SMALL = 512
"""Of so many offers or less, words are rare that are not: what calls for one has to be plain."""
SHARE_TOLD = 0.15
"""Plain is a sentence of whose words this share speaks of the offer, one that is not said of
everything else among them."""
MOSTLY_TOLD = 0.5
"""So is a short one that has a word of its name, and of whose words this share speaks of it."""
TALK = (2, 6)
"""A message of more sentences tells something: in each, by accident, a word of some offer may be.
There a sentence that asks for nothing is plain with two words of an offer, or with three."""
LARGE_SHARE = 0.33
"""What speaks of an offer there, where it has to be three."""
READ, SENTENCES, DEPTH = 4096, 24, 8
"""How much of a request is read: characters and sentences, and offers looked at for each."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_ASKS = re.compile(r"\?\s*$|\bplease\b|\b(?:can|could|would|will) you\b", re.IGNORECASE)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\W]+")

Nearness = Callable[[Sequence[str]], "Floats | None"]
"""How near each offer is in meaning to each of some sentences, 0 to 1; None: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What is known of an offer."""

    name: str
    text: str
    details: str = ""
    """What it takes: names and descriptions of parameters."""
    brief: bool = True
    """Whether the text only describes it, as a tool's does; a rule's is the thing itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One offer that a request may call for."""

    place: int
    match: float
    """0 to 1; from ADMITTED on it is called for by itself."""
    beside: bool = False
    """Whether it comes because others of the request do."""


class OfferedIndex:
    """Offers by the words of their names, descriptions and parameters."""

    def __init__(self, offers: Sequence[Described]) -> None:
        self._size = len(offers)
        self._brief = np.array([offer.brief for offer in offers], bool)
        self._all_brief = bool(self._brief.all())
        held: dict[str, list[tuple[int, float, bool, bool]]] = {}
        lengths = np.zeros(self._size, np.float32)
        for place, offer in enumerate(offers):
            counts, name, text = _counted(offer)
            lengths[place] = sum(counts.values())
            for term, count in counts.items():
                held.setdefault(term, []).append((place, count, term in text, term in name))
        norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if offers else 1.0))
        self._postings = {
            term: _Postings.of(places, self._worth(len(places)), norm)
            for term, places in held.items()
        }
        self._said_of = np.full((2, self._size), 1e-6, np.float32)
        """What all the words of name and description are worth, and those of the name."""
        for postings in self._postings.values():
            self._said_of[:, postings.places] += postings.gains[1:]

    def called_for(
        self, request: str, most: int, near: Nearness | None = None, least: float = ADMITTED
    ) -> list[Called]:
        """Return what a request calls for, the best of each of its sentences first.

        At most so many; what does not reach `least` is told as well, after what does.
        """
        said = sentences_of(request)
        if not said or not self._size:
            return []
        meant = near(said) if near is not None else None
        rated = [
            self._rated(one, meant[at] if meant is not None else None, _plain_with(one, len(said)))
            for at, one in enumerate(said)
        ]
        best = np.max([strength for _, strength in rated], axis=0)
        order = _in_turns([rank for rank, _ in rated], self._depth(most))
        match = _as_match(best, floor_for(self._size))
        opened = bool(match.max(initial=0) >= least)
        enough = _as_match(np.array([BESIDE * floor_for(self._size)]), floor_for(self._size))[0]
        found = [
            Called(
                place=place,
                match=round(float(match[place]), 4),
                beside=bool(opened and enough <= match[place] < least),
            )
            for place in order
        ]
        return sorted(found, key=lambda one: not (one.match >= least or one.beside))[:most]

    def _depth(self, most: int) -> int:
        return max(DEPTH, most)

    def _rated(self, sentence: str, near: Floats | None, least: int = 1) -> tuple[Floats, Floats]:
        """Return how every offer ranks for a sentence, and how well it matches.

        Among few, it matches one well that so many words speak of, or all of them.
        """
        gained = np.zeros((3, self._size), np.float32)
        own, total = np.zeros(self._size, np.float32), 0.0
        told, telling = np.zeros(self._size, np.int32), np.zeros(self._size, bool)
        asked = _asked(sentence)
        for term, weight in asked.items():
            held = self._postings.get(term)
            if held is not None:
                gained[:, held.places] += weight * held.gains
                told[held.places] += 1
                telling[held.places] |= term not in EVERYDAY
            if weight == 1 and not self._all_brief:
                total += held.worth if held else self._worth(0)
                if held:
                    own[held.places] += held.worth
        rank, hit, named = gained
        text, name = self._said_of
        spoken = np.minimum(1, np.maximum(hit / text, NAMED * named / name))
        enough = np.minimum(1, hit / (ENOUGH * math.log(2 * self._size + 1)))
        strength = np.sqrt(spoken * enough)
        if self._size <= SMALL:
            said = sum(weight == 1 for weight in asked.values())
            share = SHARE_TOLD if least <= len(TALK) else LARGE_SHARE
            plain = telling & (told >= max(min(least, said), share * said))
            plain |= (named > 0) & (told >= max(2, least, MOSTLY_TOLD * said))
            almost = np.float32(0.99 * floor_for(self._size))
            strength = np.where(plain | ~self._brief, strength, np.minimum(strength, almost))
        if not self._all_brief:
            held_of = self._as_strength(own / (total or 1))
            strength = np.where(self._brief, strength, np.maximum(strength, held_of))
        if near is None:
            return rank, strength
        # Of many, something is near to any sentence: there words decide, and nearness ranks.
        alone = near * FEW[1] / floor_for(self._size)
        return strength + near, np.maximum(strength, alone)

    def _as_strength(self, share: Floats) -> Floats:
        """Return the share of a sentence that a text holds as how well that matches."""
        floor = floor_for(self._size)
        return np.where(
            share < ADMITTED,
            share * floor / ADMITTED,
            floor + (share - ADMITTED) * (1 - floor) / (1 - ADMITTED),
        )

    def _worth(self, held: int) -> float:
        return math.log(1 + (self._size - held + 0.5) / (held + 0.5))


@dataclass(frozen=True, slots=True)
class _Postings:
    """Which offers hold a term, and what it gains them when it is said."""

    worth: float
    places: NDArray[np.int32]
    gains: Floats
    """For ranking, of what is said of the offer, and of its name."""

    @classmethod
    def of(
        cls, held: Sequence[tuple[int, float, bool, bool]], worth: float, norm: Floats
    ) -> _Postings:
        told = np.array(held, np.float32).T
        places, counts = told[0].astype(np.int32), told[1]
        rank = counts * (K1 + 1) / (counts + norm[places])
        gains = worth * np.stack([rank, told[2], told[3]])
        return cls(worth, places, gains.astype(np.float32))


def floor_for(size: int) -> float:
    """Return how well one of so many offers has to match."""
    (few, least), (many, most) = FEW, MANY
    share = (math.log(max(size, 1)) - math.log(few)) / (math.log(many) - math.log(few))
    return least + (most - least) * min(1.0, max(0.0, share))


def sentences_of(request: str) -> list[str]:
    """Return the sentences of a request; in a long one those of its beginning."""
    parts = _SENTENCE.split(request[:READ])
    return [part for part in parts if part.strip()][:SENTENCES]


def _plain_with(sentence: str, among: int) -> int:
    """Return how many words of an offer make plain that a sentence speaks of it."""
    return 1 if _ASKS.search(sentence) else 1 + sum(among > most for most in TALK)


def name_words(name: str) -> list[str]:
    """Return the words of a name as programs write it: searchCode, search_code, search-code."""
    return [word.lower() for word in _WORDS.split(name) if word]


def _as_match(strength: Floats, floor: float) -> Floats:
    below = strength * ADMITTED / floor
    above = ADMITTED + (strength - floor) * (1 - ADMITTED) / (1 - floor)
    return np.where(strength < floor, below, above)


def _in_turns(ranks: Sequence[Floats], depth: int) -> list[int]:
    """Return the best of each sentence, the highest first, then the second best of each ..."""
    depth = min(depth, len(ranks[0]))
    best = [_highest(rank, depth) for rank in ranks]
    order: dict[int, None] = {}
    for level in range(depth):
        found = [
            (float(rank[places[level]]), int(places[level]))
            for rank, places in zip(ranks, best, strict=True)
            if level < len(places)
        ]
        order |= dict.fromkeys(place for _, place in sorted(found, key=lambda one: -one[0]))
    return list(order)


def _highest(rank: Floats, depth: int) -> NDArray[np.intp]:
    """Return the places of the highest; of equals those that come first."""
    least = np.partition(rank, -depth)[-depth]
    places = (rank >= max(least, 1e-9)).nonzero()[0]
    best: NDArray[np.intp] = places[np.argsort(-rank[places], kind="stable")][:depth]
    return best


def _asked(sentence: str) -> Mapping[str, float]:
    """Return what a sentence asks for, and what counts less: what tools may call that."""
    said = dict.fromkeys((stem(word) for word in words(sentence) if word not in STOP_WORDS), 1.0)
    return dict.fromkeys(other_words(sentence), IN_OTHER_WORDS) | said


def _counted(offer: Described) -> tuple[dict[str, float], set[str], set[str]]:
    """Return how often an offer has each term, and which are of its name, and of name and text."""
    name = _terms(name_words(offer.name))
    text = _terms(words(offer.text))
    counts: dict[str, float] = {}
    for term in (*name, *text):
        counts[term] = counts.get(term, 0) + 1
    for term in _terms(words(offer.details)):
        counts[term] = counts.get(term, 0) + DETAIL
    return counts, set(name), {*name, *text}


def _terms(said: Sequence[str]) -> list[str]:
    return [stem(word) for word in said if word not in STOP_WORDS]

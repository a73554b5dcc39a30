"""Judges by its marks whether a sentence tells something that lasts, and of what kind it is.

It looks at sentences that no rule knows. Weights are of logistic regressions, added up mark by
mark: what a sentence is taken for can be told by looking at them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from .marks import marks_of, spoken_words

SURE = 0.8
"""The likelihood from which a sentence is taken to tell something that lasts."""
SURE_OF_THINGS = 0.97
"""The same for what is said of things, without "I" or "my": "The lift has no mirror"."""
SURE_OF_OTHERS = 0.95
"""The same for what begins with "she" or "it": mostly nobody can tell later who was meant."""
SURE_OF_REQUEST = 0.93
"""The same for a request, which may be about the work at hand."""
KNOWN = 0.4
"""The share of words that must be known: in another language, none of it means anything."""
LEAST_WORDS, LEAST_OF_US = 3, 5
"""Words of a sentence; "We name tables." only leads up to another."""
_FIRST_PERSON = frozenset("i my me we our us mine".split())
_OF_OTHERS = frozenset(
    "she he they it that this these those her his their its someone somebody there what".split()
)
_NO_SUBJECT = frozenset(
    "if as because although while when once since such especially including between related to in"
    " along rather generate build run start provide break lay map outline draft define design"
    " simulate continue proceed analyze calculate estimate update log track add include integrate"
    " focus give show deliver finalize lock check list compare wrap write explain create make let"
    " tell help find put use try follow simultaneously additionally furthermore first next then"
    " finally moreover however also ready resuming based considering given".split()
)
"""Words that begin no sentence on how a thing is."""
_ARTICLES = frozenset("the a an".split())


@dataclass(frozen=True, slots=True)
class MarkWeights:
    """What the marks of a sentence weigh, and which words stand for themselves."""

    words: frozenset[str]
    marks: Mapping[str, Sequence[float]]
    """For each mark: how far it tells of something lasting; then of a fact; then of a request."""

    def likelihoods(self, text: str) -> tuple[float, float, float]:
        """Return how likely a sentence is to last; and, if so, a fact; and a request."""
        found = marks_of(text, spoken_words(text), self.words)
        scale = 3 / math.sqrt(len(found))
        sums = [0.0, 0.0, 0.0]
        for mark in found:
            for at, weight in enumerate(self.marks.get(mark, ())):
                sums[at] += weight
        lasting, fact, request = (1 / (1 + math.exp(-scale * one)) for one in sums)
        return lasting, fact, request


def lasting_kind(text: str, *, sure: float = 0.0) -> Literal["preference", "fact"] | None:
    """Return of what kind something is that lasts; None where a sentence tells no such thing.

    It must be as likely as `sure`, and more for sentences that are often mistaken.
    """
    words = spoken_words(text)
    least = LEAST_OF_US if sure or words[:1] == ["we"] else LEAST_WORDS
    if len(words) < least or words[1:3] == ["have", "not"]:
        return None
    trained = _trained()
    known = sum(word in trained.words for word in words)
    if known < KNOWN * len(words):
        return None
    lasting, fact, request = trained.likelihoods(text)
    if lasting < max(_sure_of(words), sure) or _is_of_all(words):
        return None
    if fact > 0.5:
        return "fact" if _is_fact(words, lasting) else None
    asked = lasting > SURE_OF_REQUEST and request > 0.5 and words[0] not in _ARTICLES
    return "preference" if asked or not _FIRST_PERSON.isdisjoint(words) else None


def _sure_of(words: Sequence[str]) -> float:
    if words[0] in _OF_OTHERS:
        return SURE_OF_OTHERS
    return SURE if not _FIRST_PERSON.isdisjoint(words) else SURE_OF_REQUEST


def _is_fact(words: Sequence[str], lasting: float) -> bool:
    if not _FIRST_PERSON.isdisjoint(words[:2]):
        return not _is_of_the_moment(words)
    return lasting > SURE_OF_THINGS and _says_of_a_thing(words)


def _is_of_the_moment(words: Sequence[str]) -> bool:
    """Say whether somebody tells what they think, want or did just now: no fact about them."""
    if words[0] not in ("i", "we"):
        return words[0] not in _FIRST_PERSON  # "No we begin", "Missed my workout"
    verb, *then = [word for word in words[1:5] if word not in _ADVERBS] or [""]
    return verb in _OF_THE_MOMENT or (verb in ("have", "am", "are") and then[:1] in _JUST)


_ADVERBS = frozenset("really also still only quite always often usually never".split())
_OF_THE_MOMENT = frozenset(
    "just already suspect think feel hope want need guess believe wonder wish started drank ate"
    " noticed realized realised see understand get agree".split()
)
_JUST = [[word] for word in "just already started begun about back going so ready done".split()]


def _says_of_a_thing(words: Sequence[str]) -> bool:
    """Say whether something is said of a thing: "Change the title" has no verb behind a subject."""
    return words[0] not in _NO_SUBJECT and not _VERBS.isdisjoint(words[1:])


_VERBS = frozenset(
    "is isn are aren was were has hasn have haven had does doesn do don did can cannot must mustn"
    " should shouldn may will won needs need wants want goes go gets get runs run costs cost closes"
    " close opens open lives live works work uses use keeps keep takes take comes come leaves leave"
    " starts start ends end likes like hates hate loves love prefers prefer knows know speaks speak"
    " means mean stays stay sits sit reads read writes write hosts host sends send pays pay makes"
    " make holds hold lasts last belongs belong happens happen eats eat drinks drink plays play"
    " expires ships deploys handles owns allows resets counts contains includes requires meets"
    " meet sleeps sleep says say calls call decides approves signs reports rotates".split()
)
"""What is said of a thing: the verbs of most sentences that are."""


def _is_of_all(words: Sequence[str]) -> bool:
    """Say whether "we" stands for everybody: "Time is a variable we control"."""
    at = next((place for place, word in enumerate(words) if word in _FIRST_PERSON), 0)
    return at > 1 and words[at] == "we" and words[at - 1] not in _LEADS_TO_US


_LEADS_TO_US = frozenset("and but so because since when as at on in days on".split())


def likelihood_of_lasting(text: str) -> float:
    """Return how likely a sentence is to tell something that lasts."""
    return _trained().likelihoods(text)[0]


@cache
def _trained() -> MarkWeights:
    # A tenth of a megabyte, read when the first sentence is judged.
    kept = json.loads((files(__package__) / "weights.json").read_text(encoding="utf-8"))
    return MarkWeights(frozenset(kept["words"].split()), kept["marks"])

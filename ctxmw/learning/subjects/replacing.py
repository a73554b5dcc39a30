"""Whether a message as a whole says that something said before is otherwise now.

"Annelise was too rough with him, so that's over. We found Piet." gives no sentence that would tell
by itself what takes the place of "The dog's trainer is Annelise". What is shared, which words stand
around it, what sort of values both give and the words of change together mostly do: they are the
marks of a pair, and their weights were trained on pairs that were written for it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise

from ...text.lexicon import FRAME_WORDS, SMALL_TALK
from ...text.terms import content_terms, stem
from ..lasting.marks import NAMED_KINDS, spoken_words
from .subject import Subject, subject_of

SURE, UNSURE = 0.4, 0.2
"""The likelihood from which something is replaced, and from which its day is told."""
WINDOW = 3
"""Words before and after a shared one that are looked at."""
_NAME = re.compile(r"(?<=[\w,] )[A-Z]\w+")
_NUMBER = re.compile(r"\d[\d.,:]*")
_WORD = re.compile(r"\w+")
_CHANGE = ("changes", "gives up")
_JOINED = ("shares", "number", "owner", "adds", "kind", "other", "day", "shared")


@dataclass(frozen=True, slots=True)
class Told:
    """What a message tells: its sentences that state something, and what they are about."""

    sentences: tuple[str, ...]
    text: str
    terms: frozenset[str]
    subject: Subject

    @classmethod
    def of(cls, sentences: Sequence[str]) -> Told:
        text = " ".join(sentences)
        return cls(tuple(sentences), text, frozenset(_telling(text)), subject_of(text))

    def most_telling(self, old: str) -> str:
        """Return the sentences that say what is so instead: those around the first shared word."""
        terms = set(_telling(old))
        at = next((at for at, one in enumerate(self.sentences) if terms & set(_telling(one))), 0)
        return " ".join(self.sentences[at : at + 2])


def likelihood_of_replacing(told: Told, old: str) -> float:
    """Return how likely it is that a message takes the place of an earlier statement.

    Nothing replaces what it shares no telling word with.
    """
    if not has_in_common(told, old):
        return 0.0
    found = marks_of_pair(told, old)
    weights = _trained()
    total = sum(weights.get(mark, 0.0) for mark in found)
    return 1 / (1 + math.exp(-total * 3 / math.sqrt(len(found))))


def has_in_common(told: Told, old: str) -> bool:
    """Say whether a message and a statement share a word by which they may be of one thing."""
    return not told.terms.isdisjoint(_telling(old))


def gives_another_value(told: Told, old: str) -> bool:
    """Say whether both have a number or a day, and another one; or both name the same by name."""
    return not _VALUES.isdisjoint(_of_values(told.text, old))


_VALUES = frozenset({"number other", "day other", "shares name"})


def marks_of_pair(told: Told, old: str) -> set[str]:
    """Return the marks of a message and of what was said before it."""
    known = subject_of(old)
    terms = _telling(old)
    shared = told.terms & set(terms)
    between = {
        f"shared {min(len(shared), 3)}",
        f"of old {round(2 * len(shared) / max(1, len(terms)))}",
    }
    if shared:
        between.add("shares head" if terms[0] in shared else "shares tail")
    if terms and terms[-1] in shared:
        between.add("shares last")
    between |= set(_of_values(told.text, old)) | set(_of_subjects(told.subject, known))
    lead = "change" if not between.isdisjoint(_CHANGE) else "plain"
    joined = sorted(mark for mark in between if mark.split()[0] in _JOINED)
    marks = between | {f"{lead} & {mark}" for mark in between if mark not in _CHANGE}
    marks |= {f"{one} & {two}" for one, two in combinations(joined, 2)}
    for sentence in told.sentences:
        marks |= set(_of_sentence(sentence, shared))
    return marks


def _telling(text: str) -> list[str]:
    """Return the stems of a text by which two things may be told to be one."""
    found = content_terms(text)
    return [term for term in found if term not in _VAGUE and not term.isdigit()]


_VAGUE = frozenset(
    content_terms(
        "use run need write play live work go take read eat drink make wear speak listen see get"
        " feel find know keep try come like love hate want have call say tell put start stop week"
        " month day year time today now new old good long name thing people way lot bit again"
        " please everything anything nothing something since first second two three update full"
        " since ever back never always only also ask show send check normal january february march"
        " april may june july august september october november december morning evening night hour"
    )
) | frozenset(content_terms(" ".join(FRAME_WORDS | SMALL_TALK)))


def _of_values(new: str, old: str) -> Iterator[str]:
    """Yield marks of the names, numbers and days in both."""
    words = {word.lower() for word in _WORD.findall(new)}
    names = {name.lower() for name in _NAME.findall(old)}
    if names & words:
        yield "shares name"
    elif names and _NAME.search(new):
        yield "other name"
    before = {word.lower() for word in _WORD.findall(old)}
    for sort, ours, theirs in (
        ("number", set(_NUMBER.findall(new)), set(_NUMBER.findall(old))),
        ("day", words & _DAYS, before & _DAYS),
    ):
        if ours and theirs:
            yield f"{sort} same" if ours & theirs else f"{sort} other"


_DAYS = NAMED_KINDS & frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays january february march april may june july august september october"
    " november december".split()
)


def _of_subjects(new: Subject, old: Subject) -> Iterator[str]:
    """Yield marks of whose it is, of the kinds of things named, and of words of change."""
    yield "owner same" if new.tells.owner == old.tells.owner else "owner other"
    for kind in new.tells.kinds & old.tells.kinds:
        yield "kind shared"
        ours, theirs = (
            {word for of, word, _ in one.tells.things if of == kind} for one in (new, old)
        )
        if ours.isdisjoint(theirs):
            yield "kind other value"
    if new.changes:
        yield "changes"
    if new.tells.adds:
        yield "adds"
    if new.given_up:
        known = set(old.core) | old.about
        yield "gives up" if new.given_up & known else "gives up other"
    if new.denies != old.denies:
        yield "no flips"


def _of_sentence(sentence: str, shared: frozenset[str]) -> Iterator[str]:
    """Yield marks of a sentence's words, and of where they stand to what is shared."""
    words = spoken_words(sentence)
    yield from (f"has {word}" for word in words)
    yield from (f"has {one} {two}" for one, two in pairwise(words))
    yield from (f"starts {' '.join(words[:n])}" for n in (1, 2))
    for at, word in enumerate(words):
        if stem(word) in shared:
            yield from (f"before {one}" for one in words[max(0, at - WINDOW) : at])
            yield from (f"after {one}" for one in words[at + 1 : at + 1 + WINDOW])
            yield f"between {' '.join([*words[max(0, at - 1) : at], '_', *words[at + 1 : at + 2]])}"


@cache
def _trained() -> Mapping[str, float]:
    text = (files(__package__) / "replacing.json").read_text(encoding="utf-8")
    weights: dict[str, float] = json.loads(text)
    return weights

"""How much an item matters here: four signals, their weights, and the floors a score must reach.

Scope is a gate before this, never a weight: what is out of scope is no candidate. A signal about
which nothing is known counts 0.5, so an item in scope about which nothing else is known scores
exactly 0.70, and the floor of the stable block means "in scope and no worse than neutral".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from .errors import InvalidValue
from .items import Item, changed
from .situation import TASK_WORDS, Situation

UNKNOWN = 0.5
AGES = ((7, 1.0), (30, 0.8), (90, 0.6), (180, 0.4))
OLDER = 0.2
_LIMITS = tuple((timedelta(days=days), value) for days, value in AGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each signal counts. They add up to 1."""

    scope: float = 0.4
    """Being in scope at all."""
    seen: float = 0.3
    """How often it was stated: 1 - 1 / (1 + n)."""
    recency: float = 0.2
    """1 / .8 / .6 / .4 / .2 under 7 / 30 / 90 / 180 days; 0.5 for what does not age."""
    task: float = 0.1
    """Words of the task at hand; it adds and never takes away."""

    def __post_init__(self) -> None:
        _check_shares(self)
        total = sum(getattr(self, field.name) for field in fields(self))
        if abs(total - 1) > 1e-6:
            raise InvalidValue(f"weights add up to {total:g}: they must add up to 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """The score an item must reach, rounded to four places, to be shown there."""

    stable: float = 0.7
    """For the stable block."""
    query: float = 0.5
    """For what the user's words bring: half match, half score, of the best hit."""
    index: float = 0.3
    """For a line in the index."""

    def __post_init__(self) -> None:
        _check_shares(self)


Reasons = tuple[tuple[str, float], ...]


def score(item: Item, situation: Situation, weights: Weights) -> Item:
    """Return the item with its score in this situation and the reasons for it."""
    total, reasons = _rated(item, situation, weights)
    return changed(item, score=round(total, 4), reasons=reasons)


def matched(
    item: Item,
    situation: Situation,
    weights: Weights,
    *,
    match: float,
    reasons: Reasons,
    passage: str = "",
) -> Item:
    """Return the item as a query brought it: half match, half its own score."""
    own, _ = _rated(item, situation, weights)
    return changed(
        item,
        score=round((match + own) / 2, 4),
        match=round(match, 4),
        include="agent",
        reasons=(("match", match), *reasons),
        passage=passage,
    )


def score_all(items: Iterable[Item], situation: Situation, weights: Weights) -> list[Item]:
    """Return the items in scope, each with its score."""
    here = {"project": situation.project, "language": situation.language}
    return [score(item, situation, weights) for item in items if item.scope.admits(**here)]


def with_match(item: Item, match: float) -> Item:
    """Return the item as a query brought it: half match, half its own score."""
    final = round((match + item.score) / 2, 4)
    reasons = (("match", match), *item.reasons)
    return changed(item, score=final, match=round(match, 4), include="agent", reasons=reasons)


def _rated(item: Item, situation: Situation, weights: Weights) -> tuple[float, Reasons]:
    seen = 1 - 1 / (1 + item.seen)
    age = recency(item.at, situation.now) if item.ages else UNKNOWN
    task = task_fit(item.text, situation.task)
    total = weights.scope + weights.seen * seen + weights.recency * age + weights.task * task
    return total, (("seen", seen), ("recency", age), ("task", task))


def recency(at: datetime | None, now: datetime) -> float:
    """Return 1 for this week, less for what is older, 0.5 when the time is unknown."""
    if at is None:
        return UNKNOWN
    age = now - at
    for limit, value in _LIMITS:
        if age < limit:
            return value
    return OLDER


def task_fit(text: str, task: str | None) -> float:
    """Return 0.5, and more the more words of the task the text holds."""
    if task is None:
        return UNKNOWN
    keywords = TASK_WORDS[task]
    held = set(_BEGINS[task].findall(text.lower()))
    return UNKNOWN + UNKNOWN * len(held) / len(keywords)


def task_words_in(text: str) -> tuple[int, ...]:
    """Return how many words of each task the text holds, in the order of `TASK_WORDS`."""
    held = set(_BEGINS_ANY.findall(text.lower()))
    if not held:
        return _NONE
    return tuple(sum(word in held for word in words) for words in TASK_WORDS.values())


# At the beginning of a word: "tests" is about testing, "latest" is not.
_BEGINS = {task: re.compile(rf"\b({'|'.join(keywords)})") for task, keywords in TASK_WORDS.items()}
_BEGINS_ANY = re.compile(
    rf"\b({'|'.join(word for words in TASK_WORDS.values() for word in words)})"
)
_NONE = (0,) * len(TASK_WORDS)


def _check_shares(values: Weights | Floors) -> None:
    for field in fields(values):
        value = getattr(values, field.name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            name = f"{type(values).__name__}.{field.name}"
            raise InvalidValue(f"{name} is {value!r}: it must be a number from 0 to 1.")

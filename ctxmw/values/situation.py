"""Who asks, where, and for what: everything that sources and scoring know of a request.

The task can be found from what was said (`task_of`). It only guesses, so what the caller states
wins.

How much an item matters there is told by four signals, their weights, and the floors a score must
reach. Scope is a gate before this, never a weight: what is out of scope is no candidate. A signal
about which nothing is known counts 0.5, so an item in scope about which nothing else is known
scores exactly 0.70, and the floor of the stable block means "in scope and no worse than neutral".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from ..errors import InvalidValue
from ..text.cleaning import words
from .items import Item, changed

if TYPE_CHECKING:
    from numpy.typing import NDArray

Signal = TypeVar("Signal", float, "NDArray[Any]")
"""What an item has of something that counts, or what each of many has."""
Task = Literal["coding", "debugging", "documentation", "architecture"]
TASKS: tuple[Task, ...] = get_args(Task)
LOOKED_AT = 5
"""Messages that tell the task."""

TASK_WORDS: Mapping[str, tuple[str, ...]] = {
    "coding": ("implement", "write", "create", "function", "class"),
    "debugging": ("error", "bug", "fix", "debug", "test"),
    "documentation": ("doc", "comment", "readme", "explain"),
    "architecture": ("design", "pattern", "structure", "module"),
}
"""The words that tell a task, in what the user says and in what is remembered."""
UNKNOWN = 0.5
AGES = ((7, 1.0), (30, 0.8), (90, 0.6), (180, 0.4))
OLDER = 0.2
_NEWNESS = (OLDER, *(value for _, value in reversed(AGES)))
_SIGNALS = ("seen", "recency", "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One request, as sources and scoring see it."""

    user: str
    now: datetime
    """Aware; the same for everything that is built for this request."""
    session: str = ""
    project: str | None = None
    language: str | None = None
    task: str | None = None
    """One of TASKS, or None when it is not clear."""
    files: tuple[str, ...] = ()
    """Paths in play, relative to the project."""
    query: str = ""
    """What was asked: the last text of the user."""
    cwd: Path | None = None
    """The folder it takes place in, with links resolved."""
    root: Path | None = None
    """The project's folder around it; nothing is read outside."""
    fetches: bool = True
    """Whether the model has tools to fetch what it is shown in part, or only told of."""


def task_of(texts: Sequence[str]) -> Task | None:
    """Return what the last five messages are about, or None when nothing stands out.

    Each message counts the different words it has of a task; the later it came, the more.
    """
    votes: Counter[Task] = Counter()
    for weight, text in enumerate(texts[-LOOKED_AT:], start=1):
        for word in _TASK_OF_WORD.keys() & words(_ends(text)):
            votes[_TASK_OF_WORD[word]] += weight
    best = votes.most_common(2)
    if not best or (best[0][1] == best[-1][1] and len(best) == 2):
        return None
    return best[0][0]


def _ends(text: str) -> str:
    """The request stands before or after what was pasted."""
    return text if len(text) <= 4000 else f"{text[:2000]} {text[-2000:]}"


def _forms(word: str) -> Iterator[str]:
    """Yield a verb or noun as people write it: fix, fixes, fixed, fixing."""
    stem = word.removesuffix("e")
    yield from (word, f"{word}s", f"{word}es", f"{stem}ed", f"{stem}ing")
    yield from (f"{word}{word[-1]}ed", f"{word}{word[-1]}ing")


_MORE_WORDS: Mapping[Task, tuple[str, ...]] = {
    "coding": ("refactor",),
    "debugging": ("crash", "exception", "fail", "failure", "traceback"),
    "documentation": ("docstring", "document", "documentation"),
    "architecture": ("architecture",),
}
_TASK_OF_WORD: Mapping[str, Task] = {
    form: task
    for task in TASKS
    for word in (*TASK_WORDS[task], *_MORE_WORDS[task])
    for form in _forms(word)
}


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

    def score(self, seen: Signal, recency: Signal, task: Signal) -> Signal:
        """Return the score of what is in scope: of one item, or of many at once."""
        return self.scope + self.seen * seen + self.recency * recency + self.task * task


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


@dataclass(frozen=True, slots=True)
class Rating:
    """Rates items in one situation."""

    weights: Weights
    task: str | None
    steps: tuple[datetime, ...]
    """The moments after which an item counts as newer, the oldest first."""

    @classmethod
    def of(cls, situation: Situation, weights: Weights) -> Rating:
        return cls(weights, situation.task, _steps(situation.now))

    def score(self, item: Item) -> Item:
        """Return the item with its score and the reasons for it."""
        signals = self._signals(item)
        reasons = tuple([(name, round(signals[at], 4)) for at, name in enumerate(_SIGNALS)])
        return replace(item, score=round(self.weights.score(*signals), 4), reasons=reasons)

    def matched(self, item: Item, match: float, reasons: Reasons, passage: str = "") -> Item:
        """Return the item as a query brought it: half match, half its own score."""
        half = round((match + self.weights.score(*self._signals(item))) / 2, 4)
        match = round(match, 4)
        return changed(
            item,
            score=half,
            match=match,
            include="agent",
            reasons=(("match", match), *reasons),
            passage=passage,
        )

    def _signals(self, item: Item) -> tuple[float, float, float]:
        age = _newness(item.at, self.steps) if item.ages else UNKNOWN
        return often_seen(item.seen), age, task_fit(item.text, self.task)


def score_all(items: Iterable[Item], situation: Situation, weights: Weights) -> list[Item]:
    """Return the items in scope, each with its score."""
    here = {"project": situation.project, "language": situation.language}
    rating = Rating.of(situation, weights)
    return [rating.score(item) for item in items if item.scope.admits(**here)]


def with_match(item: Item, match: float) -> Item:
    """Return the item as a query brought it: half match, half its own score."""
    final, match = round((match + item.score) / 2, 4), round(match, 4)
    reasons = (("match", match), *item.reasons)
    return replace(item, score=final, match=match, include="agent", reasons=reasons)


def recency(at: datetime | None, now: datetime) -> float:
    """Return 1 for this week, less for what is older, 0.5 when the time is unknown."""
    return _newness(at, _steps(now))


def _steps(now: datetime) -> tuple[datetime, ...]:
    return tuple(now - timedelta(days=days) for days, _ in reversed(AGES))


def _newness(at: datetime | None, steps: tuple[datetime, ...]) -> float:
    return UNKNOWN if at is None else _NEWNESS[bisect_left(steps, at)]


def task_fit(text: str, task: str | None) -> float:
    """Return 0.5, and more the more words of the task the text holds."""
    if task is None:
        return UNKNOWN
    return fit_of(len(set(_BEGINS[task].findall(text.lower()))), task)


def fit_of(held: Signal, task: str) -> Signal:
    """Return how near to the task is what holds so many of its words."""
    return UNKNOWN + UNKNOWN * held / len(TASK_WORDS[task])


def often_seen(times: Signal) -> Signal:
    """Return what it counts to have been stated so many times."""
    return 1 - 1 / (1 + times)


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

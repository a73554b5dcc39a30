"""Sums up what came for many questions: recall, tokens, waste, and sessions by rank."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .measure import RANKS, Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecall:
    """How often the sessions that hold the evidence are among the first that a search finds."""

    any: float
    """Per cent of questions with at least one of them there."""
    all: float
    """Per cent of questions with all of them there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured; shares are in per cent, and None where nothing was."""

    questions: int
    """Questions of which the evidence is known."""
    recall: float | None
    """Of the evidence, in what a message brings by itself."""
    tokens: float | None
    """Of what a message brings by itself, on average ..."""
    tokens_at: dict[str, int]
    """... and of the tenth, the half and nine tenths that have least."""
    waste: float | None
    """Of those tokens, those of anything but evidence."""
    within: dict[int, float]
    """Recall of a search within so many tokens."""
    sessions: dict[int, SessionRecall]
    """By how many sessions are looked at."""
    by_category: dict[str, Figures]

    def as_json(self) -> dict[str, Any]:
        """Return all of it for a program."""
        return asdict(self)


def figures(answered: Sequence[Answered], *, by_category: bool = True) -> Figures:
    """Return the figures of many questions, and of each category of them."""
    known = [one for one in answered if one.recall is not None]
    tokens = sorted(one.tokens for one in answered)
    spent = sum(one.tokens for one in known)
    names = sorted({one.question.category for one in answered} - {""}) if by_category else []
    return Figures(
        questions=len(answered),
        recall=_share([one.recall or 0.0 for one in known]),
        tokens=round(statistics.mean(tokens), 1) if tokens else None,
        tokens_at={f"p{at}": _at(tokens, at) for at in (10, 50, 90)} if tokens else {},
        waste=_percent(1 - sum(one.useful for one in known) / spent) if spent else None,
        within=_within(known),
        sessions=_sessions([one for one in answered if one.question.sessions]),
        by_category={
            name: figures(
                [one for one in answered if one.question.category == name], by_category=False
            )
            for name in names
        },
    )


def _within(known: Sequence[Answered]) -> dict[int, float]:
    budgets = known[0].within if known else {}
    return {
        tokens: _percent(statistics.mean(one.within[tokens] for one in known)) for tokens in budgets
    }


def _sessions(asked: Sequence[Answered]) -> dict[int, SessionRecall]:
    if not asked:
        return {}
    ranked = {}
    for rank in RANKS:
        found = [set(one.question.sessions) & set(one.sessions[:rank]) for one in asked]
        whole = [
            len(some) == len(one.question.sessions) for some, one in zip(found, asked, strict=True)
        ]
        ranked[rank] = SessionRecall(
            any=_percent(statistics.mean(map(bool, found))), all=_percent(statistics.mean(whole))
        )
    return ranked


def _share(values: Sequence[float]) -> float | None:
    return _percent(statistics.mean(values)) if values else None


def _percent(share: float) -> float:
    return round(100.0 * share, 1)


def _at(ordered: Sequence[int], percent: int) -> int:
    """Return the value below which so many per cent lie."""
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

"""Tells a transcript to a memory, asks its questions, and says how much of the evidence came.

A piece of evidence came when it is named as shown and most of its words are in the text: 80 % of
its runs of three words; 40 % where it is long, for then its passage is shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from ..protocols import TokenCounter
from ..values.budget import Budget
from ..values.messages import Message
from ..values.records import Derived, Record, Turn
from .transcripts import KnownQuestion, Transcript, Utterance

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

BUDGETS = (500, 1000, 2000)
RANKS = (5, 10)
HITS = 100
"""Hits that are looked at for the sessions they are from."""
LONG_TEXT = 200
MOST, OF_LONG = 0.8, 0.4
_ROLES = ("user", "assistant")
_WORD = re.compile(r"\w+")


class Calendar:
    """A clock that shows the time at which a question is asked."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came for one question."""

    question: KnownQuestion
    recall: float | None
    """Share of the evidence in the turn's part; None where no turn is known to be evidence."""
    tokens: int
    """Tokens of the turn's part."""
    useful: int
    """Tokens of the evidence in it."""
    within: dict[int, float]
    """Share of the evidence that a search has within so many tokens."""
    sessions: tuple[str, ...]
    """Sessions in the order in which a search finds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How questions are asked."""

    count: TokenCounter
    part: Budget
    """The budget of a call; only the turn's part of it is asked for."""
    budgets: Sequence[int] = BUDGETS
    """Within how many tokens a search is asked."""


def answers(
    ctx: ContextMiddleware, calendar: Calendar, transcript: Transcript, asking: Asking
) -> Iterator[Answered]:
    """Yield what a memory brings for each question that is scored, in the order of asking.

    The memory is empty, and has the calendar for its clock.
    """
    said, known = transcript.said, 0
    texts = {one.id: one.text for one in said}
    scored = [one for one in transcript.questions if one.is_scored]
    for question in sorted(scored, key=lambda one: one.before):
        calendar.now = question.at
        tell(ctx, said[known : question.before])
        known = max(known, question.before)
        evidence = {ref: texts[ref] for ref in question.evidence}
        yield _answered(ctx, question, evidence, asking)


def tell(ctx: ContextMiddleware, said: Sequence[Utterance]) -> None:
    """Have a memory hear what was said, session by session."""
    for session, group in groupby(said, key=lambda one: one.session):
        ctx.session(session).capture([_message(one) for one in group])


def part_for(ctx: ContextMiddleware, query: str, budget: Budget) -> tuple[str, dict[str, int]]:
    """Return what a message brings by itself, and the tokens of each message in it by its id."""
    lanes = dict.fromkeys((field.name for field in fields(Budget)), 0)
    chat = ctx.session(budget=Budget(**{**lanes, "total": budget.turn_limit, "turn": 1}))
    context = chat.prepare([{"role": "user", "content": query}], capture=False).context
    costs = {used.ref: used.tokens for used in context.used if used.shown in ("full", "brief")}
    told = _messages(ctx, ctx.get(list(costs)))
    return context.part, {id_: costs[ref] for id_, ref in told.items()}


def found_within(ctx: ContextMiddleware, query: str, tokens: int) -> tuple[str, set[str]]:
    """Return what a search has within so many tokens, and the ids of the messages in it."""
    hits = ctx.search(query, budget=tokens)
    told = _messages(ctx, [hit.record for hit in hits])
    return "\n".join(hit.text for hit in hits), set(told)


def carried(text: str, block: str, count: TokenCounter) -> bool:
    """Say whether a block holds most of a text's words."""
    grams = _runs(text)
    held = _runs(block) | {(word,) for word in _words(block)}
    share = len(grams & held) / len(grams) if grams else 1.0
    return share >= (MOST if count(text) <= LONG_TEXT else OF_LONG)


def _answered(
    ctx: ContextMiddleware, question: KnownQuestion, evidence: Mapping[str, str], asking: Asking
) -> Answered:
    def came(block: str, shown: Collection[str]) -> list[str]:
        return [
            ref
            for ref, text in evidence.items()
            if ref in shown and carried(text, block, asking.count)
        ]

    part, costs = part_for(ctx, question.text, asking.part)
    brought = came(part, costs)
    searched = {tokens: found_within(ctx, question.text, tokens) for tokens in asking.budgets}
    hits = ctx.search(question.text, limit=HITS)
    return Answered(
        question=question,
        recall=len(brought) / len(evidence) if evidence else None,
        tokens=asking.count(part),
        useful=sum(costs[ref] for ref in brought),
        within={tokens: len(came(*found)) / len(evidence) for tokens, found in searched.items()}
        if evidence
        else {},
        sessions=tuple(dict.fromkeys(getattr(hit.record, "session", "") for hit in hits)),
    )


def _messages(ctx: ContextMiddleware, shown: Sequence[Record]) -> dict[str, str]:
    """Return the ids of the messages that are shown, each with the ref of what shows it.

    A message is shown by itself, or by what was learned of it and says the same.
    """
    learned = {
        ref: one.ref for one in shown if isinstance(one, Derived) for ref in one.derived_from
    }
    told = {
        turn.message_id: learned[turn.ref]
        for turn in ctx.get(list(learned))
        if isinstance(turn, Turn)
    }
    return told | {one.message_id: one.ref for one in shown if isinstance(one, Turn)}


def _message(one: Utterance) -> Message:
    by_role = one.speaker in _ROLES
    return {
        "role": one.speaker if by_role else "user",
        "content": one.text,
        "name": "" if by_role else one.speaker,
        "id": one.id,
        "at": one.at,
    }


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of three words; of fewer words, each by itself."""
    said = _words(text)
    if len(said) < 3:
        return {(word,) for word in said}
    return set(zip(said, said[1:], said[2:], strict=False))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())

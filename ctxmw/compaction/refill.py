"""The refill: what the memory adds to a conversation that was just compacted.

The stable block is made anew at that moment. Beside it there is room for a little more of what
belongs to the goal: summaries of earlier conversations, and index lines; only what the stable block
does not show. They are taken from what came into question for that block: the one search of the
call is the turn's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ..conversation.replay.views import History
from ..recall.pipeline import Own, Recall, gather
from ..text.terms import content_terms
from ..values.budget import Budget
from ..values.items import Item, Shown
from ..values.messages import message_text
from ..values.situation import Situation

SUMMARIES, LINES = 3, 10
"""How many summaries and index lines are added at most."""
GOAL = 2_000
"""Characters of the goal that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refill:
    """Items to add, each with how it is shown, and how sections are called here."""

    items: tuple[tuple[Item, Shown], ...]
    title: Callable[[str], str]


def refill(
    recall: Recall, situation: Situation, budget: Budget, history: History, known: Collection[str]
) -> Refill:
    """Return what the memory has to add for the goal of this history to what is `known`."""
    goal = next((message_text(m) for m in history.given if m["role"] == "user"), "")
    offered = gather(recall, situation, budget, Own()).items
    others = [item for item in offered if item.ref not in known]
    told = [item for item in others if item.kind == "summary" and item.trust == "trusted"]
    newest = sorted(told, key=lambda item: (item.at is not None, item.at), reverse=True)[:SUMMARIES]
    rest = [item for item in others if item not in newest and item.score >= recall.floors.index]
    lines = _about(goal, rest)[:LINES]
    return Refill(
        items=(*((item, "full") for item in newest), *((item, "index") for item in lines)),
        title=recall.printer.layout(situation).title,
    )


def _about(goal: str, items: Sequence[Item]) -> list[Item]:
    """Return the items that share words with the goal, those that share most first."""
    terms = frozenset(content_terms(goal[:GOAL]))
    shared = {item.ref: len(terms.intersection(content_terms(item.text))) for item in items}
    related = [item for item in items if shared[item.ref]]
    return sorted(related, key=lambda item: (-shared[item.ref], -item.score))

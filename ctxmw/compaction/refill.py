"""What the memory adds to a conversation that was just compacted.

The stable block is made anew at that moment. Beside it there is room for a little more of what
belongs to the goal: summaries of earlier conversations, and index lines; only what the stable block
does not show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..conversation.conversation import Identity
from ..conversation.replay.views import History
from ..recall.pipeline import Own, build_stable, gather
from ..search.filter import Filter
from ..values.items import Item, Shown
from ..values.messages import message_text
from .compactor import Compactor

SUMMARIES, LINES = 3, 10
"""How many summaries and index lines are added at most."""
QUERY = 2_000
"""Characters of the goal that are searched with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refill:
    """Items to add, each with how it is shown, and how sections are called here."""

    items: tuple[tuple[Item, Shown], ...]
    title: Callable[[str], str]


def refill(compactor: Compactor, who: Identity, history: History) -> Refill:
    """Return what the memory has to add for the goal of this history."""
    recall = compactor.recall
    state = compactor.conversations.load(who)
    goal = next((message_text(m) for m in history.given if m["role"] == "user"), "")
    situation = who.situation(state, compactor.journal.clock(), goal[:QUERY])
    stable = build_stable(recall, situation, who.budget, removed=state.removed)
    known = {*state.removed, *(c.item.ref for c in stable.choices if c.shown != "none")}
    summaries = [
        item
        for item in gather(recall, situation, who.budget, Own()).items
        if item.kind == "summary" and item.ref not in known and item.trust == "trusted"
    ]
    newest = sorted(summaries, key=lambda item: (item.at is not None, item.at), reverse=True)
    known |= {item.ref for item in newest[:SUMMARIES]}
    found = recall.find(situation, Filter(without=frozenset(known)))
    listed = [
        item
        for item in found.items
        if item.session != who.session and item.score >= recall.floors.index
    ]
    shown: list[tuple[Item, Shown]] = [(item, "full") for item in newest[:SUMMARIES]]
    shown += [(item, "index") for item in listed[:LINES]] if found.opens else []
    return Refill(items=tuple(shown), title=recall.printer.layout(situation).title)

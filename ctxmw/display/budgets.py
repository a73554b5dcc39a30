"""A budget as HTML and as text: its lanes, and what each of them is for."""

from __future__ import annotations

from ..values.budget import Budget
from .bars import budget_bar
from .elements import Html, joined_html, table, tag


def budget_html(budget: Budget) -> Html:
    """Return the lanes of a budget with their tokens and what they are for."""
    limits = _limits(budget)
    title = (
        f"{budget.total:,} tokens: stable block {budget.stable_limit:,}, turn {budget.turn_limit:,}"
    )
    rows = [(name, f"{limit:,}", _MEANT_FOR.get(name, "")) for name, limit in limits.items()]
    return joined_html(
        [
            tag("div", "Budget", tag("span", title, class_="ctx-dim"), class_="ctx-title"),
            budget_bar({name: (limit, limit) for name, limit in limits.items()}),
            table(("lane", "tokens", "for"), rows),
        ]
    )


def budget_text(budget: Budget) -> str:
    """Return the lanes of a budget, one a line."""
    limits = _limits(budget)
    width = max(map(len, limits))
    lines = [f"  {name.ljust(width)}  {limit:>7,}" for name, limit in limits.items()]
    return "\n".join([f"Budget of {budget.total:,} tokens", *lines])


def _limits(budget: Budget) -> dict[str, int]:
    return {**budget.lanes(), "turn": budget.turn_limit}


_MEANT_FOR = {
    "instructions": "rules, preferences, anti-patterns and corrections, before other memories",
    "universal": "other memories that hold everywhere",
    "language": "other memories of the language at hand",
    "project": "other memories of the project at hand",
    "reserve": "overflow that the three shares above have in common",
    "done": "notes on finished work",
    "decided": "notes on decisions",
    "open": "notes on what is blocked and what is next",
    "pinned": "rules and references that are always in or were added by hand",
    "index": "summaries of the last conversations, and one line for what did not fit",
    "turn": "what the user's words bring",
}

"""Bars of tokens, and a budget as its lanes, as HTML and as text.

They are drawn with numbers only: no inline style, so any content policy lets them be.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..values.budget import Budget
from .elements import Child, Html, joined_html, side_by_side, table, tag

Lanes = Mapping[str, tuple[int, int]]
"""What each lane spent of what it had."""

_WIDTH = 1000


def budget_bar(lanes: Lanes) -> Html:
    """Return one bar for the whole budget: a field for each lane, filled as far as it was spent."""
    total = sum(limit for _, limit in lanes.values()) or 1
    fields: list[Child] = []
    at = 0.0
    for name, (spent, limit) in lanes.items():
        width = _WIDTH * limit / total
        filled = width * min(1.0, spent / limit) if limit else 0.0
        label = tag("title", f"{name}: {spent} of {limit} tokens")
        shape = {"y": 0, "height": 10, "x": round(at, 1)}
        inner = tag("rect", width=round(max(0.0, width - 2), 1), class_="ctx-room", **shape)
        fill = tag("rect", width=round(filled, 1), **shape) if filled else None
        fields.append(tag("g", label, inner, fill, class_=f"ctx-lane ctx-lane-{_hue(name)}"))
        at += width
    spent_of_all = sum(spent for spent, _ in lanes.values())
    return _drawing(f"{spent_of_all} of {total} tokens used", fields)


def lane_legend(lanes: Lanes) -> Html:
    """Return the lanes by name, with what each spent of what it had."""
    return tag(
        "ul", *(_lane(name, *figures) for name, figures in lanes.items()), class_="ctx-lanes"
    )


def share_bar(share: float, label: str) -> Html:
    """Return a bar filled to a share from 0 to 1."""
    filled = round(_WIDTH * min(1.0, max(0.0, share)), 1)
    room = tag("rect", x=0, y=0, width=_WIDTH, height=10, class_="ctx-room")
    fill = tag("rect", x=0, y=0, width=filled, height=10)
    return _drawing(label, [tag("g", room, fill, class_="ctx-lane ctx-lane-share")])


def _drawing(label: str, shapes: list[Child]) -> Html:
    return tag(
        "svg",
        *shapes,
        class_="ctx-bar",
        view_box=f"0 0 {_WIDTH} 10",
        aspect="none",
        role="img",
        aria_label=label,
    )


def _lane(name: str, spent: int, limit: int) -> Html:
    figures = tag("span", f"{spent:,}", tag("span", f" / {limit:,}", class_="ctx-dim"))
    swatch = tag("i", class_=f"ctx-swatch ctx-swatch-{_hue(name)}")
    return tag("li", swatch, name, " ", figures, class_=None if spent else "ctx-empty")


_HUES = {
    "instructions": "memory",
    "universal": "memory",
    "language": "memory",
    "project": "memory",
    "reserve": "memory",
    "done": "note",
    "decided": "note",
    "open": "note",
    "pinned": "pinned",
    "index": "index",
    "turn": "turn",
}


def _hue(lane: str) -> str:
    return _HUES.get(lane, "other")


def budget_html(budget: Budget) -> Html:
    """Return the lanes of a budget with their tokens and what they are for."""
    limits = _limits(budget)
    title = (
        f"{budget.total:,} tokens: stable block {budget.stable_limit:,}, turn {budget.turn_limit:,}"
    )
    rows = [(name, f"{limit:,}", _MEANT_FOR.get(name, "")) for name, limit in limits.items()]
    return joined_html(
        [
            side_by_side("div", "Budget", tag("span", title, class_="ctx-dim"), class_="ctx-title"),
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

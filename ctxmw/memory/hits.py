"""What a search returns to its caller: texts ready to be shown, and the records behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InvalidValue
from ..recall.block import GROUP
from ..recall.pipeline import Setup
from ..recall.selection import Layout, select_turn
from ..runtime.displayed import Displayed
from ..values.items import Item, Shown
from ..values.records import Record, load


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Displayed):
    """One thing found, and why."""

    ref: str
    text: str
    """What to show: the text, or of a long one the passage that matched; with a budget, the first
    hit of a conversation begins with its date."""
    score: float
    why: str
    record: Record


class Hits(Displayed, list[Hit]):
    """What a search found: a list that a notebook shows as a table."""


def hits_of(
    setup: Setup,
    user: str,
    items: Sequence[Item],
    *,
    limit: int,
    budget: int | None,
) -> Hits:
    """Return items as hits: without a budget the best first, with one in the order to be read.

    The texts of all hits, joined by newlines, cost no more than the budget.
    """
    if budget is None:
        best = sorted(items, key=lambda item: -item.score)[:limit]
        shown = [(item.ref, item.passage or item.text) for item in best]
    else:
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
            raise InvalidValue(f"budget is {budget!r}: it must be a whole number, 0 or more.")
        shown = _within(setup, items, budget)
    found = {item.ref: item for item in items}
    rows = setup.store.get(user, [ref for ref, _ in shown])
    records = {record.ref: record for record in setup.faults.read(rows, load)}
    return Hits(
        Hit(
            ref=ref,
            text=text,
            score=found[ref].score,
            why=", ".join(f"{name} {value:.2f}" for name, value in found[ref].reasons),
            record=records[ref],
        )
        for ref, text in shown
        if ref in records  # it may have been forgotten a moment ago
    )


class _Lines:
    """Prints hits without a frame: a date for each conversation, then who said what."""

    name = "lines"

    def frame(self, *, hint: bool) -> tuple[str, str]:
        return "", ""

    def heading(self, title: str) -> tuple[str, str]:
        return "", ""

    def group(self, title: str) -> str:
        return f"[{title}]\n"

    def item(self, item: Item, shown: Shown, cost: int) -> str:
        text = " ".join((item.passage or item.text).split())
        return f"{item.label}: {text}\n" if item.label else f"{text}\n"


def _within(setup: Setup, items: Sequence[Item], budget: int) -> list[tuple[str, str]]:
    layout = Layout(renderer=_Lines(), count=setup.count, title=lambda _: "")
    chosen = select_turn(items, budget, layout, setup.floors, index_lines=0, briefly=False)
    block = chosen.block
    shown: list[tuple[str, str]] = []
    heading, refs = "", block.refs
    for mark, text in block.pieces:
        if mark == GROUP:
            heading = text
        elif mark in refs:
            shown.append((mark, (heading + text).rstrip("\n")))
            heading = ""
    return shown

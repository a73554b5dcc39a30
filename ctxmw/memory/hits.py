"""What a search returns to its caller: texts ready to be shown, and the records behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from ..errors import InvalidValue
from ..recall.block import GROUP
from ..recall.pipeline import Recall
from ..recall.render import Layout
from ..recall.selection import Overflow, select_turn
from ..runtime.displayed import Displayed
from ..runtime.telemetry import FOUND, Observer
from ..search.question import Filter
from ..text.lines import as_said
from ..values.argument_checks import (
    check_scope,
    checked_since,
    tokens,
    types_of,
    wanted_metadata,
    whole_number,
)
from ..values.items import Item, Shown
from ..values.metadata import metadata_tags
from ..values.record_items import as_past
from ..values.records import RECORD_TYPES, Record, load
from ..values.situation import Situation
from .as_of import moment_as_of, recall_as_of


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
    past: bool = False
    """Whether it has run out: it held until a day that is over."""


class Hits(Displayed, list[Hit]):
    """What a search found: a list that a notebook shows as a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRequest:
    """What somebody searches for, and how much of it they want; checked when it is made."""

    query: str
    limit: int
    budget: int | None
    """Tokens over the texts of the hits together."""
    kinds: Sequence[str]
    scope: str | None
    since: datetime | None
    metadata: Mapping[str, object] | None = None
    """What its metadata must have; then only memories are found."""
    as_of: date | datetime | None = None
    """The day, or moment, as of which it is answered; None: now."""

    def wanted(self) -> Filter:
        """Return what the search is to find; raise when that cannot be told."""
        if not isinstance(self.query, str):
            raise InvalidValue(
                f"query must be text, not {type(self.query).__name__} ({self.query!r:.60})."
            )
        limit = whole_number(self.limit, "limit")
        tags = () if self.metadata is None else metadata_tags(wanted_metadata(self.metadata))
        return Filter(
            types=types_of(self.kinds) or tuple(RECORD_TYPES),
            tags=tuple(tags),
            scopes=(check_scope(self.scope),) if self.scope is not None else (),
            since=checked_since(self.since),
            tokens=40 * limit if self.budget is None else tokens(self.budget, "budget"),
            # Whoever has no budget may see a turn and what was learned from it.
            lessons=self.budget is None,
            alone=self.budget is None,
        )


def hits_for(recall: Recall, observer: Observer, user: str, asked: HitRequest) -> Hits:
    """Return what answers the request: without a budget the best first, with one to be read.

    The texts of all hits, joined by newlines, cost no more than the budget.
    """
    asked.wanted()  # what makes no sense is refused before anything is read
    if asked.as_of is None:
        return _found(recall, observer, user, asked, recall.journal.clock())
    then = moment_as_of(asked.as_of)
    with recall_as_of(recall, user, then) as as_it_was:
        return _found(as_it_was, observer, user, asked, then)


def _found(recall: Recall, observer: Observer, user: str, asked: HitRequest, now: datetime) -> Hits:
    wanted = asked.wanted()
    situation = Situation(user=user, query=asked.query, now=now)
    with observer.operation("search", query=situation.query) as told:
        answer = recall.find(situation, wanted)
        told[FOUND] = len(answer.items)
    items = [item for item in answer.items if not asked.kinds or item.kind in asked.kinds]
    if asked.budget is None:
        best = sorted(items, key=lambda item: -item.score)[: asked.limit]
        shown = [(item.ref, item.passage or item.text) for item in best]
    else:
        shown = _within(recall, [as_past(item, now) for item in items], asked.budget)
    found = {item.ref: item for item in items}
    rows = recall.journal.store.get(user, [ref for ref, _ in shown])
    records = {record.ref: record for record in recall.journal.faults.read(rows, load)}
    return Hits(
        Hit(
            ref=ref,
            text=text,
            score=found[ref].score,
            why=", ".join(f"{name} {value:.2f}" for name, value in found[ref].reasons),
            record=records[ref],
            past=(until := found[ref].until) is not None and until <= now,
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
        text = as_said(item.passage or item.text)
        return f"{item.label}: {text}\n" if item.label else f"{text}\n"


def _within(recall: Recall, items: Sequence[Item], budget: int) -> list[tuple[str, str]]:
    layout = Layout(renderer=_Lines(), count=recall.printer.count, title=lambda _: "")
    chosen = select_turn(
        items, budget, layout, recall.floors, overflow=Overflow(index_lines=0, briefly=False)
    )
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

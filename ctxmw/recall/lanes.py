"""Lanes being spent: items go into a block while there is room, and what became of each is told.

The draft is priced with the sums of cached counts. At the end it is rendered and counted once as a
whole, and what was added last is dropped while it is over. With tokenizers whose counts add up,
nothing is ever dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ..text.cleaning import GAP
from ..values.items import Item, Shown, by_rank, changed
from .block import FRAME, HUGE, Block, Draft
from .outcome import BlockKind, ItemOutcome, used_of
from .render import Layout

Form = Literal["full", "passage", "brief", "index"]
"""How items are offered: "passage" is in full, but of a long text what matched."""

NOT_SHOWN = 50
"""How many of the items left out are kept one by one; the others are counted by reason."""
_PATIENCE: Mapping[Form, int] = {"full": 40, "passage": 40, "brief": 40, "index": 3}
"""After so many items in a row that do not fit, the rest of a lane is not tried; lines of an index
are much of a length."""
_MUCH_CHEAPER = 0.66
"""What a line in the index may cost at most, of what its text does."""


class Choice(NamedTuple):
    """What became of one item."""

    item: Item
    shown: Shown
    tokens: int
    """What it costs as shown; in full, or about that, when it is not shown."""
    reason: str = ""
    """Why it is shown in part or not at all."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A block, what was chosen for it, and what each lane paid of what it had."""

    block: Block = field(default_factory=Block)
    tokens: int = 0
    choices: tuple[Choice, ...] = ()
    """Everything shown, then the best of what was not."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many more were not shown, by reason."""
    lanes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fault: str = ""
    """What did not work while looking; the rest went on without it."""

    def used(self, block: BlockKind) -> tuple[ItemOutcome, ...]:
        """Return what a record keeps of the choices.

        Many conversations open with the same selection: their records share it.
        """
        known = self._used.get(block)
        if known is None:
            known = self._used[block] = used_of(self.choices, block)
        return known

    @cached_property
    def _used(self) -> dict[BlockKind, tuple[ItemOutcome, ...]]:
        return {}

    @property
    def shown(self) -> frozenset[str]:
        """Refs of what the block shows, in full or in part."""
        return frozenset([choice.item.ref for choice in self.choices if choice.shown != "none"])

    @property
    def until(self) -> datetime | None:
        """When the first of what the block shows runs out."""
        shown = [choice.item for choice in self.choices if choice.shown != "none"]
        return min((item.until for item in shown if item.until is not None), default=None)

    def with_left_out(self, more: Mapping[str, int]) -> Selection:
        """Return the selection with more counted as left out."""
        counts = Counter(self.left_out) + Counter(more)
        return replace(self, left_out=dict(counts))


class Fill:
    """Lanes being spent on a draft."""

    def __init__(self, lanes: Mapping[str, int], layout: Layout, *, hint: bool) -> None:
        self.left = dict(lanes)
        self._limits = dict(lanes)
        self._spent: Counter[str] = Counter()
        self._layout = layout
        self._draft = Draft(
            layout.renderer,
            layout.count,
            layout.title,
            hint=hint and layout.fetches,
            fetches=layout.fetches,
        )
        self._chosen: dict[str, Choice] = {}
        self._paid_by: dict[str, str] = {}

    def shows(self, item: Item) -> bool:
        return item.ref in self._chosen

    def fits(self, items: Iterable[Item], lane: str) -> bool:
        """Say whether all of it fits in full, headings left aside."""
        return sum(map(self._draft.cost, items)) <= self.left[lane]

    def open_frame(self, lane: str) -> bool:
        """Pay for the frame, from this lane first; False when all lanes together cannot."""
        cost = self._draft.frame_cost
        if cost > sum(self.left.values()):
            return False
        for name in (lane, *reversed(self.left)):
            paid = min(cost, self.left[name])
            self._pay(name, paid)
            cost -= paid
        return True

    def take(
        self, items: Iterable[Item], form: Form, lane: str, *, cap: int | None = None
    ) -> list[Item]:
        """Add what fits into the lane, in order; return what did not."""
        rest: list[Item] = []
        room = had = self.left[lane] if cap is None else min(cap, self.left[lane])
        misses, patience = 0, _PATIENCE[form]
        for item in items:
            if item.ref in self._chosen:
                continue
            shown: Shown = form if form != "passage" else "brief" if item.passage else "full"
            price = self._draft.price(item, shown, room) if misses < patience else room + 1
            if price > room:
                rest.append(item)
                misses += 1
                continue
            if form == "index" and not self._saves(item):
                rest.append(item)
                continue
            room -= price
            misses = 0
            self._draft.add(item, shown)
            self._chosen[item.ref] = Choice(item, shown, price)
            self._paid_by[item.ref] = lane
        self._pay(lane, had - room)
        return rest

    def take_lines(self, items: Iterable[Item], lane: str) -> None:
        """Add as many of the first lines of each text as there is room for."""
        for item in items:
            lines = item.text.split("\n")
            if self.shows(item) or len(item.text) > HUGE:
                continue

            def cut(at: int, item: Item = item, lines: Sequence[str] = lines) -> Item:
                return changed(item, passage="\n".join([*lines[:at], GAP]))

            room = self.left[lane]
            fits = range(1, len(lines))
            most = bisect_right(
                fits, room, key=lambda at: self._draft.price(cut(at), "brief", room)
            )
            if most and len(cut(most).passage) > len(item.passage):
                self.take([cut(most)], "brief", lane)

    def list(self, items: Sequence[Item], lane: str, floor: float) -> None:
        """Add what fits into the lane, in order: a line each.

        Where that is not much cheaper than the text, the text of what reaches the floor.
        """
        misses = 0
        for item in items:
            form: Form = "index" if self._saves(item) else "full"
            strange = item.trust == "untrusted" or item.tainted
            if form == "full" and (strange or item.score < floor or item.lane == "index"):
                continue
            misses = misses + 1 if self.take([item], form, lane) else 0
            if misses >= _PATIENCE["index"]:
                return

    def _saves(self, item: Item) -> bool:
        """Say whether a line in the index is much cheaper than the text that it stands for.

        A line is of use to a model that can fetch the text.
        """
        if not self._layout.fetches:
            return False
        if item.lane == "pinned" or item.trust == "untrusted":
            return True  # it must not be missed, or may not be shown
        return self._draft.line_cost(item) <= _MUCH_CHEAPER * self._draft.cost(item)

    def pour(self, lane: str, into: str) -> None:
        """Give what a lane has left over to another."""
        self.left[into] += self.left[lane]
        self.left[lane] = 0

    def pour_all_into(self, lane: str) -> None:
        """Give this lane what every other lane but the index has left over."""
        for name in self.left:
            if name not in (lane, "index"):
                self.pour(name, lane)

    def finish(self, items: Sequence[Item], why: Callable[[Item], str]) -> Selection:
        """Render, count the whole text, and drop from the end while it is over."""
        block = self._draft.block()
        tokens = self._counted(block)
        limit = sum(self._limits.values())
        while tokens > limit and (dropped := self._draft.drop_last()):
            self._give_back(dropped)
            block = self._draft.block()
            tokens = self._counted(block)
        self._return_unused_frame(block)
        lanes = {name: (self._spent[name], limit) for name, limit in self._limits.items()}
        return self._selection(items, why, block=block, tokens=tokens, lanes=lanes)

    def nothing(self, items: Sequence[Item]) -> Selection:
        """Return the selection of a budget that cannot even hold the frame."""
        lanes = {name: (0, limit) for name, limit in self._limits.items()}
        return self._selection(items, lambda _: "over budget", lanes=lanes)

    def _selection(
        self, items: Sequence[Item], why: Callable[[Item], str], **made: Any
    ) -> Selection:
        shown = [
            choice if choice.shown == "full" else _explained(choice, why)
            for choice in self._chosen.values()
        ]
        others = sorted((item for item in items if item.ref not in self._chosen), key=by_rank)
        best = [
            Choice(item, "none", self._draft.about(item), why(item)) for item in others[:NOT_SHOWN]
        ]
        left_out = Counter(why(item) for item in others[NOT_SHOWN:])
        return Selection(choices=(*shown, *best), left_out=left_out, **made)

    def _counted(self, block: Block) -> int:
        return self._layout.count.joined([text for _, text in block.pieces], self._draft.counts)

    def _give_back(self, item: Item) -> None:
        self._spent[self._paid_by[item.ref]] -= self._chosen.pop(item.ref).tokens

    def _return_unused_frame(self, block: Block) -> None:
        """Correct what lanes paid when the block has no hint, or no frame because it is empty."""
        shown = sum(self._layout.count(text) for mark, text in block.pieces if mark == FRAME)
        unused = self._draft.frame_cost - shown
        for name in self._spent:
            back = min(unused, self._spent[name])
            self._spent[name] -= back
            unused -= back

    def _pay(self, lane: str, cost: int) -> None:
        self.left[lane] -= cost
        self._spent[lane] += cost


def _explained(choice: Choice, why: Callable[[Item], str]) -> Choice:
    """Return the choice with why the item is shown in part."""
    matched = choice.shown == "brief" and choice.item.passage
    reason = "what matches of it" if matched else why(choice.item)
    return Choice(item=choice.item, shown=choice.shown, tokens=choice.tokens, reason=reason)

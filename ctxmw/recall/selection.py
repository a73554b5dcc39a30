"""Which items are shown, and how much of each, within a budget that holds to the token.

Plan with the sums of cached counts, render, count the whole text once, and drop what was added
last while it is over. With tokenizers whose counts add up, nothing is ever dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ..search.reading import GAP
from ..text.cleaning import fold
from ..text.phrases import TELLS_WHO
from ..text.terms import content_terms
from ..values.budget import MEMORY_LANES, NOTE_LANES
from ..values.items import (
    Item,
    Scope,
    Shown,
    by_rank,
    changed,
    is_heard,
    newest_first,
    urgency,
)
from ..values.situation import Floors
from .block import FRAME, HUGE, Block, Draft
from .outcome import BlockKind, ItemOutcome, used_of
from .render import Layout, has_brief

Form = Literal["full", "passage", "brief", "index"]
"""How items are offered: "passage" is in full, but of a long text what matched."""

NOT_SHOWN = 50
"""How many of the items left out are kept one by one; the others are counted by reason."""
_PATIENCE: Mapping[Form, int] = {"full": 40, "passage": 40, "brief": 40, "index": 3}
"""After so many items in a row that do not fit, the rest of a lane is not tried; lines of an index
are much of a length."""
_SUMMARY_SHARE = 5 / 8
"""Of the summaries' and the index's tokens, what summaries in full or brief may take."""


_LATEST = 5
"""Notes on what was done, and as many on what was decided, that open a conversation."""
_CLOSES = 0.6
"""The share of an open note's words with which one of something done closes it."""
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


def select_stable(
    items: Sequence[Item], lanes: Mapping[str, int], layout: Layout, floors: Floors
) -> Selection:
    """Choose what opens a conversation: pinned first, then memories and notes, then the index.

    Among memories, instructions go first: a fact can be asked for, but nothing in a request tells
    that an instruction is to be looked up. Their lane has an end, so that many of them leave room
    for facts; what does not fit there competes with these, and has what nobody else needs. What
    one scope leaves over goes to memories of the others. The index has its own lane and no more;
    where a line would cost as much as the text, the text stands there. Of what several
    conversations noted in the same words, the newest is shown, and nothing as open that was done
    since.

    What was said once in passing is found when it is asked for: of that, and of notes, only a full
    appetite takes as much as there is room.

    Untrusted text has no place in a system prompt: it gets an index line at most, in our words.
    """
    fill = _Fill(lanes, layout, hint=True)
    if not fill.open_frame("index"):
        return fill.nothing(items)
    ranked = _ranked(items)
    trusted = [item for item in ranked if item.trust == "trusted" and not item.tainted]
    pinned = [item for item in trusted if item.lane == "pinned"]
    eager = layout.arriving.appetite == "full"
    repeated = _repeated(trusted)
    worthy = [i for i in trusted if i.score >= floors.stable and i.ref not in repeated]
    memories = [item for item in worthy if item.lane in MEMORY_LANES]
    lasting = [item for item in memories if eager or not _in_passing(item)]
    instructions = _scopes_in_turn(item for item in memories if item.instructs)
    fill.take(pinned, "full", "pinned")
    fill.take(instructions, "full", "instructions")
    fill.pour("instructions", "reserve")
    heard = sorted(_others(memories, lasting), key=_as_heard)
    for lane in MEMORY_LANES:
        fill.take([item for item in [*lasting, *heard] if item.lane == lane], "full", lane)
    for lane in MEMORY_LANES:
        fill.pour(lane, "reserve")
    fill.take(lasting, "full", "reserve")
    older = set() if eager else _older(worthy)
    for lane in NOTE_LANES:
        notes = [item for item in worthy if item.lane == lane and item.ref not in older]
        fill.take(notes, "full", lane)
        if lane != "open":
            fill.pour(lane, "open")
    fill.pour_all_into("pinned")
    fill.take(pinned, "full", "pinned")
    fill.take_lines(pinned, "pinned")
    fill.take(filter(has_brief, pinned), "brief", "pinned")
    fill.take(pinned, "index", "pinned")
    fill.pour_all_into("instructions")
    fill.take(instructions, "full", "instructions")
    fill.take(filter(has_brief, instructions), "brief", "instructions")
    _add_summaries(fill, trusted, layout.arriving.recent_sessions)
    listed = [i for i in ranked if i.score >= floors.index and i.ref not in repeated]
    if not eager:
        listed = [i for i in listed if not _in_passing(i) and i.ref not in older]
    lines = [item for item in [*pinned, *_others(listed, pinned)] if not fill.shows(item)]
    fill.list(lines[: layout.arriving.index_entries], "index", floors.stable)
    return fill.finish(ranked, lambda item: repeated.get(item.ref) or _why_not_stable(item, floors))


def select_lanes(items: Sequence[Item], lanes: Mapping[str, int], layout: Layout) -> Selection:
    """Choose for an answer on demand: each lane in full, then what is left as index lines."""
    fill = _Fill(lanes, layout, hint=False)
    if not fill.open_frame("project"):
        return fill.nothing(items)
    ranked = _ranked(items)
    for lane in lanes:
        fill.take([item for item in ranked if item.lane == lane], "full", lane)
    fill.pour_all_into("project")
    for shown in _DEGRADES:
        fill.take(ranked, shown, "project")
    return fill.finish(items, lambda _: "over budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What becomes of what does not fit a turn's part in full."""

    briefly: bool = True
    """Whether it is cut down where that helps."""
    index_lines: int = 10
    """How many are listed at most ..."""
    kept_for_index: int = 0
    """... and how many tokens are left for that when not everything fits."""
    listed: Collection[str] = ()
    """What an index in view lists already."""
    declined: Mapping[str, str] = field(default_factory=dict)
    """What is not shown whatever room there is, by ref, and why: it is told in the record."""


OVERFLOW = Overflow()


def select_turn(
    items: Sequence[Item],
    limit: int,
    layout: Layout,
    floors: Floors,
    *,
    overflow: Overflow = OVERFLOW,
    hint: bool = False,
) -> Selection:
    """Choose for a turn's part, in the order given: in full, else briefly, else a few as an index.

    Items that waited to be shown (critical, high ...) come before what a query brought. With `hint`
    the frame says how to get at what is listed.
    """
    fill = _Fill({"turn": limit}, layout, hint=hint)
    every, declined = items, overflow.declined
    if not fill.open_frame("turn"):
        return fill.nothing(every)
    items = [item for item in every if item.ref not in declined] if declined else every
    listing = overflow.kept_for_index and layout.fetches
    if listing and not fill.fits(items, "turn"):
        cap = max(0, fill.left["turn"] - overflow.kept_for_index)
        fill.take(items, "passage", "turn", cap=cap)
    else:
        fill.take(items, "passage", "turn")
    if overflow.briefly:
        fill.take(filter(has_brief, items), "brief", "turn")
    rest = [item for item in _not_notices(items) if item.ref not in overflow.listed]
    worthy = [item for item in rest if item.score >= floors.index and not fill.shows(item)]
    most, lines = layout.arriving.index_entries, overflow.index_lines
    fill.take(worthy[: lines if most is None else min(lines, most)], "index", "turn")
    return fill.finish(every, lambda item: declined.get(item.ref) or _why(item, floors.index))


_DEGRADES: tuple[Form, ...] = ("full", "brief", "index")


def _add_summaries(fill: _Fill, items: Sequence[Item], most: int) -> None:
    summaries = [item for item in items if item.lane == "index" and item.kind == "summary"]
    dated = sorted(summaries, key=lambda item: (item.at is not None, item.at), reverse=True)
    latest = dated[:most]
    for_lines = fill.left["index"] - int(fill.left["index"] * _SUMMARY_SHARE)
    fill.take(latest, "full", "index", cap=fill.left["index"] - for_lines)
    fill.take(filter(has_brief, latest), "brief", "index", cap=fill.left["index"] - for_lines)
    fill.take(latest, "index", "index")


def _scopes_in_turn(items: Iterable[Item]) -> list[Item]:
    """Return instructions as they are offered: what was stated most often, then the newest.

    Scopes take turns, or many that hold everywhere would leave no room for the project's few.
    """
    told: Counter[Scope] = Counter()
    turns: list[tuple[int, Item]] = []
    for item in sorted(items, key=lambda item: (urgency(item), -item.seen, newest_first(item))):
        turns.append((told[item.scope], item))
        told[item.scope] += 1
    return [item for _, item in sorted(turns, key=lambda turn: turn[0])]


def _in_passing(item: Item) -> bool:
    """Say whether it was heard once, and tells nothing of how to work."""
    return is_heard(item) and item.seen == 1 and not item.instructs


def _older(items: Sequence[Item]) -> set[str]:
    """Return the notes on what was done or decided that others have left behind."""
    lanes = [[item for item in items if item.lane == lane] for lane in ("done", "decided")]
    return {item.ref for notes in lanes for item in sorted(notes, key=newest_first)[_LATEST:]}


def _as_heard(item: Item) -> tuple[bool, float]:
    """Order what was heard in passing: who somebody is, then the newest."""
    return not TELLS_WHO.search(item.text), newest_first(item)


def _repeated(items: Iterable[Item]) -> dict[str, str]:
    """Return why notes are not shown: a newer one says the same, or that it is done."""
    newest: dict[tuple[str, str], Item] = {}
    repeated: dict[str, str] = {}
    done: list[tuple[Item, frozenset[str]]] = []
    for item in sorted(items, key=newest_first):
        if item.lane not in NOTE_LANES:
            continue
        first = newest.setdefault((item.kind, fold(item.text)), item)
        terms = frozenset(content_terms(item.text))
        closed_by = _closing(item, terms, done)
        if first is not item:
            repeated[item.ref] = f"same as {first.ref}"
        elif closed_by:
            repeated[item.ref] = f"closed by {closed_by}"
        elif item.lane == "done":
            done.append((item, terms))
    return repeated


def _closing(item: Item, terms: frozenset[str], done: Sequence[tuple[Item, frozenset[str]]]) -> str:
    """Return the newer note that says of an open one that it is done; "" when none does."""
    if item.lane != "open" or not terms:
        return ""
    least = _CLOSES * len(terms)
    return next((one.ref for one, said in done if len(terms & said) >= least), "")


def _others(items: Iterable[Item], than: Iterable[Item]) -> list[Item]:
    refs = {item.ref for item in than}
    return [item for item in items if item.ref not in refs]


def _not_notices(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.section != "notices"]


def _ranked(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=by_rank)


def _explained(choice: Choice, why: Callable[[Item], str]) -> Choice:
    """Return the choice with why the item is shown in part."""
    matched = choice.shown == "brief" and choice.item.passage
    reason = "what matches of it" if matched else why(choice.item)
    return Choice(item=choice.item, shown=choice.shown, tokens=choice.tokens, reason=reason)


def _why_not_stable(item: Item, floors: Floors) -> str:
    if item.trust == "untrusted" or item.tainted:
        return "untrusted"
    return _why(item, floors.index if item.score < floors.index else floors.stable)


def _why(item: Item, floor: float) -> str:
    if item.lane == "index" and item.kind != "summary":
        return "listed only"
    if item.lane in ("index", "pinned"):
        return "over budget"
    return f"below floor {floor:g}" if item.score < floor else "over budget"


class _Fill:
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
        others = _ranked([item for item in items if item.ref not in self._chosen])
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

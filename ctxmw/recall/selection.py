"""Which items are shown, and how much of each, within a budget that holds to the token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ..text.cleaning import fold
from ..text.phrases import TELLS_WHO
from ..text.terms import content_terms
from ..values.budget import MEMORY_LANES, NOTE_LANES
from ..values.items import (
    Item,
    Scope,
    by_rank,
    is_heard,
    newest_first,
    urgency,
)
from ..values.situation import Floors
from .lanes import Fill, Form, Selection
from .render import Layout, has_brief

_SUMMARY_SHARE = 5 / 8
"""Of the summaries' and the index's tokens, what summaries in full or brief may take."""


_LATEST = 5
"""Notes on what was done, and as many on what was decided, that open a conversation."""
_STALE = timedelta(days=30)
"""By how much the newest of all must be later, for what was left open in passing to be past."""
_CLOSES = 0.6
"""The share of an open note's words with which one of something done closes it."""


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
    fill = Fill(lanes, layout, hint=True)
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
    fill = Fill(lanes, layout, hint=False)
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
    fill = Fill({"turn": limit}, layout, hint=hint)
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


def _add_summaries(fill: Fill, items: Sequence[Item], most: int) -> None:
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
    """Return the notes that others have left behind: things done, decided, or long left open."""
    lanes = [[item for item in items if item.lane == lane] for lane in ("done", "decided")]
    past = {item.ref for notes in lanes for item in sorted(notes, key=newest_first)[_LATEST:]}
    times = {item.ref: item.at for item in items if item.at is not None}
    newest = max(times.values(), default=None)
    stale = {
        item.ref
        for item in items
        if newest
        and item.lane == "open"
        and is_heard(item)
        and item.ref in times
        and newest - times[item.ref] > _STALE
    }
    return past | stale


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

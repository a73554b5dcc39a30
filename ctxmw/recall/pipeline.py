"""The stages from a situation to a block: gather, gate and score, select, render.

`Setup` holds what a middleware was opened with. The functions here read and decide; they write
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from ..compaction.policy import Compaction
from ..conversation.blocks import BlockCache, BuildCache
from ..conversation.replay.prefix import InView, Prefixes
from ..conversation.state import SessionState
from ..learning.policy import Learning, check_trust
from ..learning.summarizers import MeteredSummarizer
from ..protocols import Clock, Renderer, Source, Store, TokenCounter
from ..runtime.async_twins import Workers
from ..runtime.deadline import LATE, Aside, Deadline, Late
from ..runtime.faults import Faults
from ..runtime.lru import LruCache, Share
from ..runtime.observing import Observer
from ..runtime.stages import stage
from ..runtime.stats import Stats
from ..search.filter import Filter
from ..search.per_user import SEARCHED
from ..search.search import Found, Search
from ..search.vectors.dense import Dense
from ..store.feed import Feed
from ..values.budget import MEMORY_LANES, Budget, OnDemand
from ..values.items import PRIORITIES, Item, Trust
from ..values.messages import Placement
from ..values.records import Derived, Turn, load, load_as
from ..values.scoring import Floors, Weights
from ..values.situation import Situation
from .admission import Arriving
from .catalog import AgentSearch, Catalog
from .render import title_of
from .selection import Layout, Selection, select_stable, select_turn
from .sources import Directory, Memories, Sessions
from .sources.own import offered
from .surroundings import Brought, Surroundings

if TYPE_CHECKING:
    from ..learning.distill import Distiller

SMALLEST_ITEM, LISTED = 10, 30
"""Tokens of a short line; candidates beyond what fits, for the index and the record."""
SMALLEST_ENTRY, RECORDED = 16, 10
"""Tokens of a short line in the index; candidates for it beyond that, for the record."""
_QUOTING = ("memory", "observation", "note")
"""What is learned from a turn and may repeat its words."""


StartupChoice = tuple[Budget, tuple[Item, ...], Counter[str]]
"""What an opening is chosen of: for which budget, of which items, with how many left out before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a middleware works with; every conversation shares it."""

    store: Store
    feed: Feed
    clock: Clock
    random: Random
    count: TokenCounter
    counter: str
    """The name of the counter, for records."""
    exact: bool
    renderer: Renderer
    budget: Budget
    on_demand: OnDemand
    weights: Weights
    floors: Floors
    arriving: Arriving
    placement: Placement
    """Where blocks go unless a conversation says otherwise."""
    sources: tuple[Source, ...]
    window: int | None
    """The model's context window in tokens, where known."""
    compaction: Compaction
    dense: Dense | None
    search: Search
    deadline: float | None
    """Milliseconds that the search for a turn's part may take; None: any number."""
    aside: Aside
    catalog: Catalog
    agent_search: AgentSearch
    surroundings: Surroundings
    builds: BuildCache
    blocks: BlockCache
    printed: LruCache[tuple[Hashable, ...], tuple[str, int]]
    """What was printed before, by user."""
    openings: LruCache[tuple[str, str | None, str | None], tuple[StartupChoice, Selection]]
    """What opened a conversation last, and of what it was chosen."""
    states: LruCache[tuple[str, str], tuple[str, SessionState]]
    """States of conversations as they were last read, with the text they were read from."""
    prefixes: Prefixes
    stats: Stats
    observer: Observer
    faults: Faults
    summarizer: MeteredSummarizer | None
    distiller: Distiller | None
    """Puts conversations to the summarizer; None when nothing is to be asked."""
    warned: LruCache[str, datetime]
    """When each stage was last warned about."""
    learn: Learning
    trust: Mapping[str, Trust]
    """How far each source is trusted, where that is not plain."""
    idle: LruCache[str, datetime]
    """When each user's conversations were last looked at for one that has ended."""
    strict: bool
    on_error: Callable[[str, Exception], None] | None
    workers: Workers

    def has_news(self, user: str) -> None:
        """Say that something of the user was written: it can be worked on beside the requests."""
        if self.dense is not None:
            self.dense.embed_soon(user)
        if self.distiller is not None:
            self.distiller.work_off(self)

    def due(self) -> Deadline | None:
        """Return until when an answer is of use; waiting for a thread is part of that time."""
        if self.deadline is None:
            return None
        return Deadline.within(self.deadline, self.workers.began)

    @property
    def patience(self) -> float | None:
        """Seconds after which a call that was not begun goes out without memory; None: never.

        Past the deadline it still gets what needs no search, for half as long again.
        """
        return None if self.deadline is None else 1.5 * self.deadline / 1000

    def layout(self, situation: Situation) -> Layout:
        """Return how blocks are printed for this situation."""

        def title(section: str) -> str:
            return title_of(section, project=situation.project, language=situation.language)

        return Layout(
            renderer=self.renderer,
            count=self.count,
            title=title,
            printed=Share(self.printed, situation.user),
            arriving=self.arriving,
        )

    def trust_in(self, source: str, given: Trust | None) -> Trust:
        """Return how far a source is trusted: as the call says, else as it was opened with."""
        trust = self.trust.get(source, "trusted") if given is None else given
        check_trust(trust)
        return trust

    @property
    def own_sources(self) -> tuple[Source, ...]:
        """The sources of the application's own."""
        ours = (Memories, Sessions, Directory)
        return tuple(source for source in self.sources if not isinstance(source, ours))


def build_stable(
    setup: Setup,
    situation: Situation,
    budget: Budget,
    *,
    own: Own | None = None,
    pinned: Sequence[Item] = (),
    removed: Collection[str] = (),
) -> Selection:
    """Choose and render what opens the conversation.

    `own` is what the application's sources have, when they were asked already.
    """
    taken = {*removed, *(item.ref for item in pinned)}
    offers = own_items(setup, situation) if own is None else own
    gathered = gather(setup, situation, budget, offers)
    found = [item for item in gathered.items if item.ref not in taken]
    items = (*pinned, *found)
    key = (situation.user, situation.project, situation.language)
    # Most conversations of a user begin with the same: then it is the same choice.
    of = (budget, items, gathered.left_out)
    known = setup.openings.get(key)
    if known is None or known[0] != of:
        with stage("select"):
            chosen = select_stable(items, budget.lanes(), setup.layout(situation), setup.floors)
        known = of, chosen.with_left_out(gathered.left_out)
        setup.openings.put(key, known)
    return replace(known[1], fault=offers.fault) if offers.fault else known[1]


def build_part(
    setup: Setup,
    situation: Situation,
    budget: Budget,
    *,
    own: Own | None = None,
    waiting: Sequence[Item] = (),
    called: Sequence[Item] = (),
    brought: Brought | None = None,
    in_view: Collection[str] = (),
    whole: Collection[str] = (),
    listed: Collection[str] = (),
    said: InView | None = None,
    hint: bool = False,
    head: int | None = None,
) -> Selection:
    """Choose and render what this turn brings: what waited to be said, then what was asked for.

    What comes by itself (`brought`) shares the room: code gets half of it before search does.

    What is in view is left out, and so is what was learned from those of it that are there in full
    (`whole`), turns that these quote, and turns of this conversation that the prompt holds
    (`said`). What an index in view lists is not listed again.
    """
    sent, shown = said or InView(), frozenset(whole)

    def is_new(item: Item) -> bool:
        return item.ref not in in_view and not (item.kind == "turn" and sent.holds(item))

    deadline = setup.due()
    wanted = Filter(
        without=frozenset(in_view) | sent.refs,
        own=sent.own(situation.session),
        worthwhile=True,
        tokens=budget.turn_limit,
        deadline=deadline,
        head=head,
        types=SEARCHED if setup.arriving.session_history else ("memory",),
    )
    around = brought or Brought()
    situation = around.seen_from(situation)
    with stage("search"):
        found = setup.search.find(situation, setup.weights, wanted)
    other = [item for item in filter(is_new, found.items) if shown.isdisjoint(item.origins)]
    new = _unquoted(setup, situation.user, unsaid(setup, situation.user, other, sent), shown)
    hits = setup.arriving.admitted(new)
    asked = hits if opens(found, setup.floors) else []
    code = list(filter(is_new, around.code))
    ahead = len(code)
    if asked:
        ahead = _fitting(code, budget.turn_limit // 2, setup.count)
    offers = own_items(setup, situation) if own is None else own
    for_turn = [item for item in offers.items if item.lane == "turn"]
    urgent, normal, low = _by_urgency([*waiting, *around.modes, *for_turn])
    first = filter(is_new, [*urgent, *normal, *called, *around.rules])
    last = filter(is_new, [*low, *around.readme])
    items = [*first, *code[:ahead], *asked, *code[ahead:], *last]
    layout = setup.layout(situation)
    limit, floors = budget.turn_limit, setup.floors
    with stage("select"):
        chosen = select_turn(items, limit, layout, floors, listed=listed, hint=hint)
    return replace(chosen, fault=", ".join(filter(None, [found.fault, offers.fault])))


def _by_urgency(items: Sequence[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """Return what goes before everything else, what goes first, and what goes last."""
    ordered = sorted(items, key=lambda item: PRIORITIES.index(item.priority))
    urgent = [item for item in ordered if item.priority in ("critical", "high")]
    normal = [item for item in ordered if item.priority == "normal"]
    return urgent, normal, ordered[len(urgent) + len(normal) :]


def _fitting(items: Sequence[Item], tokens: int, count: TokenCounter) -> int:
    """Return how many of the items, in order, have no more tokens than that."""
    for at, item in enumerate(items):
        tokens -= count(item.text)
        if tokens < 0:
            return at
    return len(items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What sources of the application's own have to offer, and which of them were late."""

    items: tuple[Item, ...] = ()
    fault: str = ""


def own_items(setup: Setup, situation: Situation) -> Own:
    """Ask the application's own sources; what one has not got in time is left out."""
    deadline = setup.due()
    items: list[Item] = []
    late: list[str] = []
    for source in setup.own_sources:
        try:
            ask = partial(offered, source, situation, setup.weights)
            items += setup.aside.call(ask, deadline, f"source {source.name}")
        except Late:
            setup.stats.count(f"degraded.{source.name}.{LATE}")
            late.append(f"{source.name}: {LATE}")
    return Own(items=tuple(items), fault=", ".join(late))


def unsaid(setup: Setup, user: str, items: Sequence[Item], said: InView) -> Sequence[Item]:
    """Return the items without what was learned from a message that is in view."""
    origins = {ref for item in items for ref in item.origins}
    if not origins:
        return items
    rows = [row for row in setup.store.get(user, sorted(origins)) if row.type == "turn"]
    turns = setup.faults.read(rows, lambda row: load_as(row, Turn))
    seen = {turn.ref for turn in turns if turn.print in said.prints}
    return [item for item in items if seen.isdisjoint(item.origins)]


def _unquoted(
    setup: Setup, user: str, items: Sequence[Item], shown: Collection[str]
) -> Sequence[Item]:
    """Return the items without turns that something shown in full was learned from, and quotes."""
    turns = {item.ref: item for item in items if item.kind == "turn"}
    if not turns or not shown:
        return items
    rows = [row for row in setup.store.get(user, sorted(shown)) if row.type in _QUOTING]
    quoted = {
        ref
        for record in setup.faults.read(rows, load)
        if isinstance(record, Derived)
        for ref in record.derived_from
        if ref in turns and _on_one_line(turns[ref].text) in _on_one_line(record.says())
    }
    return [item for item in items if item.ref not in quoted]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Candidates for the stable block, and how many more there are, none of them among the best."""

    items: list[Item]
    left_out: Counter[str]


def gather(setup: Setup, situation: Situation, budget: Budget, own: Own) -> Gathered:
    """Return what the sources have to offer here, rated; of a large source only its best."""
    most = candidates_per_lane(budget)
    items: list[Item] = []
    left_out: Counter[str] = Counter()
    for source in setup.sources:
        if isinstance(source, Sessions) and not setup.arriving.session_history:
            continue
        if isinstance(source, Memories | Sessions):
            listed = source.best(situation, setup.weights, most)
            items += setup.arriving.admitted(listed.items)
            above, below = listed.left_out(setup.floors.stable)
            left_out += Counter({"over budget": above})
            left_out += Counter({f"below floor {setup.floors.stable:g}": below})
        elif isinstance(source, Directory):
            items += offered(source, situation, setup.weights)
    items += [item for item in own.items if item.lane != "turn"]
    return Gathered(items=items, left_out=left_out)


def candidates_per_lane(budget: Budget) -> dict[str, int]:
    """Return how many items of each lane can come into question: more than could ever fit."""
    lanes = budget.lanes()
    shared = lanes["reserve"] + lanes["instructions"]
    room = {
        name: limit + (shared if name in MEMORY_LANES else lanes["reserve"])
        for name, limit in lanes.items()
        if name not in ("reserve", "pinned")
    }
    # They have whatever nobody else needs.
    room["instructions"] = budget.stable_limit
    return {name: _most(name, tokens) for name, tokens in room.items()}


def _most(lane: str, tokens: int) -> int:
    if lane == "index":
        return tokens // SMALLEST_ENTRY + RECORDED
    return tokens // SMALLEST_ITEM + LISTED


def opens(found: Found, floors: Floors) -> bool:
    """Say whether a question brings anything.

    The floor gates the question and not each hit: what an answer needs often matches weakly, but
    among it there is something that matches well. "thanks!" has nothing.
    """
    reached = found.named or any(item.score >= floors.query for item in found.items)
    return found.opens and reached

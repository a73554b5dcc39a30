"""The stages from a situation to a block: gather, gate and score, select, render.

`Recall` holds what they need. The functions here read and decide; they write nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from ..protocols import TokenCounter
from ..runtime.deadline import LATE, Late, TimeLimit
from ..runtime.lru import LruCache
from ..runtime.telemetry import Stats, stage
from ..search.question import SEARCHED, Filter
from ..store.journal import Journal
from ..values.budget import MEMORY_LANES, Budget
from ..values.items import PRIORITIES, Item
from ..values.situation import Floors, Situation, Weights
from .catalog import Catalog
from .in_view import AlreadyShown, not_over, under_their_questions, unquoted, unsaid
from .lanes import Selection
from .offering.view import AgentSearch
from .on_topic import admitted, apart_from, for_the_opening, on_topic
from .render import Printer
from .selection import Overflow, select_stable, select_turn
from .sources.own import OwnSource
from .sources.shelf import ListedSource
from .surroundings import Brought, Surroundings, is_small_talk

if TYPE_CHECKING:
    from ..search.feedback import Opinions
    from ..search.search import Found, Search

SMALLEST_ITEM, LISTED = 10, 30
"""Tokens of a short line; candidates beyond what fits, for the index and the record."""
SMALLEST_ENTRY, RECORDED = 16, 10
"""Tokens of a short line in the index; candidates for it beyond that, for the record."""


StartupChoice = tuple[Budget, bool, tuple[Item, ...], Counter[str]]
"""What an opening is chosen of: for which budget, for a model that can fetch or not, of which
items, with how many left out before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What prompts are made from: where items come from, what counts, and how it is printed."""

    journal: Journal
    sources: tuple[ListedSource, ...]
    own_sources: tuple[OwnSource, ...]
    """Sources of the application's own, which may be slow: asked once a turn, in time."""
    search: Search
    opinions: Opinions | None
    """What people said of what they were shown; None where that is not to count."""
    catalog: Catalog
    agent_search: AgentSearch
    surroundings: Surroundings
    weights: Weights
    floors: Floors
    printer: Printer
    limit: TimeLimit
    """On the search for a turn's part, and on sources of the application's own."""
    stats: Stats
    sensitive: Literal["on_topic", "always", "never"] = "on_topic"
    """When what is sensitive is recalled: where it is spoken of, always, or never of a turn."""
    openings: LruCache[tuple[str, str | None, str | None], tuple[StartupChoice, Selection]] = field(
        default_factory=lambda: LruCache(64)
    )
    """What opened a conversation last, and of what it was chosen."""

    def find(self, situation: Situation, wanted: Filter) -> Found:
        """Return what answers the question of this situation."""
        if self.opinions is not None:
            moved = self.opinions.moved(situation.user, situation.query, wanted.head)
            wanted = replace(wanted, moved=moved) if moved else wanted
        return self.search.find(situation, self.weights, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOffers:
    """What comes to a turn without being searched for."""

    own: Own | None = None
    """What the application's sources have, when they were asked already."""
    waiting: Sequence[Item] = ()
    called: Sequence[Item] = ()
    notes: Sequence[Item] = ()
    """Where the work stands, as far as that is not for a system prompt."""
    brought: Brought = field(default_factory=Brought)


def build_stable(
    recall: Recall,
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
    offers = own_items(recall, situation) if own is None else own
    gathered = gather(recall, situation, budget, offers)
    found = [item for item in gathered.items if item.ref not in taken]
    items = (*pinned, *found)
    key = (situation.user, situation.project, situation.language)
    # Most conversations of a user begin with the same: then it is the same choice.
    of = (budget, situation.fetches, items, gathered.left_out)
    known = recall.openings.get(key)
    if known is None or known[0] != of:
        with stage("select"):
            chosen = select_stable(
                items, budget.lanes(), recall.printer.layout(situation), recall.floors
            )
        known = of, chosen.with_left_out(gathered.left_out)
        recall.openings.put(key, known)
    return replace(known[1], fault=offers.fault) if offers.fault else known[1]


def build_part(
    recall: Recall,
    situation: Situation,
    budget: Budget,
    offers: TurnOffers,
    shown: AlreadyShown,
    *,
    head: int | None = None,
) -> Selection:
    """Choose and render what this turn brings: what waited to be said, then what was asked for.

    What comes by itself (`brought`) shares the room: code gets half of it before search does.

    What is in view is left out, and so is what was learned from those of it that are there in full,
    turns that these quote, and turns of this conversation that the prompt holds. What an index in
    view lists is not listed again.
    """
    sent, whole = shown.said, frozenset(shown.whole)

    def is_new(item: Item) -> bool:
        return item.ref not in shown.refs and not (item.kind == "turn" and sent.holds(item))

    wanted = Filter(
        without=frozenset(shown.refs) | sent.refs,
        own=sent.own(situation.session),
        past=False,
        worthwhile=True,
        appetite=recall.printer.arriving.appetite,
        tokens=budget.turn_limit,
        deadline=recall.limit.due(),
        head=head,
        types=SEARCHED if recall.printer.arriving.session_history else ("memory",),
    )
    around = offers.brought
    situation = around.seen_from(situation)
    with stage("search"):
        found = recall.find(situation, wanted)
    other = [item for item in filter(is_new, found.items) if whole.isdisjoint(item.origins)]
    unheard = unsaid(recall.journal, situation.user, other, sent)
    new = unquoted(unheard, _in_view(recall, situation, unheard, shown, head), shown)
    if new:
        over = recall.search.run_out(situation.user, situation.now, head)
        new = not_over(recall.journal, situation.user, new, over)
    told = [item for item in on_topic(recall, situation, wanted) if is_new(item)]
    told = [item for item in told if whole.isdisjoint(item.origins)]
    told = list(unsaid(recall.journal, situation.user, told, sent))
    known = {item.ref for item in told}
    hits = recall.printer.arriving.admitted(new)
    if recall.sensitive != "always":
        hits = admitted(hits, situation, of_turns=recall.sensitive != "never")
    hits = [item for item in hits if item.ref not in known]
    declined = _declined(hits, found, recall.floors, shown)
    asked = _with_questions(hits, found, shown, declined)
    declined = _others(declined, asked)
    asked = [*told, *apart_from(asked, told)]
    code = list(filter(is_new, around.code))
    ahead = len(code)
    if asked:
        ahead = _fitting(code, budget.turn_limit // 2, recall.printer.count)
    own = own_items(recall, situation) if offers.own is None else offers.own
    for_turn = [item for item in own.items if item.lane == "turn"]
    urgent, normal, low = _by_urgency([*offers.waiting, *around.modes, *for_turn])
    first = filter(is_new, [*urgent, *normal, *offers.called, *around.rules])
    hit = {item.ref for item in asked}
    stands = [] if is_small_talk(situation.query) else offers.notes
    notes = [one for one in recall.printer.arriving.admitted(stands) if one.ref not in hit]
    last = filter(is_new, [*low, *around.readme, *notes])
    items = [*first, *code[:ahead], *asked, *code[ahead:], *last]
    layout = recall.printer.layout(situation)
    limit, floors = budget.turn_limit, recall.floors
    with stage("select"):
        hint = not shown.points_on
        chosen = select_turn(
            [*items, *_named_in(declined, hits)],
            limit,
            layout,
            floors,
            overflow=Overflow(listed=shown.listed, declined=declined),
            hint=hint,
        )
    return replace(chosen, fault=", ".join(filter(None, [found.fault, own.fault])))


def _in_view(
    recall: Recall,
    situation: Situation,
    found: Sequence[Item],
    shown: AlreadyShown,
    head: int | None,
) -> list[Item]:
    """Return what is in view, where turns were found that might say the same again."""
    if not any(item.kind == "turn" for item in found):
        return []
    return recall.search.read(situation.user, shown.refs, head)


NOT_WORTH_IT = "not worth its tokens"
NOTHING_ASKED = "nothing here was asked for"
SMALL_TALK = "small talk"
SAID_IN_VIEW = "same words in view"
BESIDE_IN_VIEW = "beside what is in view"


def _declined(
    hits: Sequence[Item], found: Found, floors: Floors, shown: AlreadyShown
) -> dict[str, str]:
    """Return why hits are not shown, however much room there is."""
    if not opens(found, floors):
        return dict.fromkeys([item.ref for item in hits], NOTHING_ASKED)
    declined: dict[str, str] = {}
    for item in hits:
        if item.ref in found.too_little:
            declined[item.ref] = NOT_WORTH_IT
        elif item.kind == "turn" and is_small_talk(item.text):
            declined[item.ref] = SMALL_TALK
        elif shown.says(item.text):
            declined[item.ref] = SAID_IN_VIEW
    said = {item.ref for item in found.items if _is_said(item, shown, declined)}
    in_view = said.union(shown.refs)
    for item in hits:
        if item.ref in found.beside and found.beside[item.ref] <= in_view:
            declined.setdefault(item.ref, BESIDE_IN_VIEW)
    return declined


def _with_questions(
    hits: Sequence[Item], found: Found, shown: AlreadyShown, declined: Mapping[str, str]
) -> list[Item]:
    """Return what is not declined, with questions where an answer would stand under another."""
    asked = [item for item in hits if item.ref not in declined]
    withheld = [
        item
        for item in found.items
        if _is_said(item, shown, declined) or declined.get(item.ref) == NOT_WORTH_IT
    ]
    return under_their_questions(asked, withheld)


def _is_said(item: Item, shown: AlreadyShown, declined: Mapping[str, str]) -> bool:
    """Say whether the prompt has the words of a hit already."""
    return declined.get(item.ref) == SAID_IN_VIEW or (
        item.kind == "turn" and shown.said.holds(item)
    )


def _others(declined: Mapping[str, str], shown: Sequence[Item]) -> dict[str, str]:
    refs = {item.ref for item in shown}
    return {ref: why for ref, why in declined.items() if ref not in refs}


def _named_in(declined: Collection[str], hits: Sequence[Item]) -> list[Item]:
    return [item for item in hits if item.ref in declined]


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


def own_items(recall: Recall, situation: Situation) -> Own:
    """Ask the application's own sources; what one has not got in time is left out."""
    deadline = recall.limit.due()
    skills = recall.catalog.skills
    # They are at hand, and most conversations have none.
    listed = (
        OwnSource(skills).best(situation, recall.weights).items
        if (skills.added or situation.cwd)
        else ()
    )
    items: list[Item] = list(listed)
    late: list[str] = []
    for source in recall.own_sources:
        try:
            ask = partial(source.best, situation, recall.weights)
            items += recall.limit.aside.call(ask, deadline, f"source {source.name}").items
        except Late:
            recall.stats.count(f"degraded.{source.name}.{LATE}")
            late.append(f"{source.name}: {LATE}")
    return Own(items=tuple(items), fault=", ".join(late))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Candidates for the stable block, and how many more there are, none of them among the best."""

    items: list[Item]
    left_out: Counter[str]


def gather(recall: Recall, situation: Situation, budget: Budget, own: Own) -> Gathered:
    """Return what the sources have to offer here, rated; of a large source only its best."""
    most = candidates_per_lane(budget)
    items: list[Item] = []
    left_out: Counter[str] = Counter()
    for source in recall.sources:
        listed = source.best(situation, recall.weights, most)
        items += recall.printer.arriving.admitted(listed.items)
        above, below = listed.left_out(recall.floors.stable)
        left_out += Counter({"over budget": above, f"below floor {recall.floors.stable:g}": below})
    items = for_the_opening(items)
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

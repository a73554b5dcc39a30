"""Answers to the agent's own questions, within what a conversation may fetch in one epoch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ..conversation.blocks import Blocks
from ..conversation.conversation import Conversations, Identity
from ..conversation.record import Build
from ..conversation.replay.views import View, archive_item, transcript
from ..conversation.sent import kept_answer
from ..conversation.state import Ledger, SessionState
from ..protocols import Row
from ..recall.entries import Entry
from ..recall.in_view import AlreadyShown, InView, is_emptied, unsaid
from ..recall.lanes import Choice, Selection
from ..recall.offering.view import context_in
from ..recall.on_topic import admitted
from ..recall.pipeline import Recall
from ..recall.selection import Overflow, select_lanes, select_turn
from ..recall.sources.records import Memories
from ..search.question import Filter
from ..search.reading import opens_at
from ..values.argument_checks import check_kind
from ..values.budget import MEMORY_LANES, NOTE_LANES, OnDemand
from ..values.items import Item, Scope
from ..values.record_items import as_past, record_item
from ..values.records import MEMORY_KINDS, RECORD_TYPES, TYPES_OF_KIND, Memory, Record, load
from ..values.situation import Situation, score_all
from .binding import found_tools

_NAMED = 8
"""Ids that the next call is told, and an answer past the cap."""
_MORE = 100
"""Tokens left for saying so."""
_CODE = 2
"""An answer about code may have so many times the tokens of one about memories."""
_DOES_NOT_FIT = "Something was found, but it does not fit: ask for ids with mem_search.\n"


class OnDemandAnswers:
    """What mem_search, mem_get, memory_context and code_search answer in one conversation."""

    def __init__(
        self, recall: Recall, conversations: Conversations, policy: OnDemand, who: Identity
    ) -> None:
        self._recall = recall
        self._conversations = conversations
        self._policy = policy
        self._who = who
        self._store = recall.journal.store
        self._count = recall.printer.count

    def given_out(self) -> None:
        """Keep that tools were made which ask here: prompts may tell of what these would bring."""
        self._conversations.tools_given.set()

    def search(self, query: str, kinds: Sequence[str] = ()) -> str:
        """Return the best passages for a query that are not in view."""
        if not query.strip():
            return 'mem_search needs a query, such as {"query": "login token"}.'
        for kind in kinds:
            check_kind(kind, tuple(TYPES_OF_KIND), "record")
        state, situation = self._here(query)
        in_view = self._in_view(state)
        said = self._conversations.in_view.get((state.user, state.session)) or InView()
        limit = self._policy.search
        wanted = Filter(own=said.own(state.session), without=said.refs, tokens=limit)
        found = [
            item for item in self._recall.find(situation, wanted).items if not said.holds(item)
        ]
        found = list(unsaid(self._recall.journal, state.user, found, said))
        allowed = _allowed(self._recall, situation, found, state.removed)
        hits = [item for item in allowed if not kinds or item.kind in kinds]
        new = _not_in_view(hits, in_view, state, Blocks(self._store, state.user))
        new = [_with_id(as_past(item, situation.now)) for item in new]
        if not new:
            return self._nothing(query, hits)
        layout, floors = self._recall.printer.layout(situation), self._recall.floors
        chosen = select_turn(
            new, limit, layout, floors, overflow=Overflow(kept_for_index=limit // 6)
        )
        return self._answer(chosen)

    def code(self, query: str, *, counted: bool = True) -> str:
        """Return the code of this project that a query is about.

        Unless `counted`, for a person who looks and not for the agent, nothing is written.
        """
        if not query.strip():
            return 'code_search needs a query, such as {"query": "retries of uploads"}.'
        _, situation = self._here(query)
        if not situation.project:
            return "No project is at hand: open the conversation in its folder or name it.\n"
        limit = _CODE * self._policy.search
        items = self._recall.surroundings.search_code(situation, limit)
        if items is None:
            return f"No code of {situation.project} is indexed: run `ctxmw index` in its folder.\n"
        if not items:
            return f"No code of {situation.project} fits {query[:80]!r}.\n"
        layout, floors = self._recall.printer.layout(situation), self._recall.floors
        found = select_turn(items, limit, layout, floors)
        return self._answer(found) if counted else found.block.text or _DOES_NOT_FIT

    def tools(self, query: str, names: Sequence[str] = ()) -> str:
        """Return what the application's catalog has for a query, and load the best of it."""
        state = self._conversations.load(self._who)
        context = context_in(self._recall.catalog.view(), state.added, state.removed)
        answer = found_tools(self._recall, context, query, names)
        with self._store.atomic(self._who.user):
            before = self._conversations.load(self._who).loaded
            loaded = tuple(dict.fromkeys((*before, *answer.load)))
            self._conversations.change(self._who, loaded=loaded)
            self._charge(self._count(answer.text))
        return answer.text

    def get(self, ids: Sequence[str], offset: int = 0, query: str = "") -> str:
        """Return records in full, as many as fit; a long one page by page.

        With a query, the first opens where it speaks of that, unless all of it fits.
        """
        if not ids:
            return 'mem_get needs ids, such as {"ids": ["m3k7qza"]}: see the index or mem_search.'
        rows = self._store.get(self._who.user, list(dict.fromkeys(ids)))
        found = [item for item in map(self._item_of, rows) if item is not None]
        found += self._around([ref for ref in ids if ref not in {item.ref for item in found}])
        missing = [ref for ref in ids if ref not in {item.ref for item in found}]
        told = f"No record has the id {', '.join(missing)[:200]}. mem_search finds ids.\n"
        if not found:
            return told
        if offset >= max(1, len(found[0].text)):
            return f"{found[0].ref} has {len(found[0].text)} characters: nothing is at {offset}.\n"
        told = told if missing else ""
        if query and not offset and self._count(found[0].text) > self._policy.get - _MORE:
            offset = opens_at(found[0].text, query)
            told += f"{found[0].ref} from {offset} of {len(found[0].text)} characters:\n"
        pages = told + self._pages(found, offset, self._count(told))
        shown = [Choice(item, "full", 0) for item in found if item.ref in pages]
        self._charge(self._count(pages), told=(pages, shown))
        return pages

    def context(self, query: str | None, scope: str | None, kind: str | None) -> str:
        """Return what holds here, by topic, scope or kind, in lanes; past the cap ids alone."""
        if kind:
            check_kind(kind, MEMORY_KINDS, "memory")
        where = Scope.parse(scope) if scope else None
        state, situation = self._here(query or "", where)
        items = [item for item in self._memories(situation) if not kind or item.kind == kind]
        allowed = [item for item in items if item.ref not in state.removed]
        wanted = [item for item in allowed if where is None or item.scope == where]
        in_view = self._in_view(state)
        new = [_with_id(item) for item in wanted if item.ref not in in_view]
        if not new:
            return self._nothing(query or "memories", wanted)
        left, layout = self._left(state), self._recall.printer.layout(situation)
        if left:
            lanes = self._policy.lanes()
            scaled = {name: size * left // sum(lanes.values()) for name, size in lanes.items()}
            chosen = select_lanes(new, scaled, layout)
            # Another call may have used up what was left.
            if self._charge(chosen.tokens, query=True, told=_told(chosen)):
                return _told(chosen)[0]
        ids = ", ".join(item.ref for item in new[:_NAMED])
        told = f"The budget for memory_context is used up (0 calls left); mem_get has {ids}.\n"
        self._charge(self._count(told))
        return told

    def _around(self, refs: Sequence[str]) -> list[Item]:
        """Return what of these is code, or a file of the folder at hand."""
        _, situation = self._here("")
        found = [_found_around(self._recall, situation, ref) for ref in dict.fromkeys(refs)]
        return [replace(item, label=f"{item.ref} {item.label}") for item in found if item]

    def _here(self, query: str, scope: Scope | None = None) -> tuple[SessionState, Situation]:
        state = self._conversations.load(self._who)
        situation = self._who.situation(state, self._recall.journal.clock(), query)
        if scope is None or scope.kind == "universal":
            return state, situation
        if scope.kind == "language":
            return state, replace(situation, language=scope.name)
        return state, replace(situation, project=scope.name)

    def _memories(self, situation: Situation) -> list[Item]:
        floor, weights = self._recall.floors.query, self._recall.weights
        if situation.query.strip():
            wanted = Filter(types=("memory",), past=False, alone=True)
            items = list(self._recall.find(situation, wanted).items)
        else:
            # The newest first: among those of the same score and time, that is what counts.
            kept = reversed(Memories(self._store, self._recall.journal.faults).items(situation))
            items = score_all(kept, situation, weights)
        return [item for item in items if item.score >= floor]

    def _in_view(self, state: SessionState) -> set[str]:
        if not state.epoch:
            return set()
        stable = self._stable(state)
        return {*stable.in_view, *(ref for part in state.parts for ref in part.shows)}

    def _stable(self, state: SessionState) -> Build:
        archive = Blocks(self._store, state.user, self._conversations.builds)
        return archive.build(state.stable_build)

    def _left(self, state: SessionState) -> int:
        """Return the tokens that memory_context may still use in this epoch."""
        policy = self._policy
        if state.ledger.queries >= policy.queries:
            return 0
        opened = 0
        if state.epoch:
            lanes = self._stable(state).lanes
            counted = ("instructions", *MEMORY_LANES, "reserve", *NOTE_LANES)
            opened = sum(lanes[name][0] for name in counted if name in lanes)
        left = policy.session - opened - state.ledger.tokens
        return max(0, min(sum(policy.lanes().values()), left))

    def _answer(self, selection: Selection) -> str:
        self._charge(selection.tokens, told=_told(selection))
        return _told(selection)[0]

    def _charge(self, tokens: int, *, query: bool = False, told: Told = ("", ())) -> bool:
        """Count an answer in the ledger; False for a query that is over its cap by now.

        `told` is the answer and what it shows, for the record of the next prompt.
        """
        with self._store.atomic(self._who.user):
            state = self._conversations.load(self._who)
            if query and tokens > self._left(state):
                return False
            ledger = Ledger(
                queries=state.ledger.queries + query,
                tokens=state.ledger.tokens + (tokens if query else 0),
                fetched=state.ledger.fetched + tokens,
            )
            answers = kept_answer(self._recall.journal, self._who, state, *told)
            self._conversations.change(self._who, ledger=ledger, answers=answers)
        return True

    def _pages(self, items: Sequence[Item], offset: int, spent: int) -> str:
        room = self._policy.get - spent - _MORE
        opening, closing = self._recall.printer.renderer.frame(hint=False)
        room -= self._count(opening) + self._count(closing)
        lines, more = [], ""
        for at, item in enumerate(items):
            text = item.text[offset if at == 0 else 0 :]
            line, taken = self._page(replace(item, text=text), room)
            if not taken and text:
                more = _next_call([other.ref for other in items[at:]], 0)
                break
            lines.append(line)
            room -= self._count(line)
            if taken < len(text):
                start = (offset if at == 0 else 0) + taken
                more = _next_call([other.ref for other in items[at:]], start)
                break
        return "".join([opening, *lines, closing]) + more

    def _page(self, item: Item, room: int) -> tuple[str, int]:
        """Return as much of an item as fits, printed, and how many characters that is."""

        def line(n: int) -> str:
            return self._recall.printer.renderer.item(replace(item, text=item.text[:n]), "full", 0)

        taken = _most(len(item.text), lambda n: self._count(line(n)) <= room)
        return line(taken), taken

    def _item_of(self, row: Row) -> Item | None:
        """Return what a row holds, with what it is and when it was written before its text."""
        if row.type == Entry.type:
            item = Entry.model_validate_json(row.body).item()
        elif row.type == View.type:
            view = View.model_validate_json(row.body)
            item = archive_item(view, transcript(self._store, row.user, view))
        elif row.type in RECORD_TYPES and not _is_put_away(record := load(row)):
            item = as_past(record_item(record), self._recall.journal.clock())
        else:
            return None
        about = " ".join(filter(None, (item.ref, item.kind, row.at.date().isoformat(), item.label)))
        return replace(item, label=about, group="")

    def _nothing(self, query: str, hits: Sequence[Item]) -> str:
        if hits:
            # Nothing that is in view has an id: whoever wants to forget it must be told.
            line = self._recall.printer.renderer.item
            lines = [line(item, "index", self._count(item.text)) for item in hits[:_NAMED]]
            return "What was found is already in view:\n" + "".join(lines)
        return f"Nothing is remembered about {query[:80]!r}. Other words may find more.\n"


def _found_around(recall: Recall, situation: Situation, ref: str) -> Item | None:
    """Return the code, the file or the skill of a ref."""
    return recall.surroundings.get(situation, ref) or recall.catalog.skills.get(situation, ref)


def _with_id(item: Item) -> Item:
    """Return an item that is shown with its id: by that it is fetched, and forgotten."""
    dated = item.section == "notes" and item.at is not None
    date = item.at.date().isoformat() if dated and item.at else ""
    return replace(item, label=" ".join(filter(None, (item.ref, date, item.label))))


Told = tuple[str, Sequence[Choice]]
"""An answer, and what it shows."""


def _told(selection: Selection) -> Told:
    shown = [choice for choice in selection.choices if choice.shown != "none"]
    return selection.block.text or _DOES_NOT_FIT, shown


def _not_in_view(
    items: Sequence[Item], in_view: set[str], state: SessionState, archive: Blocks
) -> list[Item]:
    """Return what is not in view; of what is in view in part, the rest may be asked for.

    Last come those of which just that is in view what the query asks for: of a long record, another
    question may have brought another passage.
    """
    briefly = {ref for part in state.parts for ref in part.briefly if ref in part.shows}
    new = [item for item in items if item.ref not in in_view - briefly]
    refs = briefly.intersection(item.ref for item in new)
    parts = [part for part in state.parts if not refs.isdisjoint(part.briefly)]
    blocks = archive.blocks(part.hash for part in parts).values()
    shown = AlreadyShown(texts=[block.text for block in blocks])

    def is_told(item: Item) -> bool:
        return item.ref in refs and (not item.passage or shown.has_line(item.passage))

    return sorted(new, key=is_told)


def _is_put_away(record: Record) -> bool:
    return isinstance(record, Memory) and record.put_away is not None


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest n up to the limit for which it fits, 0 when none does."""
    if fits(limit):
        return limit
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _next_call(refs: Sequence[str], offset: int) -> str:
    ids = ", ".join(f'"{ref}"' for ref in refs[:_NAMED])
    others = (
        f" Then {len(refs) - _NAMED} more ids that you asked for." if len(refs) > _NAMED else ""
    )
    return f"There is more: mem_get with ids [{ids}] and offset {offset}.{others}\n"


def _allowed(
    recall: Recall, situation: Situation, found: Sequence[Item], removed: Collection[str]
) -> list[Item]:
    """Return what was found without what was removed, says nothing, or is never to be recalled."""
    if recall.sensitive == "never":
        found = admitted(found, situation, of_turns=False)
    return [item for item in found if item.ref not in removed and not is_emptied(item)]

"""What the pages show of the store, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation.record import ContextRecord
from ..conversation.state import SessionState, StoredBlock, block_ref
from ..display.elements import Html, time_html
from ..display.found import kind_of
from ..errors import MissingUser, NotFound
from ..protocols import Find
from ..recall.entries import Entry
from ..recall.offering.items import CatalogItem
from ..runtime.telemetry import Faults
from ..text.cleaning import one_line
from ..values.records import (
    MEMORY_KINDS,
    NOTE_KINDS,
    OBSERVATION_KINDS,
    RECORD_TYPES,
    SHARED,
    TYPES_OF_KIND,
    Memory,
    Record,
    Turn,
    load,
    load_as,
)

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

PAGE = 50
"""Rows of one page."""


LISTED = {
    "memory": "Memories",
    "note": "Notes",
    "observation": "Observations",
    "summary": "Summaries",
    "turn": "Turns",
}
"""What is listed, and how a list of it is called."""
KINDS: dict[str, tuple[str, ...]] = {
    "memory": MEMORY_KINDS,
    "note": NOTE_KINDS,
    "observation": OBSERVATION_KINDS,
    "summary": (),
    "turn": ("user", "assistant", "tool", "system"),
}
"""What a list of them can be narrowed down to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """What of the records is asked for; "" is all of it."""

    type: str
    kind: str
    scope: str
    state: str
    """"put away": kept out of everything. "past": something else has taken its place."""

    @property
    def listed_type(self) -> str:
        """The type of the list: memories, unless another one is asked for."""
        return self.type if self.type in LISTED else "memory"

    @property
    def searched_kinds(self) -> list[str]:
        """The kinds that a search is about."""
        if self.kind:
            return [self.kind]
        of_type = [kind for kind, types in TYPES_OF_KIND.items() if self.type in types]
        return of_type if self.type else []

    def fits(self, record: Record) -> bool:
        """Say whether a record of that type is asked for."""
        kind = record.role if isinstance(record, Turn) else kind_of(record)
        put_away = getattr(record, "put_away", None) is not None
        return self.kind in ("", kind) and self.state in ("", "put away" if put_away else "past")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A conversation in one row."""

    state: SessionState
    began_with: str
    calls: int


class Reading:
    """One user's store, read for the pages."""

    def __init__(self, ctx: ContextMiddleware) -> None:
        if ctx.user is None:
            raise MissingUser("this memory serves many users: open it with the one to look at.")
        self._ctx = ctx
        self._store = ctx.store
        self._faults = Faults()
        self.user = ctx.user

    @property
    def store_name(self) -> str:
        """Where the memory is kept, without a password."""
        address = getattr(self._store, "address", None)
        return str(self._store.path or address or "in this process only")

    def states(self, words: str, project: str) -> list[SessionState]:
        """Return the conversations of a project in whose name or turns the words are."""
        states = self._ctx.sessions()
        if project:
            states = [state for state in states if state.project == project]
        if words.strip():
            hits = self._ctx.search(words, limit=PAGE, kinds=["turn"])
            said = {hit.record.session for hit in hits}
            part = words.strip().casefold()
            states = [one for one in states if one.session in said or part in _named(one)]
        return states

    def projects(self) -> list[str]:
        """Return the projects of which there are conversations."""
        return sorted({state.project for state in self._ctx.sessions() if state.project})

    def overviews(self, states: Sequence[SessionState], page: int) -> list[Overview]:
        """Return one page of conversations."""
        return [self._overview(state) for state in states[page * PAGE : (page + 1) * PAGE]]

    def counts(self) -> dict[str, int]:
        """Return how many records of each type hold."""
        return {
            name: self._store.count(self.user, Find(types=(name,), live=True)) for name in LISTED
        }

    def records(self, asked: ListRequest, page: int) -> tuple[list[Record], int, int]:
        """Return one page of records, the newest first, how many there are, and the page."""
        scopes = (asked.scope,) if asked.scope else ()
        live = not asked.state
        rows = self._store.query(
            self.user, Find(types=(asked.listed_type,), scopes=scopes, live=live)
        )
        every = self._faults.read(rows, load)
        found = [record for record in every if asked.fits(record)]
        page = shown_page(len(found), page)
        return found[page * PAGE : (page + 1) * PAGE], len(found), page

    def scopes(self) -> list[str]:
        """Return the scopes in which there are memories."""
        rows = self._store.query(self.user, Find(types=(Memory.type,)))
        return sorted({row.scope for row in rows})

    def item(self, ref: str) -> Record | None:
        """Return whatever has this ref: a record, something that waits, or a catalog item."""
        for user in (self.user, SHARED):
            for row in self._store.get(user, [ref]):
                if row.type in RECORD_TYPES:
                    return load(row)
                other = _OTHERS.get(row.type)
                if other is not None:
                    return other.model_validate_json(row.body)
        return None

    def item_or_raise(self, ref: str) -> Record:
        """Return whatever has this ref."""
        item = self.item(ref)
        if item is None:
            raise NotFound(f"{ref!r} was forgotten, or comes from a source of your own.")
        return item

    def shown_as(self, record: ContextRecord, ref: str) -> str:
        """Return the text with which a call showed an item; "" when it showed none."""
        blocks = [block_ref(build.hash) for build in record.builds if build.hash]
        for row in self._store.get(self.user, blocks):
            for mark, text in StoredBlock.model_validate_json(row.body).pieces:
                if mark == ref:
                    return text
        return ""

    def catalog(self) -> list[CatalogItem]:
        """Return everything in the catalog, also what is switched off."""
        rows = self._store.query(SHARED, Find(types=(CatalogItem.type,), newest_first=False))
        return self._faults.read(rows, lambda row: load_as(row, CatalogItem))

    def _overview(self, state: SessionState) -> Overview:
        said = Find(types=(Turn.type,), sessions=(state.session,), newest_first=False, limit=1)
        rows = self._store.query(self.user, said)
        first = self._faults.read(rows, lambda row: load_as(row, Turn))
        calls = self._store.count(self.user, Find(types=("context",), sessions=(state.session,)))
        began_with = one_line(first[0].text, 120) if first else ""
        return Overview(state=state, began_with=began_with, calls=calls)


_OTHERS: dict[str, type[Record]] = {Entry.type: Entry, CatalogItem.type: CatalogItem}


def facts_of(record: Record) -> list[tuple[str, object]]:
    """Return what is known about a record, beside its words: name and value."""
    known: dict[str, object] = {
        "kind": kind_of(record),
        "scope": record.scope,
        "source": record.source,
        "trust": record.trust,
        "written": time_html(record.at),
    }
    for name in ("key", "seen", "priority", "speaker", "role", "include", "server", "enabled"):
        if (value := getattr(record, name, "")) not in ("", None):
            known[name] = value
    for name in ("files", "concepts", "decisions", "calls"):
        if values := getattr(record, name, ()):
            known[name] = ", ".join(values)
    return [
        (name, value if isinstance(value, Html) else str(value)) for name, value in known.items()
    ]


def words_of(record: Record) -> str:
    """Return the text of a record."""
    return str(getattr(record, "text", "")) or record.says()


def shown_page(total: int, page: int) -> int:
    """Return the page that is shown: of one that is too far, the last there is."""
    return min(page, max(0, (total - 1) // PAGE))


def pages_of(total: int, page: int) -> Sequence[int]:
    """Return the pages to link to around one; empty when there is only one."""
    last = max(0, (total - 1) // PAGE)
    return [at for at in range(last + 1) if at in (0, last) or abs(at - page) < 3] if last else []


def _named(state: SessionState) -> str:
    return " ".join(filter(None, (state.session, state.project, state.task))).casefold()

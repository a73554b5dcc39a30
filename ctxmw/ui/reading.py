"""What the pages show of the store, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation.record import ContextRecord
from ..conversation.state import SessionState, StoredBlock, block_ref
from ..display.found import kind_of
from ..errors import MissingUser
from ..protocols import Find
from ..recall.entries import Entry
from ..recall.offering.items import CatalogItem
from ..runtime.telemetry import Faults
from ..text.cleaning import one_line
from ..values.records import RECORD_TYPES, SHARED, Memory, Record, Turn, load, load_as

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

PAGE = 50
"""Rows of one page."""


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

    def conversations(self, page: int) -> tuple[list[Overview], int]:
        """Return one page of conversations, the one used last first, and how many there are."""
        found = self._ctx.sessions()
        at = page * PAGE
        return [self._overview(state) for state in found[at : at + PAGE]], len(found)

    def memories(self, kind: str, scope: str, page: int) -> tuple[list[Memory], int]:
        """Return one page of memories, the newest first, and how many there are."""
        scopes = (scope,) if scope else ()
        find = Find(types=(Memory.type,), scopes=scopes)
        rows = self._store.query(self.user, find)
        every = self._faults.read(rows, lambda row: load_as(row, Memory))
        found = [memory for memory in every if kind in ("", memory.kind)]
        return found[page * PAGE : (page + 1) * PAGE], len(found)

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


def facts_of(record: Record) -> list[tuple[str, str]]:
    """Return what is known about a record, beside its words: name and value."""
    known: dict[str, object] = {
        "kind": kind_of(record),
        "scope": record.scope,
        "source": record.source,
        "trust": record.trust,
        "written": f"{record.at:%Y-%m-%d %H:%M} UTC",
    }
    for name in ("key", "seen", "priority", "speaker", "role", "include", "server", "enabled"):
        if (value := getattr(record, name, "")) not in ("", None):
            known[name] = value
    for name in ("files", "concepts", "decisions", "calls"):
        if values := getattr(record, name, ()):
            known[name] = ", ".join(values)
    return [(name, str(value)) for name, value in known.items()]


def words_of(record: Record) -> str:
    """Return the text of a record."""
    return str(getattr(record, "text", "")) or record.says()


def pages_of(total: int, page: int) -> Sequence[int]:
    """Return the pages to link to around one; empty when there is only one."""
    last = max(0, (total - 1) // PAGE)
    return [at for at in range(last + 1) if at in (0, last) or abs(at - page) < 3] if last else []

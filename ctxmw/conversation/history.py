"""Records read back: with the blocks as they were sent and the words as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..protocols import Find, Row
from ..recall.catalog import CatalogItem
from ..recall.entries import Entry
from ..recall.outcome import ItemOutcome
from ..store.journal import Journal
from ..text.secrets.redaction import redact_name
from ..values.items import Item
from ..values.record_items import record_item
from ..values.records import RECORD_TYPES, SHARED, load, load_all, load_as
from ..values.refs import names_stored
from .blocks import Blocks
from .record import FORGOTTEN, Build, ContextRecord, reply_key


def history_of(journal: Journal, user: str, session: str) -> list[ContextRecord]:
    """Return the record of every call of a conversation, oldest first."""
    asked = Find(types=("context",), sessions=(session,), newest_first=False)
    return _complete(journal, user, journal.store.query(user, asked))


def record_of(journal: Journal, user: str, ref: str) -> ContextRecord | None:
    """Return the record of that ref."""
    rows = [row for row in journal.store.get(user, [ref]) if row.type == "context"]
    return next(iter(_complete(journal, user, rows)), None)


def record_behind(journal: Journal, user: str, answer: str) -> ContextRecord | None:
    """Return the record of the call that gave this answer, the newest when several did.

    The answer is known by its text, or by the id the caller gave the message.
    """
    by_text = Find(types=("context",), keys=(reply_key(answer),), limit=1)
    by_id = Find(types=("context",), digests=(redact_name(answer),), limit=1)
    rows = journal.store.query(user, by_text) or journal.store.query(user, by_id)
    return next(iter(_complete(journal, user, rows)), None)


def _complete(journal: Journal, user: str, rows: Iterable[Row]) -> list[ContextRecord]:
    records = load_all(rows, ContextRecord)
    archive = Blocks(journal.store, user)
    return [_with_blocks(journal, record, archive) for record in records]


def _with_blocks(journal: Journal, record: ContextRecord, archive: Blocks) -> ContextRecord:
    builds = [archive.build(ref) for ref in (record.stable_build, record.part_build)]
    stable, part = (archive.block(build.hash).text for build in builds)
    titled = tuple(_titled(journal, record.user, build) for build in builds)
    return record.model_copy(update={"stable": stable, "part": part, "builds": titled})


def _titled(journal: Journal, user: str, build: Build) -> Build:
    now = _present(journal, user, [entry.ref for entry in (*build.used, *build.tools)])
    used = tuple(_looked_up(entry, now.get(entry.ref)) for entry in build.used)
    tools = tuple(_looked_up(entry, now.get(entry.ref)) for entry in build.tools)
    return build.model_copy(update={"used": used, "tools": tools})


def _looked_up(entry: ItemOutcome, now: tuple[str, str] | None) -> ItemOutcome:
    """Return an item with its words as they are now, and what became of it since."""
    if now is None and entry.name and not names_stored(entry.ref):
        return entry._replace(words=entry.name)
    if now is None:
        return entry._replace(words=entry.name or FORGOTTEN, since="gone")
    words, version = now
    return entry._replace(words=words, since="" if version == entry.version else "changed")


def _present(journal: Journal, user: str, refs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the words and the version of what is still there; a replaced one has no version."""
    rows = journal.store.get(user, refs)
    live = {row.ref: row.live or row.type == "entry" for row in rows}
    known = [row for row in rows if row.type in RECORD_TYPES or row.type == Entry.type]
    offered = journal.store.get(SHARED, [ref for ref in refs if ref not in live])
    items = journal.faults.read([*known, *offered], _item_of)
    return {
        item.ref: (
            item.title or item.text,
            item.version if live.get(item.ref, True) else "",
        )
        for item in items
    }


def _item_of(row: Row) -> Item:
    if row.type in RECORD_TYPES:
        return record_item(load(row))
    if row.type == Entry.type:
        return load_as(row, Entry).item()
    return load_as(row, CatalogItem).item("always")

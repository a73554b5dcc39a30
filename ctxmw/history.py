"""Records read back: with the blocks as they were sent and the words as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .archive import Archive
from .collector import Entry
from .pipeline import Setup
from .protocols import Find, Row
from .provenance import FORGOTTEN, Build, ContextRecord, reply_key
from .records import RECORD_TYPES, load, load_all
from .sources.sessions import record_item
from .text import one_line


def history_of(setup: Setup, user: str, session: str) -> list[ContextRecord]:
    """Return the record of every call of a conversation, oldest first."""
    asked = Find(types=("context",), sessions=(session,), newest_first=False)
    return _complete(setup, user, setup.store.query(user, asked))


def record_of(setup: Setup, user: str, ref: str) -> ContextRecord | None:
    """Return the record of that ref."""
    rows = [row for row in setup.store.get(user, [ref]) if row.type == "context"]
    return next(iter(_complete(setup, user, rows)), None)


def record_behind(setup: Setup, user: str, answer: str) -> ContextRecord | None:
    """Return the record of the call that gave this answer, the newest when several did.

    The answer is known by its text, or by the id the caller gave the message.
    """
    by_text = Find(types=("context",), keys=(reply_key(answer),), limit=1)
    by_id = Find(types=("context",), digests=(answer,), limit=1)
    rows = setup.store.query(user, by_text) or setup.store.query(user, by_id)
    return next(iter(_complete(setup, user, rows)), None)


def _complete(setup: Setup, user: str, rows: Iterable[Row]) -> list[ContextRecord]:
    records = load_all(rows, ContextRecord)
    archive = Archive(setup.store, user)
    return [_with_blocks(setup, record, archive) for record in records]


def _with_blocks(setup: Setup, record: ContextRecord, archive: Archive) -> ContextRecord:
    builds = [archive.build(ref) for ref in (record.stable_build, record.part_build)]
    stable, part = (archive.block(build.hash).text for build in builds)
    titled = tuple(_titled(setup, record.user, build) for build in builds)
    return record.model_copy(update={"stable": stable, "part": part, "builds": titled})


def _titled(setup: Setup, user: str, build: Build) -> Build:
    titles = _titles(setup, user, [used.ref for used in build.used])
    used = [
        replace(entry, title=entry.name or titles.get(entry.ref, FORGOTTEN)) for entry in build.used
    ]
    tools = [replace(entry, title=entry.name) for entry in build.tools]
    return build.model_copy(update={"used": tuple(used), "tools": tuple(tools)})


def _titles(setup: Setup, user: str, refs: Sequence[str]) -> dict[str, str]:
    rows = setup.store.get(user, refs)
    items = [record_item(load(row)) for row in rows if row.type in RECORD_TYPES]
    items += [Entry.model_validate_json(row.body).item() for row in rows if row.type == "entry"]
    return {item.ref: one_line(item.title or item.text, 60) for item in items}

"""What a memory held on a day: who asks gets what was current then, whatever took its place since.

Nothing keeps a copy for every day. Records know when they were said, when they begin and end, and
what took their place, and from that it is told again. Searching as of a day therefore reads all
that the user had then, which takes a moment where there is much of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from ..protocols import Find, Row
from ..recall.pipeline import Recall
from ..store.journal import Journal
from ..store.open import store_at
from ..store.rows import batches
from ..text.cleaning import fold
from ..values.argument_checks import (
    check_kind,
    check_name,
    check_scope,
    check_text,
    checked_since,
    flag,
    wanted_metadata,
    whole_number,
)
from ..values.clocks import end_of
from ..values.metadata import has_metadata
from ..values.records import MEMORY_KINDS, RECORD_TYPES, Memory, Note, Record, load

_BATCH = 1000


def moment_as_of(day: date | datetime) -> datetime:
    """Return the moment that is asked about: a day is asked about as it ended."""
    ends = end_of(day, "as_of")
    return ends if isinstance(day, datetime) else ends - timedelta.resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest:
    """Which memories are to be listed; None: any."""

    kind: str | None = None
    scope: str | None = None
    text: str | None = None
    """Words that all occur in it."""
    source: str | None = None
    since: datetime | None = None
    """Said at that time or later."""
    as_of: date | datetime | None = None
    metadata: Mapping[str, object] | None = None
    """What its metadata must have."""
    limit: int | None = None
    everything: bool = False
    """Also what does not hold yet, has run out, or was put away."""

    def checked(self) -> MemoryRequest:
        """Return it as it is looked for; raise for what makes no sense."""
        flag(self.everything, "everything")
        if self.kind is not None:
            check_kind(self.kind, MEMORY_KINDS, "memory")
        if self.limit is not None:
            whole_number(self.limit, "limit")
        return replace(
            self,
            scope=None if self.scope is None else check_scope(self.scope),
            text=None if self.text is None else fold(check_text(self.text, "text")),
            source=None if self.source is None else check_name(self.source, "source"),
            since=checked_since(self.since),
            metadata=None if self.metadata is None else wanted_metadata(self.metadata),
        )

    def wants(self, memory: Memory) -> bool:
        """Say whether a memory is one of those asked for, whenever it holds."""
        asked = ((self.kind, memory.kind), (self.scope, memory.scope), (self.source, memory.source))
        said = fold(memory.text)
        return (
            all(wanted in (None, own) for wanted, own in asked)
            and (self.since is None or memory.at >= self.since)
            and (self.metadata is None or has_metadata(memory.metadata, self.metadata))
            and all(word in said for word in (self.text or "").split())
        )


def list_memories(journal: Journal, user: str, asked: MemoryRequest) -> list[Memory]:
    """Return the memories that hold, or held on the day asked about, what was said last first."""
    wanted = asked.checked()
    now = journal.clock() if asked.as_of is None else moment_as_of(asked.as_of)
    known = _all_memories(journal, user)
    if wanted.everything:
        found = [one for one in known.values() if not _is_replaced(one, known, now)]
        found = [one for one in found if one.said_at <= now]
    else:
        found = _holding(known, now)
    listed = [memory for memory in found if wanted.wants(memory)]
    listed.sort(key=lambda memory: memory.at, reverse=True)
    return listed if wanted.limit is None else listed[: wanted.limit]


@contextmanager
def recall_as_of(recall: Recall, user: str, at: datetime) -> Iterator[Recall]:
    """Yield what finds among the records the user had then; by words, and not by meaning."""
    from ..search.search import Search  # whoever shows what was found makes no search

    copy = store_at(":memory:")
    try:
        for rows in batches(_rows_then(recall.journal, user, at), _BATCH):
            copy.put(rows)
        search = Search(copy, recall.printer.count, faults=recall.journal.faults)
        yield replace(recall, search=search, opinions=None)
    finally:
        copy.close()


def _rows_then(journal: Journal, user: str, at: datetime) -> list[Row]:
    held = _holding(_all_memories(journal, user), at)
    others = tuple(type_ for type_ in RECORD_TYPES if type_ != Memory.type)
    asked = Find(types=others, live=None, until=at + timedelta.resolution, newest_first=False)
    records = journal.faults.read(journal.store.query(user, asked), load)
    notes = {record.ref: record for record in records if isinstance(record, Note)}
    then = [*_as_open(records, notes), *(_as_current(memory, at) for memory in held)]
    return [record.row() for record in sorted(then, key=lambda record: record.at)]


def _as_open(records: Iterable[Record], notes: Mapping[str, Note]) -> Iterator[Record]:
    """Yield records as they were: a note was open until something closed it."""
    for record in records:
        if isinstance(record, Note) and record.closed_by and record.closed_by not in notes:
            yield record.model_copy(update={"closed_by": ""})
        else:
            yield record


def _as_current(memory: Memory, at: datetime) -> Memory:
    then: dict[str, Any] = {"superseded_by": "", "put_away": None, "at": min(memory.at, at)}
    return memory.model_copy(update=then)


def _all_memories(journal: Journal, user: str) -> dict[str, Memory]:
    rows = journal.store.query(user, Find(types=(Memory.type,), live=None))
    return {memory.ref: memory for memory in journal.read(rows, Memory)}


def _holding(known: Mapping[str, Memory], at: datetime) -> list[Memory]:
    held = [memory for memory in known.values() if memory.holds_at(at)]
    return [memory for memory in held if not _is_replaced(memory, known, at)]


def _is_replaced(memory: Memory, known: Mapping[str, Memory], at: datetime) -> bool:
    """Say whether something had taken its place by then; when that is gone, nobody knows since."""
    if not memory.superseded_by:
        return False
    newer = known.get(memory.superseded_by)
    return newer is None or newer.said_at <= at

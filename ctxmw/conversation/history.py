"""A conversation read back: its records, turn by turn, and the prompt of a call put together again.

The blocks we sent are stored and come back to the byte, with the words as they are now. The
caller's messages come back as they were captured: without secrets, and without the system prompt,
which is never captured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from ..errors import InvalidValue
from ..protocols import Find, Row
from ..recall.entries import Entry
from ..recall.offering.items import CatalogItem
from ..recall.outcome import ItemOutcome
from ..store.journal import Journal
from ..text.secrets.redaction import redact_name
from ..values.items import Item, names_stored
from ..values.messages import Spoken
from ..values.record_items import record_item
from ..values.records import RECORD_TYPES, SHARED, Turn, load, load_all, load_as
from .blocks import Blocks
from .record import FORGOTTEN, Build, ContextRecord, reply_key, shown_again, still_shown
from .replay.views import View
from .sent import as_sent, message_hash, sent_hashes


def history_of(journal: Journal, user: str, session: str) -> list[ContextRecord]:
    """Return the record of every call of a conversation, oldest first."""
    asked = Find(types=("context",), sessions=(session,), newest_first=False)
    return _complete(journal, user, journal.store.query(user, asked))


def records_among(journal: Journal, user: str, asked: Find) -> list[ContextRecord]:
    """Return the records of the calls that are asked for."""
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
    earlier = tuple(_titled(journal, record.user, build) for build in _earlier(record, archive))
    shown = {"stable": stable, "part": part, "builds": titled, "earlier": earlier}
    return record.model_copy(update=shown)


def _earlier(record: ContextRecord, archive: Blocks) -> Iterator[Build]:
    """Yield what the prompt showed again, and what our tools had answered in it."""
    for ref, hash_ in record.replayed:
        if build := archive.known_build(ref):
            yield still_shown(shown_again(build, "replayed"), archive.block(hash_).refs)
    for ref in record.fetched:
        if build := archive.known_build(ref):
            yield shown_again(build, "fetched")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One turn: what was asked, what followed, and the record of every call made for it."""

    asked: Turn | None
    """None when nothing was captured: the prompt was no part of the conversation, or had no words
    of a user."""
    said: tuple[Turn, ...]
    """What came after it: answers, tool calls and their results."""
    records: tuple[ContextRecord, ...]
    """Empty for what was captured without a call of ours."""

    @property
    def at(self) -> datetime:
        """When it began."""
        if self.asked:
            return self.asked.since
        return self.records[0].at if self.records else self.said[0].since


def transcript_of(journal: Journal, user: str, session: str) -> list[Exchange]:
    """Return the conversation turn by turn, oldest first."""
    asked = Find(types=("turn",), sessions=(session,), newest_first=False)
    turns = sorted(load_all(journal.store.query(user, asked), Turn), key=attrgetter("sequence"))
    calls: dict[str, list[ContextRecord]] = {}
    for record in history_of(journal, user, session):
        calls.setdefault(record.turn, []).append(record)
    exchanges = [
        Exchange(
            asked=first if first.role == "user" else None,
            said=tuple(rest if first.role == "user" else (first, *rest)),
            records=tuple(calls.pop(first.anchor, ())),
        )
        for first, *rest in _grouped(turns)
    ]
    exchanges += [Exchange(asked=None, said=(), records=tuple(left)) for left in calls.values()]
    return sorted(exchanges, key=lambda exchange: exchange.at)


def prompt_of(journal: Journal, user: str, record: ContextRecord) -> list[Spoken]:
    """Return the prompt of a call, as far as it is stored; empty when nothing of it is.

    Earlier parts were placed again at their messages, and when they became too many the oldest
    were dropped: so as many of the newest are shown as the record counted. Where the conversation
    was compacted, the note stands for what was archived.
    """
    if not isinstance(record, ContextRecord) or record.user != user:
        raise InvalidValue(f"record is {record!r:.60}: give one of this conversation's history().")
    exchanges = transcript_of(journal, user, record.session)
    turns = [record.turn in {call.turn for call in one.records} for one in exchanges]
    if True not in turns:
        return []
    before, own = exchanges[: turns.index(True)], exchanges[turns.index(True)]
    parts = {**_replayed(before, record), record.turn: record.part}
    hashes = sent_hashes(journal.store, record)
    steps = () if hashes is None else _steps(own.said, hashes)
    told = [*before, Exchange(asked=own.asked, said=steps, records=(record,))]
    archived, note = _compacted(journal, record)
    said = [one for exchange in told for one in _told(exchange, parts, archived)]
    opening = [Spoken(role="system", ours=record.stable, theirs="")]
    spoken = [*opening, *_with_note(said, note)]
    return spoken if hashes is None else as_sent(spoken, hashes)


def _steps(said: Sequence[Turn], hashes: Collection[str]) -> tuple[Turn, ...]:
    """Return the turn's own steps that a call was sent: what came after it has another hash."""
    return tuple(turn for turn in said if message_hash(turn.role, turn.text) in hashes)


def _grouped(turns: Sequence[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = []
    for turn in turns:
        if turn.role == "user" or not groups:
            groups.append([])
        groups[-1].append(turn)
    return groups


def _replayed(before: Sequence[Exchange], record: ContextRecord) -> dict[str, str]:
    """Return the parts that stood at earlier messages, by turn."""
    left = record.replayed_tokens
    found: dict[str, str] = {}
    for exchange in reversed(before):
        last = exchange.records[-1] if exchange.records else None
        tokens = next((build.tokens for build in last.builds[1:]), 0) if last else 0
        if last and 0 < tokens <= left:
            found[last.turn] = last.part
            left -= tokens
    return found


def _told(exchange: Exchange, parts: dict[str, str], archived: Collection[str]) -> list[Spoken]:
    ours = next((parts[call.turn] for call in exchange.records if call.turn in parts), "")
    asked = exchange.asked
    first = [Spoken(role="user", ours=ours, theirs=asked.text if asked else "")]
    if (asked and asked.ref in archived) or not (asked or ours):
        first = []
    kept = [turn for turn in exchange.said if turn.ref not in archived]
    return [*first, *(Spoken(role=turn.role, theirs=turn.text) for turn in kept)]


def _compacted(journal: Journal, record: ContextRecord) -> tuple[Collection[str], str]:
    """Return what the call did not show any more, and the note in its place."""
    for row in journal.store.get(record.user, [record.view] if record.view else []):
        view = View.model_validate_json(row.body)
        return view.archived, Blocks(journal.store, record.user).block(view.note).text
    return (), ""


def _with_note(said: Sequence[Spoken], note: str) -> list[Spoken]:
    """Return the messages with the note at the first of the user's."""
    at = next((at for at, one in enumerate(said) if one.role == "user"), None)
    if at is None or not note:
        return list(said)
    return [*said[:at], replace(said[at], ours=note + said[at].ours), *said[at + 1 :]]

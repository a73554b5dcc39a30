"""A conversation as it went, turn by turn, and the prompt of a call put together again.

The blocks we sent are stored and come back to the byte. The caller's messages come back as they
were captured: without secrets, and without the system prompt, which is never captured.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from ..errors import InvalidValue
from ..protocols import Find
from ..store.journal import Journal
from ..values.messages import Spoken
from ..values.records import Turn, load_all
from .blocks import Blocks
from .history import history_of
from .record import ContextRecord
from .replay.views import View


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
    told = [*before, Exchange(asked=own.asked, said=(), records=(record,))]
    archived, note = _compacted(journal, record)
    said = [one for exchange in told for one in _told(exchange, parts, archived)]
    return [Spoken(role="system", ours=record.stable, theirs=""), *_with_note(said, note)]


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
    return [*first, *(Spoken(role=turn.role, ours="", theirs=turn.text) for turn in kept)]


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

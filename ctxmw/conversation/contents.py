"""What somebody puts into a conversation by hand: entries for the next call, rules and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from ..errors import InvalidValue
from ..protocols import Find
from ..recall.catalog import Catalog
from ..recall.entries import Entry, entry_key, free, waiting
from ..recall.offering.view import SessionContext, context_in
from ..recall.sources.own import warn_of_overuse
from ..text.secrets.redaction import redact
from ..values.argument_checks import check_kind, check_text, checked_texts
from ..values.clocks import after
from ..values.records import (
    NOTE_KINDS,
    OBSERVATION_KINDS,
    RECORD_TYPES,
    AnyRecord,
    Note,
    Observation,
    SessionSummary,
    load_all,
)
from .conversation import Conversations, Identity, scope_of

_MOMENT = timedelta(microseconds=1)


def leave_note(conversations: Conversations, who: Identity, kind: str, text: str) -> Note:
    """Store a line on where the work stands."""
    check_kind(kind, NOTE_KINDS, "note")
    said = redact(check_text(text, "a note")).text
    return _written(conversations, who, Note, kind=kind, text=said)


def leave_observation(
    conversations: Conversations,
    who: Identity,
    kind: str,
    title: str,
    text: str,
    **lists: Sequence[str],
) -> Observation:
    """Store something noticed while working; `lists` are its files and concepts."""
    check_kind(kind, OBSERVATION_KINDS, "observation")
    said = redact(check_text(title, "an observation's title")).text
    if not isinstance(text, str):
        raise InvalidValue(f"an observation's text must be text, not {type(text).__name__}.")
    values = {"kind": kind, "title": said, "text": redact(text).text, **_lines(lists)}
    return _written(conversations, who, Observation, **values)


def new_summary(
    conversations: Conversations, who: Identity, text: str, **lists: Sequence[str]
) -> SessionSummary | None:
    """Return a summary with these words, not stored; None for no words. In a transaction."""
    given = _lines({name: lines for name, lines in lists.items() if lines})
    if text == "":
        return None
    said = redact(check_text(text, "a summary")).text
    return _new_record(conversations, who, SessionSummary, text=said, **given)


def _lines(lists: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        name: tuple(redact(line).text for line in checked_texts(lines, name))
        for name, lines in lists.items()
    }


def collect_entry(
    conversations: Conversations, who: Identity, lifetime: timedelta, **values: Any
) -> Entry:
    """Leave something for the next call; the same source and name again replaces what waits."""
    store, now = conversations.journal.store, conversations.journal.clock()
    of_chat = Find(types=(Entry.type,), sessions=(who.session,))
    with store.atomic(who.user):
        at_once = replace(of_chat, since=now, until=now + _MOMENT)
        before = load_all(store.query(who.user, at_once), Entry)
        order = max((other.order for other in before), default=0) + 1
        expires = after(now, lifetime)
        entry = _new_record(conversations, who, Entry, expires=expires, order=order, **values)
        key = entry_key(entry.source, entry.name)
        same = load_all(store.query(who.user, replace(of_chat, keys=(key,))), Entry)
        for old in same:
            entry = entry if old.turn else entry.model_copy(update={"ref": old.ref})
        # What a prompt has shown keeps its ref and words: it may be shown again there.
        shown = [old.model_copy(update={"replaced": True}) for old in same if old.turn]
        store.put([old.row() for old in (*shown, entry)])
    if entry.priority == "critical":
        own = pending(conversations, who)
        warn_of_overuse(entry.source, [one.item() for one in own if one.source == entry.source])
    return entry


def pending(conversations: Conversations, who: Identity) -> list[Entry]:
    """Return what waits for the next call: by priority, then oldest first."""
    journal = conversations.journal
    return free(waiting(journal, who.user, who.session), "", journal.clock())


def move(
    conversations: Conversations,
    catalog: Catalog,
    who: Identity,
    name: str,
    to: Literal["added", "removed", "neither"],
) -> None:
    """Put a rule, reference, tool or record into the conversation or out of it, by name or ref.

    It is among what was added or removed then, and not among the others; or among neither.
    """
    ref = _known(conversations, catalog, who, name)
    with conversations.journal.store.atomic(who.user):
        state = conversations.load(who)
        lists = {"added": state.added, "removed": state.removed}
        rest = {
            name: tuple(other for other in refs if other != ref) for name, refs in lists.items()
        }
        moved = {} if to == "neither" else {to: (*rest[to], ref)}
        conversations.put(state, **(rest | moved | {"stale": to}))


def context_of(conversations: Conversations, catalog: Catalog, who: Identity) -> SessionContext:
    """Return what the catalog has for the conversation."""
    state = conversations.load(who)
    return context_in(catalog.view(), state.added, state.removed)


def _written(
    conversations: Conversations, who: Identity, cls: type[AnyRecord], **values: Any
) -> AnyRecord:
    store = conversations.journal.store
    with store.atomic(who.user):
        record = _new_record(conversations, who, cls, **values)
        store.put([record.row()])
    return record


def _new_record(
    conversations: Conversations, who: Identity, cls: type[AnyRecord], **values: Any
) -> AnyRecord:
    """Return a new record of the conversation, not stored; to be called in a transaction."""
    scope = scope_of(who, conversations.load(who))
    return conversations.journal.new(cls, who.user, session=who.session, scope=scope, **values)


def _known(conversations: Conversations, catalog: Catalog, who: Identity, name: str) -> str:
    rows = conversations.journal.store.get(who.user, [check_text(name, "a name or ref")])
    if rows and rows[0].type in RECORD_TYPES:
        return name
    return catalog.find(name).ref

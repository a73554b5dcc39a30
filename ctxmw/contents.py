"""What somebody puts into a conversation by hand: entries for the next call, rules and records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from .conversation.conversation import Identity, change_state, load_state, scope_of
from .errors import InvalidValue
from .protocols import Find
from .recall.catalog import SessionContext, session_context
from .recall.entries import (
    LIFETIME,
    Entry,
    check_priority,
    entry_key,
    pending,
    plain_metadata,
)
from .recall.pipeline import Setup
from .recall.sources.own import warn_of_overuse
from .runtime.async_twins import Workers, twin
from .text.secrets.redaction import redact, redact_name
from .values.clocks import after
from .values.items import Priority, Trust
from .values.records import RECORD_TYPES, AnyRecord, check_text, load_all
from .values.refs import short_refs

_MOMENT = timedelta(microseconds=1)


class Contents:
    """The part of a conversation that is put there by hand."""

    def __init__(self, setup: Setup, who: Identity) -> None:
        self._setup = setup
        self._who = who

    @property
    def id(self) -> str:
        return self._who.session

    @property
    def user(self) -> str:
        return self._who.user

    @property
    def workers(self) -> Workers:
        return self._setup.workers

    def collect(
        self,
        source: str,
        id: str,  # noqa: A002 - the word the caller knows
        content: str,
        *,
        priority: Priority = "normal",
        metadata: Mapping[str, Any] | None = None,
        lifetime: timedelta = LIFETIME,
        trust: Trust | None = None,
    ) -> Entry:
        """Leave something for the next call of this conversation; it is shown once.

        The same source and id again replaces what still waits.
        """
        check_priority(priority)
        trust = self._setup.trust_in(check_text(source, "an entry's source"), trust)
        if not isinstance(lifetime, timedelta):
            raise InvalidValue(f"lifetime is {lifetime!r:.60}: give a timedelta.")
        name = redact_name(check_text(id, "an entry's id"))
        text = redact(check_text(content, "an entry's content")).text
        source = redact_name(source)
        key = entry_key(source, name)
        store, now = self._setup.store, self._setup.clock()
        with store.atomic(self.user):
            at_once = Find(types=("entry",), sessions=(self.id,), since=now, until=now + _MOMENT)
            before = load_all(store.query(self.user, at_once), Entry)
            entry = self._new(
                Entry,
                source=source,
                name=name,
                text=text,
                priority=priority,
                metadata=plain_metadata(metadata),
                expires=after(now, lifetime),
                order=max((other.order for other in before), default=0) + 1,
                trust=trust,
            )
            asked = Find(types=("entry",), sessions=(self.id,), keys=(key,))
            waiting = load_all(store.query(self.user, asked), Entry)
            for old in waiting:
                entry = entry if old.turn else entry.model_copy(update={"ref": old.ref})
            # What a prompt has shown keeps its ref and words: it may be shown again there.
            shown = [old.model_copy(update={"replaced": True}) for old in waiting if old.turn]
            store.put([old.row() for old in (*shown, entry)])
        if priority == "critical":
            own = [other.item() for other in self.pending() if other.source == source]
            warn_of_overuse(source, own)
        return entry

    def pending(self) -> list[Entry]:
        """Return what waits for the next call: by priority, then oldest first."""
        setup = self._setup
        return pending(setup.store, self.user, self.id, "", setup.clock(), faults=setup.faults)

    def clear(self) -> int:
        """Discard what waits for the next call; return how many there were."""
        return self._setup.store.delete(self.user, [entry.ref for entry in self.pending()])

    def add(self, name: str) -> None:
        """Put a rule, reference, tool or record into this conversation, by name or ref."""
        ref = self._known(name)
        with self._setup.store.atomic(self.user):
            state = load_state(self._setup, self._who, self._setup.clock())
            removed = tuple(other for other in state.removed if other != ref)
            added = (*(other for other in state.added if other != ref), ref)
            change_state(self._setup, self._who, added=added, removed=removed, stale="added")

    def remove(self, name: str) -> None:
        """Take it out of this conversation; it stays out, also of what search brings."""
        ref = self._known(name)
        with self._setup.store.atomic(self.user):
            state = load_state(self._setup, self._who, self._setup.clock())
            added = tuple(other for other in state.added if other != ref)
            removed = (*(other for other in state.removed if other != ref), ref)
            change_state(self._setup, self._who, added=added, removed=removed, stale="removed")

    def refresh(self) -> None:
        """Have the next call build the stable block anew."""
        change_state(self._setup, self._who, stale="refresh")

    @property
    def rules(self) -> list[str]:
        """Names of the rules in this conversation."""
        return self._context().names("rule")

    @property
    def references(self) -> list[str]:
        """Names of the references in this conversation."""
        return self._context().names("reference")

    @property
    def tools(self) -> list[str]:
        """Names of the tools in this conversation, as server:tool."""
        return self._context().names("tool")

    acollect = twin(collect)
    apending = twin(pending)
    aclear = twin(clear)
    aadd = twin(add)
    aremove = twin(remove)
    arefresh = twin(refresh)

    def _context(self) -> SessionContext:
        state = load_state(self._setup, self._who, self._setup.clock())
        return session_context(self._setup.catalog, state.added, state.removed)

    def _known(self, name: str) -> str:
        check_text(name, "a name or ref")
        rows = self._setup.store.get(self.user, [name])
        if rows and rows[0].type in RECORD_TYPES:
            return name
        return self._setup.catalog.find(name).ref

    def _new(self, cls: type[AnyRecord], **values: Any) -> AnyRecord:
        store = self._setup.store
        return cls(
            user=self.user,
            ref=short_refs(store, self.user, self._setup.random)(cls.prefix),
            at=self._setup.clock(),
            session=self.id,
            scope=scope_of(self._who, load_state(self._setup, self._who, self._setup.clock())),
            **values,
        )

"""What is remembered by hand, changed, looked up, forgotten, and carried from store to store."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

from .errors import InvalidValue, NotFound
from .memory.forget import forget, forget_session, is_learned
from .memory.remember import edit, remember
from .memory.versions import versions
from .opened import Opened
from .protocols import Find
from .runtime.async_twins import twin
from .store.transfer import export, import_
from .text.secrets.redaction import redact
from .values.items import Trust
from .values.records import (
    MEMORY_KINDS,
    RECORD_TYPES,
    Memory,
    Record,
    check_kind,
    check_name,
    check_scope,
    check_text,
    load,
)


class _Unset(Enum):
    # Tells forget(user="ada") from forget(None, user="ada"): the second is a lookup that failed.
    UNSET = auto()


class Remembered(Opened):
    """The part of the middleware that is about single records."""

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        scope: str = "universal",
        key: str = "",
        user: str | None = None,
        source: str = "user",
        trust: Trust | None = None,
    ) -> Memory:
        """Remember a text; it is on disk when this returns.

        Kinds: preference, rule, anti_pattern, decision, correction, fact. The same text again is
        counted, not stored twice. Another text under the same key takes the old one's place.
        Secrets are taken out before anything is written. Without `trust`, it is as far to be
        trusted as its source.
        """
        check_kind(kind, MEMORY_KINDS, "memory")
        said = redact(check_text(text, "what to remember")).text
        name = self._named(user)
        values: dict[str, Any] = {
            "text": said,
            "kind": kind,
            "scope": check_scope(scope),
            "key": check_name(key, "key"),
            "source": check_name(source, "source"),
            "trust": self._setup.trust_in(source, trust),
        }
        with self._setup.observer.operation("remember"):
            memory = remember(self._setup.journal, self._setup.search, name, **values)
        self._setup.has_news(name)
        return memory

    def edit(
        self,
        ref: str,
        text: str,
        *,
        kind: str | None = None,
        scope: str | None = None,
        user: str | None = None,
    ) -> Memory:
        """Put another text in a memory's place; kind and scope stay unless given.

        The old version is kept as history (`versions`), and conversations that show it are told.
        """
        changes = {"text": redact(check_text(text, "what to remember")).text}
        if kind is not None:
            check_kind(kind, MEMORY_KINDS, "memory")
            changes["kind"] = kind
        if scope is not None:
            changes["scope"] = check_scope(scope)
        name = self._named(user)
        with self._setup.observer.operation("edit"):
            return edit(self._setup.journal, name, ref, **changes)

    def forget(
        self,
        ref: str | _Unset | None = _Unset.UNSET,
        *,
        source: str | None = None,
        session: str | None = None,
        user: str | None = None,
    ) -> int:
        """Remove one record, all of a source, all of a conversation, or all of a user.

        Every copy goes: older versions, what was learned from it, its words in turns, summaries,
        search, and the text in blocks that showed it. Returns how many records there were. Naming
        only the user forgets everything about that user.
        """
        asked = {"ref": ref, "source": source, "session": session}
        given = {name: value for name, value in asked.items() if value not in (None, _Unset.UNSET)}
        wrong = any(not isinstance(value, str) or not value for value in given.values())
        if ref is None or wrong or len(given) > 1 or not (given or user):
            named = {name: value for name, value in asked.items() if value is not _Unset.UNSET}
            raise InvalidValue(
                f"forget was given {named | {'user': user}!r}: name one of ref, source or session, "
                "or only the user to forget everything about them."
            )
        name = self._named(user)
        if "ref" in given:
            rows = self._setup.store.get(name, [str(ref)])
            if not rows or rows[0].type not in RECORD_TYPES:
                raise NotFound(f"there is no record {ref!r} of user {name!r}: search for it.")
        else:
            sources = (check_name(source, "source"),) if source else ()
            chat = check_name(session, "session") if session else ""
            find = Find(live=None, sources=sources, sessions=(chat,) if chat else ())
            rows = self._setup.store.query(name, find)
            if chat:
                rest = [row for row in rows if not is_learned(row)]
                with self._setup.observer.operation("forget"):
                    return forget_session(self._setup.journal, name, chat, rest)
        with self._setup.observer.operation("forget"):
            return forget(self._setup.journal, name, rows)

    def get(self, refs: Sequence[str], *, user: str | None = None) -> list[Record]:
        """Return the records of these refs that exist, in the order asked for."""
        listed = isinstance(refs, Sequence) and not isinstance(refs, str)
        if not listed or not all(isinstance(ref, str) for ref in refs):
            raise InvalidValue(f"refs is {refs!r:.60}: give a list of refs, such as ['m3k7qza'].")
        rows = self._setup.store.get(self._named(user), list(refs))
        return [load(row) for row in rows if row.type in RECORD_TYPES]

    def versions(self, ref: str, *, user: str | None = None) -> list[Memory]:
        """Return every version of a memory, the newest first."""
        found = [record for record in self.get([ref], user=user) if isinstance(record, Memory)]
        if not found:
            raise NotFound(f"there is no memory {ref!r}: search for it.")
        return versions(self._setup.store, found[0])

    def export(self, path: str | Path, *, user: str | None = None) -> int:
        """Write everything of a user to a file of JSON lines; return how many records it were.

        The file takes the place of an older one only when it is whole.
        """
        return export(self._setup.store, self._named(user), _file(path))

    def import_(self, path: str | Path, *, user: str | None = None) -> int:
        """Take in what an export holds, for this user; return how many were new or newer.

        All of it or nothing: a line that makes no sense is named. Importing twice changes nothing
        more.
        """
        return import_(self._setup.store, self._named(user), _file(path))

    aremember = twin(remember)
    aedit = twin(edit)
    aforget = twin(forget)
    aget = twin(get)
    aexport = twin(export)
    aimport_ = twin(import_)


def _file(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidValue(f"path is {path!r:.60}: give the path of a file.")
    return Path(path).absolute()

"""A user's memory as a file of JSON lines, and back.

Every record of the user is a line: memories with their history, turns, notes, observations,
summaries, conversations, and the records of what went into prompts. Vectors and indexes are not:
they are made again. A file is read whole and checked before the first byte is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from ..errors import InvalidValue, StoreError
from ..protocols import Find, Row, Store
from ..text.cleaning import storable
from ..values.records import RECORD_TYPES, Memory, load, load_all
from .part_files import part_of
from .rows import RowsDone, batches

FORMAT = 1
_BATCH = 2000
# Positions in the changes feed of one store mean nothing in another.
_ANEW: dict[str, dict[str, int]] = {"session": {"feed": 0, "catalog_feed": 0}}


def export(store: Store, user: str, path: Path) -> int:
    """Write everything of a user to a file, in its place only when it is whole; say how many."""
    try:
        with part_of(path) as file, store.atomic(user):
            n = _write(file.write, _rows(store, user))
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}.") from error
    return n


def import_(store: Store, user: str, path: Path, progress: RowsDone | None = None) -> int:
    """Take in what a file holds, for this user; say how many records are new or newer.

    Importing twice changes nothing more. What is here and was changed since is kept. The same
    text, or another text under the same key, supersedes: the newer of both holds.
    """
    rows = _read(path, user)
    with store.atomic(user):
        taken = list(_wanted(store, user, rows))
        done = 0
        for batch in batches(taken, _BATCH):
            store.put(batch)
            done += len(batch)
            if progress is not None:
                progress(done, len(taken))
        store.put(_settled(store, user, taken))
    return len(taken)


_MADE = {"search_text", "body"}
"""Fields of a line that are not a row's as they are."""


class _Line(BaseModel):
    """One row, without its user: whoever imports it owns it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    type: str
    ref: str
    at: AwareDatetime
    session: str = ""
    key: str = ""
    digest: str = ""
    scope: str = ""
    source: str = ""
    live: bool = True
    search_text: str | None = None
    """Of a record whose words tell it, this is left out."""
    body: dict[str, Any]

    @classmethod
    def of(cls, row: Row) -> _Line:
        """Return a row as a line."""
        body = {name: value for name, value in json.loads(row.body).items() if name != "user"}
        return cls(
            **{name: getattr(row, name) for name in cls.model_fields.keys() - _MADE},
            search_text=None if row.type in RECORD_TYPES else row.search_text,
            body={**body, **_ANEW.get(row.type, {})},
        )

    def row(self, user: str) -> Row:
        """Return the line as a row of this user."""
        body = json.dumps({"user": user, **self.body}, ensure_ascii=False, separators=(",", ":"))
        if self.type in RECORD_TYPES:
            record = RECORD_TYPES[self.type].model_validate_json(body)
            if (record.ref, record.at) != (self.ref, self.at):
                raise ValueError(f"its body is of {record.ref!r} at {record.at}")
            return record.row()
        values = self.model_dump(exclude=_MADE)
        return Row(user=user, body=body, search_text=self.search_text or "", **values)


def _write(write: Any, rows: Iterable[Row]) -> int:
    write(json.dumps({"ctxmw": FORMAT}) + "\n")
    n = 0
    for row in rows:
        write(_Line.of(row).model_dump_json(exclude_defaults=True) + "\n")
        n += 1
    return n


def _rows(store: Store, user: str) -> Iterator[Row]:
    start = 0
    while rows := store.query(
        user, Find(live=None, newest_first=False, limit=_BATCH, offset=start)
    ):
        yield from rows
        start += len(rows)


def _read(path: Path, user: str) -> list[Row]:
    try:
        # Not splitlines: texts may hold other line breaks, which JSON does not escape.
        lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path} is no export: {error}.") from error
    _check_header(path, lines[0])
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = _Line.model_validate_json(line).row(user)
        except ValueError as error:
            raise _broken(path, number, _why(error)) from error
        if row.ref in rows:
            raise _broken(path, number, f"{row.ref!r} is there twice")
        rows[row.ref] = row
    return list(rows.values())


def _check_header(path: Path, line: str) -> None:
    try:
        version = json.loads(line)["ctxmw"]
    except (ValueError, KeyError, TypeError):
        raise _broken(path, 1, 'an export begins with {"ctxmw": 1}') from None
    if version != FORMAT:
        raise _broken(path, 1, f"format {version!r:.20} is not known, this version reads {FORMAT}")


def _why(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def _broken(path: Path, number: int, why: str) -> InvalidValue:
    return InvalidValue(f"line {number} of {path}: {storable(why):.300}. Nothing was imported.")


def _wanted(store: Store, user: str, rows: list[Row]) -> Iterator[Row]:
    """Yield what is not here yet, or is newer than what is here."""
    for batch in batches(rows, _BATCH):
        here = {row.ref: row for row in store.get(user, [row.ref for row in batch])}
        for row in batch:
            known = here.get(row.ref)
            if known is not None:
                _check_same(known, row)
            if known is None or row.at > known.at:
                yield row


def _check_same(here: Row, row: Row) -> None:
    """Raise when two different records have one ref: it is short, and was made apart."""
    fixed = ("memory", "note", "turn")
    other = here.digest != row.digest if row.type in fixed else here.session != row.session
    if here.type != row.type or other:
        raise InvalidValue(
            f"{row.ref!r} is another {here.type} here. Nothing was imported: forget that one "
            "first, or import for another user."
        )


def _settled(store: Store, user: str, taken: list[Row]) -> list[Row]:
    """Return the memories that give way because the same is said, or said otherwise, by another."""
    changed: dict[str, Row] = {}
    for memory in load_all([row for row in taken if row.type == "memory" and row.live], Memory):
        if memory.ref in changed:
            continue
        rivals = [Find(types=("memory",), digests=(memory.row().digest,))]
        if memory.key:
            rivals.append(Find(types=("memory",), keys=(memory.key,), scopes=(memory.scope,)))
        rows = {row.ref: row for find in rivals for row in store.query(user, find)}
        standing = [load(row) for ref, row in rows.items() if ref not in changed]
        newest = max(standing, key=lambda other: other.at)
        for other in standing:
            if other.ref != newest.ref:
                update = {"superseded_by": newest.ref}
                changed[other.ref] = other.model_copy(update=update).row()
    return list(changed.values())

"""Bytes that can be made again from rows: vectors, and copies of search indexes.

They go with the rows they were made from, by triggers, so no writer can forget to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from ...errors import InvalidValue
from ..rows import identifier, named_user, possible_texts
from .file import explained
from .pool import Connections, Take, Where
from .rows import among

T = TypeVar("T")

WHOLE = "*"
"""The ref of what is made from all rows of a user, which may be large."""
NEW_USER = "INSERT INTO users (name) VALUES (?) ON CONFLICT DO NOTHING"


class Blobs:
    """The part of the store that keeps blobs."""

    path: Path
    _connections: Connections

    def put_blobs(self, user: str, space: str, blobs: Mapping[str, bytes], /) -> None:
        """Keep bytes that can be made again from a row, under its ref: vectors, or an index.

        The ref "*" is for what is made from all of the user's rows. When a row goes, or its search
        text changes, the blobs under its ref and under "*" go in the same transaction; when it
        becomes history, only those under its ref. A blob whose row is not there, because it was
        forgotten meanwhile, is not kept.
        """
        values = [_checked(user, space, ref, data) for ref, data in blobs.items()]
        with self._connections.transaction() as mine, explained(self.path):
            mine.connection.execute(NEW_USER, (named_user(user),))
            mine.connection.executemany(_PUT, values)

    def get_blobs(self, user: str, space: str, refs: Sequence[str], /) -> dict[str, bytes]:
        """Return the blobs that exist, by ref."""
        if list(refs) == [WHOLE]:
            data = self.read_blob(user, space, sqlite3.Blob.read)
            return {} if data is None else {WHOLE: data}
        condition, value = among("ref", possible_texts(refs, "refs"))
        values = [named_user(user), identifier(space, "space"), value]
        return dict(self._connections.read(f"{_GET} AND {condition}", values))

    def read_blob(self, user: str, space: str, take: Take[T], /) -> T | None:
        """Return what is taken from the blob under "*", which is read as a file; None: no blob."""
        values = [named_user(user), identifier(space, "space"), WHOLE]
        return self._connections.read_large(_LARGE, values, take)

    def blob_refs(self, user: str, space: str, /) -> list[str]:
        """Return the refs that have a blob in this space."""
        values = [named_user(user), identifier(space, "space")]
        return [ref for (ref,) in self._connections.read(_REFS, values)]

    def blob_spaces(self, user: str, /) -> list[str]:
        """Return the spaces in which the user has blobs."""
        return [space for (space,) in self._connections.read(_SPACES, [named_user(user)])]

    def drop_blobs(self, user: str, space: str, /) -> None:
        """Forget every blob of this space."""
        values = [named_user(user), identifier(space, "space")]
        with self._connections.transaction() as mine, explained(self.path):
            mine.connection.execute(_DROP, values)


# A vector is made outside of any transaction; its row may be forgotten by the time it is kept.
_PUT = """
INSERT INTO blobs (user, space, ref, data)
SELECT id, :space, :ref, :data FROM users WHERE name = :user
    AND (:ref = '*' OR EXISTS (SELECT 1 FROM records WHERE user = users.id AND ref = :ref))
ON CONFLICT (user, space, ref) DO UPDATE SET data = excluded.data"""
_OWN = """
FROM blobs AS records
WHERE records.user = (SELECT id FROM users WHERE name = ?) AND records.space = ?"""
_GET = f"SELECT records.ref, records.data {_OWN}"
_LARGE = Where("blobs", "data", f"SELECT records.id {_OWN} AND records.ref = ?")
_REFS = """
SELECT ref FROM blobs
WHERE user = (SELECT id FROM users WHERE name = ?) AND space = ? ORDER BY ref"""
_SPACES = """
SELECT DISTINCT space FROM blobs WHERE user = (SELECT id FROM users WHERE name = ?)
ORDER BY space"""
_DROP = "DELETE FROM blobs WHERE user = (SELECT id FROM users WHERE name = ?) AND space = ?"


def _checked(user: str, space: str, ref: str, data: object) -> dict[str, object]:
    if not isinstance(data, bytes):
        raise InvalidValue(f"the blob of {ref!r:.60} must be bytes, not {type(data).__name__}.")
    return {
        "user": named_user(user),
        "space": identifier(space, "space"),
        "ref": identifier(ref, "ref"),
        "data": data,
    }

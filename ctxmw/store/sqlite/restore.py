"""Who has something in the SQLite store, and rows taken over as another store had them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...protocols import Change, Row
from ..rows import identifier, named_user, values_of
from .blobs import NEW_USER
from .file import explained
from .pool import Connections


class Restoring:
    """The part of the store that moves whole stores."""

    path: Path
    _connections: Connections

    def users(self) -> list[str]:
        """Return everybody who has something in the store, in order."""
        rows = self._connections.read("SELECT name FROM users", [])
        return sorted(name for (name,) in rows)

    def restore(self, user: str, rows: Sequence[Row], gone: Sequence[Change], /) -> None:
        """Write rows, and that others are gone, as another store had them, positions included."""
        user = named_user(user)
        written = [{**values_of(row), "seq": row.seq, "user": user} for row in rows]
        left = [(user, identifier(each.ref, "ref"), each.type, each.seq) for each in gone]
        newest = max([0, *(row.seq for row in rows), *(each.seq for each in gone)])
        with self._connections.transaction() as mine, explained(self.path):
            execute = mine.connection.execute
            execute(NEW_USER, (user,))
            mine.connection.executemany(PUT, written)
            mine.connection.executemany(_DELETE, [(user, ref) for _, ref, _, _ in left])
            mine.connection.executemany(_GONE, left)
            execute("UPDATE state SET seq = max(seq, ?)", (newest,))


PUT = """
INSERT INTO records (user, ref, type, live, at, seq, session, key, digest, scope, source,
    search_text, body)
VALUES ((SELECT id FROM users WHERE name = :user), :ref, :type, :live, :at, :seq, :session, :key,
    :digest, :scope, :source, :search_text, :body)
ON CONFLICT (user, ref) DO UPDATE SET type = excluded.type, live = excluded.live,
    at = excluded.at, seq = excluded.seq, session = excluded.session, key = excluded.key,
    digest = excluded.digest, scope = excluded.scope, source = excluded.source,
    search_text = excluded.search_text, body = excluded.body"""
_DELETE = "DELETE FROM records WHERE user = (SELECT id FROM users WHERE name = ?) AND ref = ?"
_GONE = """
INSERT INTO gone (user, ref, type, seq)
VALUES ((SELECT id FROM users WHERE name = ?), ?, ?, ?)
ON CONFLICT (user, ref) DO UPDATE SET type = excluded.type, seq = excluded.seq"""

"""The system of record: one SQLite file in WAL mode, shared by threads and processes.

Everything is committed before a call returns. The user is compared inside each query, before any
limit. The changes feed is numbered inside the write transaction, so its order is the order of
commits and nothing appears behind a reader who has gone on.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from ...errors import InvalidValue, StoreError
from ...protocols import Change, Find, Row
from ...values.records import SHARED
from ..rows import LARGEST, Asked, check_texts, identifier, named_user, possible_texts, values_of
from .blobs import NEW_USER, Blobs
from .file import claim, explained
from .pool import Connections
from .rows import among, any_of, bounds, conditions, order, row_of

_log = logging.getLogger("ctxmw")
_PRIVATE = ":memory:"


class SqliteStore(Blobs):
    """A store in one file. Any thread may use it; after a fork, parent and child both may.

    Opening makes the file, or brings an older file up to date; it never touches a file that is
    not a store. What is written to a file that was deleted or replaced meanwhile is not
    acknowledged: StoreError.

    `":memory:"` ends with its process and leaves nothing, however that ends. Its files lose their
    names as soon as they are opened, before anything is in them, so the system takes them away
    with the process, also when it is killed. SQLite's own databases in memory would not do: there
    whoever reads waits for whoever writes, and a writer that waits for a reader's lock would wait
    for ever; with files, several threads read while one writes, as they do in any other store.
    A forked child cannot use it. Where open files cannot be deleted (Windows) it is a folder of
    temporary files that goes when the store is closed or the interpreter ends, and stays when the
    process is killed.
    """

    remote = False

    def __init__(
        self, path: str | Path, *, synchronous: Literal["FULL", "NORMAL"] = "FULL"
    ) -> None:
        """Open the store.

        `synchronous="NORMAL"` writes twice as fast; a power cut may then undo the last writes,
        in order, while a killed process still loses nothing.
        """
        if synchronous not in ("FULL", "NORMAL"):
            raise InvalidValue(f'synchronous must be "FULL" or "NORMAL", not {synchronous!r:.60}.')
        self._temporary = str(path) == _PRIVATE
        self._synchronous = synchronous
        self.path = Path(_PRIVATE) if self._temporary else _file_path(path)
        self.identity: str | None = None
        """Tells private stores from each other, where the path does not."""
        folder: Path | None = None
        if self._temporary:
            self._connections, folder = _private()
            self.identity = folder.name
        else:
            claim(self.path)
            self._connections = Connections(self.path, synchronous)
        # Also runs when the store is collected or the interpreter ends.
        self._let_go = weakref.finalize(self, _let_go, self._connections, folder, os.getpid())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle where the file is: unpickled, it is opened again."""
        if self._temporary:
            raise InvalidValue(
                "a store opened with ':memory:' cannot be pickled, it ends with this process: "
                "open it with a path."
            )
        return partial(SqliteStore, synchronous=self._synchronous), (self.path,)

    def put(self, rows: Sequence[Row], /) -> None:
        """Write all rows or none, durably; a row of the same (user, ref) is replaced.

        Text that is replaced is no longer found. Its bytes leave the files with the next delete,
        or when the store is closed.
        """
        prepared = [values_of(row) for row in rows]
        if not prepared:
            return
        with self._connections.transaction() as mine, explained(self.path):
            execute = mine.connection.execute
            for user in {values["user"] for values in prepared}:
                execute(NEW_USER, (user,))
            # RETURNING would leave the statement open until its row is fetched.
            execute("UPDATE state SET seq = seq + ?", (len(prepared),))
            last = execute("SELECT seq FROM state").fetchone()[0]
            numbered = enumerate(prepared, start=last - len(prepared) + 1)
            mine.connection.executemany(_PUT, ({**values, "seq": seq} for seq, values in numbered))

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        """Return the rows that exist, history included, in the order asked for."""
        user, asked = named_user(user), possible_texts(refs, "refs")
        if not asked:
            return []
        condition, value = among("ref", asked)
        rows = self._connections.read(f"{_ROWS} AND {condition}", [user, value])
        found = {values[0]: values for values in rows}
        return [row_of(user, found[ref]) for ref in dict.fromkeys(asked) if ref in found]

    def query(self, user: str, find: Find, /) -> list[Row]:
        """Return the rows that fit, ordered by time, then by when they were written."""
        user, asked = named_user(user), Asked.by(find)
        clauses, values = conditions(asked)
        bound = [user, *values, *bounds(asked)]
        rows = self._connections.read(_ROWS + clauses + order(asked), bound)
        return [row_of(user, row) for row in rows]

    def count(self, user: str, find: Find, /) -> int:
        """Return how many rows fit, whatever the limit."""
        clauses, values = conditions(Asked.by(find))
        found = self._connections.read(_COUNT + clauses, [named_user(user), *values])
        return int(found[0][0])

    def search(self, user: str, words: Sequence[str], find: Find, /) -> list[tuple[Row, float]]:
        """Return live rows that hold any of the words, best first, each with a score above zero.

        The score is BM25, over the statistics of the whole file. Words are stemmed, and case and
        accents do not count; the first 64 words are looked for.
        """
        user, asked = named_user(user), Asked.by(find)
        clauses, values = conditions(asked)
        any_word = any_of(words)
        if not any_word:
            return []
        bound = [user, SHARED, user, any_word, user, *values, *bounds(asked)]
        sql = _FOUND + clauses + _BEST_FIRST
        found = self._connections.read(sql, bound)
        return [(row_of(user, row[:-1]), -row[-1]) for row in found]

    def delete(self, user: str, refs: Sequence[str], /) -> int:
        """Remove rows so that their text is gone from the store's files; say how many there were.

        The changes feed keeps that they are gone. Removing text that can be searched rewrites
        the file: a second or two for 100,000 rows. Inside `atomic` that happens once, at its end.
        While another process reads, old pages may stay in the write-ahead log until the next
        write after it.
        """
        condition, value = among("ref", possible_texts(refs, "refs"))
        sql = f"{_DELETE} AND {condition}"
        with self._connections.transaction() as mine, explained(self.path):
            removed = mine.connection.execute(sql, [named_user(user), value]).rowcount
            mine.sweep = mine.sweep or removed > 0
        return removed

    def changes(self, user: str, since: int, types: Sequence[str] = (), /) -> list[Change]:
        """Return what happened to the user's rows after `since`, oldest first, one entry a row."""
        if not isinstance(since, int):
            raise InvalidValue(f"since must be a whole number, not {since!r:.60}.")
        check_texts(types, "types")
        sql, kinds = _feed_of(tuple(types))
        values = [named_user(user), max(min(since, LARGEST), -LARGEST), *kinds]
        return [
            Change(seq=seq, ref=ref, type=type_, gone=bool(gone))
            for seq, ref, type_, gone in self._connections.read(sql, values * 2)
        ]

    def head(self, user: str, /) -> int:
        """Return the position of the user's newest change; 0 when there is none."""
        found = self._connections.read(_HEAD, [named_user(user)])
        return int(found[0][0]) if found else 0

    def atomic(self, user: str, /) -> AbstractContextManager[object]:
        """Make everything this thread does inside happen at once, alone among writers.

        An exception inside undoes all of it. A block inside another joins it. Once anything
        inside has failed, nothing is kept, even if the failure is caught: the next call, and at
        the latest the end of the outermost block, raises StoreError. Do not await or fork inside.
        """
        named_user(user)
        return self._connections.transaction()

    def in_atomic(self) -> bool:
        """Say whether this thread is inside `atomic`: what it reads may never be committed."""
        return self._connections.current() is not None

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
            mine.connection.executemany(_PUT, written)
            mine.connection.executemany(_DELETE_ONE, [(user, ref) for _, ref, _, _ in left])
            mine.connection.executemany(_GONE, left)
            execute("UPDATE state SET seq = max(seq, ?)", (newest,))

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        if self._let_go.alive and not self._temporary:
            self._sweep()
        self._let_go()

    def _sweep(self) -> None:
        try:
            if self._connections.read("SELECT unswept FROM state", []) == [(1,)]:
                with self._connections.transaction() as mine:
                    mine.sweep = True
        except StoreError as error:
            _log.warning("replaced text may still be in the file: %s", error)


_ROWS = """
SELECT records.ref, records.type, records.at, records.body, records.session, records.key,
    records.digest, records.scope, records.source, records.live, records.search_text, records.seq
FROM records WHERE records.user = (SELECT id FROM users WHERE name = ?)"""
_COUNT = """
SELECT count(*) FROM records WHERE records.user = (SELECT id FROM users WHERE name = ?)"""
# CROSS JOIN keeps the index in front: it ranks inside, and rows are read until the limit is met.
# Naming the owner makes it walk over all of the owner's rows; where there is no other user, that
# would be everything, and for nothing.
_FOUND = """
SELECT records.ref, records.type, records.at, records.body, records.session, records.key,
    records.digest, records.scope, records.source, records.live, records.search_text, records.seq,
    words.rank
FROM words CROSS JOIN records ON records.id = words.rowid
WHERE words MATCH CASE WHEN EXISTS (SELECT 1 FROM users WHERE name NOT IN (?, ?))
    THEN 'owner : "u' || coalesce((SELECT id FROM users WHERE name = ?), 0) || '" AND ' ELSE '' END
    || 'search_text : (' || ? || ')'
AND records.user = (SELECT id FROM users WHERE name = ?)"""
_BEST_FIRST = " ORDER BY words.rank LIMIT ? OFFSET ?"
_WRITTEN = """
SELECT records.seq, records.ref, records.type, 0 FROM records
WHERE records.user = (SELECT id FROM users WHERE name = ?) AND records.seq > ?"""
_DELETED = """
SELECT records.seq, records.ref, records.type, 1 FROM gone AS records
WHERE records.user = (SELECT id FROM users WHERE name = ?) AND records.seq > ?"""
_HEAD = """
SELECT max(
    coalesce((SELECT max(seq) FROM records WHERE user = owner.id), 0),
    coalesce((SELECT max(seq) FROM gone WHERE user = owner.id), 0)
) FROM users AS owner WHERE owner.name = ?"""
_DELETE = "DELETE FROM records WHERE user = (SELECT id FROM users WHERE name = ?)"
_PUT = """
INSERT INTO records (user, ref, type, live, at, seq, session, key, digest, scope, source,
    search_text, body)
VALUES ((SELECT id FROM users WHERE name = :user), :ref, :type, :live, :at, :seq, :session, :key,
    :digest, :scope, :source, :search_text, :body)
ON CONFLICT (user, ref) DO UPDATE SET type = excluded.type, live = excluded.live,
    at = excluded.at, seq = excluded.seq, session = excluded.session, key = excluded.key,
    digest = excluded.digest, scope = excluded.scope, source = excluded.source,
    search_text = excluded.search_text, body = excluded.body"""
_DELETE_ONE = "DELETE FROM records WHERE user = (SELECT id FROM users WHERE name = ?) AND ref = ?"
_GONE = """
INSERT INTO gone (user, ref, type, seq)
VALUES ((SELECT id FROM users WHERE name = ?), ?, ?, ?)
ON CONFLICT (user, ref) DO UPDATE SET type = excluded.type, seq = excluded.seq"""


@lru_cache(maxsize=64)
def _feed_of(types: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return the query for changes of these types, and what to bind; few are ever asked for."""
    kinds, values = "", []
    if types:
        condition, value = among("type", possible_texts(types, "types"), picks=False)
        kinds, values = f" AND {condition}", [value]
    return f"{_WRITTEN}{kinds} UNION ALL {_DELETED}{kinds} ORDER BY 1", values


def _file_path(path: str | Path) -> Path:
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise InvalidValue(f'path must be the path of a file or ":memory:", not {path!r:.60}.')
    return Path(path).absolute()


def _private() -> tuple[Connections, Path]:
    """Return the connections to files without a name, and the folder they were in."""
    folder = Path(tempfile.mkdtemp(prefix="ctxmw-"))
    try:
        claim(folder / "memory.db", "OFF")
        return Connections(folder / "memory.db", "OFF", private_name=_PRIVATE), folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _let_go(connections: Connections, folder: Path | None, owner: int) -> None:
    connections.close()
    # A forked child ends before its parent, which may still need it.
    if folder is not None and owner == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)

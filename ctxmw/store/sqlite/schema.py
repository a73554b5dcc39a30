"""The tables of the SQLite store, made by numbered migrations.

A migration is a plain function. It runs in one transaction together with its own record, so a
file is always at a whole number. A migration that was released is never changed: add the next.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

APPLICATION_ID = int.from_bytes(b"ctxm", "big")
"""Stands in the header of every file that is ours."""


def version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration the file has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def apply(number: int, connection: sqlite3.Connection) -> None:
    """Bring the file to this number; the caller holds the transaction."""
    step = MIGRATIONS[number]
    step(connection)
    connection.execute(
        "INSERT INTO migrations (number, name, at)"
        " VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
        (number, step.__name__),
    )
    connection.execute(f"PRAGMA user_version = {number}")


def rows_and_changes(connection: sqlite3.Connection) -> None:
    """Make the tables of rows, users and the changes feed."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in (
        """CREATE TABLE migrations (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL
        )""",
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        # Bodies stand last: a filter on the columns before them reads no overflow page.
        """CREATE TABLE records (
            id INTEGER PRIMARY KEY, user INTEGER NOT NULL, ref TEXT NOT NULL, type TEXT NOT NULL,
            live INTEGER NOT NULL, at TEXT NOT NULL, seq INTEGER NOT NULL, session TEXT NOT NULL,
            key TEXT NOT NULL, digest TEXT NOT NULL, scope TEXT NOT NULL, source TEXT NOT NULL,
            search_text TEXT NOT NULL, body TEXT NOT NULL,
            UNIQUE (user, ref)
        )""",
        "CREATE INDEX records_by_time ON records (user, at, seq)",
        "CREATE INDEX records_by_type ON records (user, type, live, at, seq)",
        """CREATE INDEX records_by_session ON records (user, session, type, live, at, seq)
            WHERE session <> ''""",
        "CREATE INDEX records_by_key ON records (user, key) WHERE key <> ''",
        "CREATE INDEX records_by_digest ON records (user, digest) WHERE digest <> ''",
        "CREATE INDEX records_by_seq ON records (user, seq)",
        """CREATE TABLE gone (
            user INTEGER NOT NULL, ref TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL,
            PRIMARY KEY (user, ref)
        ) WITHOUT ROWID""",
        "CREATE INDEX gone_by_seq ON gone (user, seq)",
        # One row: the newest position of the feed, and whether searchable text that is gone may
        # still stand in the index or in gaps of pages.
        "CREATE TABLE state (seq INTEGER NOT NULL, unswept INTEGER NOT NULL)",
        "INSERT INTO state (seq, unswept) VALUES (0, 0)",
        """CREATE TRIGGER record_deleted AFTER DELETE ON records BEGIN
            UPDATE state SET seq = seq + 1, unswept = max(unswept, old.search_text <> '');
            INSERT INTO gone (user, ref, type, seq)
                SELECT old.user, old.ref, old.type, seq FROM state;
        END""",
        """CREATE TRIGGER record_came_back AFTER INSERT ON records BEGIN
            DELETE FROM gone WHERE user = new.user AND ref = new.ref;
        END""",
        """CREATE TRIGGER text_replaced AFTER UPDATE ON records
            WHEN old.search_text NOT IN ('', new.search_text) BEGIN
            UPDATE state SET unswept = 1;
        END""",
    ):
        connection.execute(statement)


def full_text_search(connection: sqlite3.Connection) -> None:
    """Index the search text of live rows.

    The owner is a word of the index: a search that names it walks over one user's rows, where a
    filter beside the index would walk over everybody's. It has no weight in the ranking.
    """
    for statement in (
        """CREATE VIEW searchable AS SELECT id, 'u' || user AS owner, search_text
            FROM records WHERE live AND search_text <> ''""",
        """CREATE VIRTUAL TABLE words USING fts5 (
            owner, search_text, content = 'searchable', content_rowid = 'id',
            tokenize = 'porter unicode61 remove_diacritics 2'
        )""",
        "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
        """CREATE TRIGGER words_of_new AFTER INSERT ON records
            WHEN new.live AND new.search_text <> '' BEGIN
            INSERT INTO words (rowid, owner, search_text)
                VALUES (new.id, 'u' || new.user, new.search_text);
        END""",
        """CREATE TRIGGER words_of_deleted AFTER DELETE ON records
            WHEN old.live AND old.search_text <> '' BEGIN
            INSERT INTO words (words, rowid, owner, search_text)
                VALUES ('delete', old.id, 'u' || old.user, old.search_text);
        END""",
        # One trigger for both halves: SQLite does not promise the order of two.
        """CREATE TRIGGER words_of_changed AFTER UPDATE ON records
            WHEN (old.live, old.search_text) <> (new.live, new.search_text) BEGIN
            INSERT INTO words (words, rowid, owner, search_text)
                SELECT 'delete', old.id, 'u' || old.user, old.search_text
                WHERE old.live AND old.search_text <> '';
            INSERT INTO words (rowid, owner, search_text)
                SELECT new.id, 'u' || new.user, new.search_text
                WHERE new.live AND new.search_text <> '';
        END""",
        "INSERT INTO words (words) VALUES ('rebuild')",
    ):
        connection.execute(statement)


def blobs_of_rows(connection: sqlite3.Connection) -> None:
    """Keep bytes that are made from rows, such as vectors, for as long as the rows say the same.

    Under a row's ref stands what is made from it alone; under "*" what is made from all rows of a
    user that can be searched.
    """
    for statement in (
        """CREATE TABLE blobs (
            id INTEGER PRIMARY KEY, user INTEGER NOT NULL, space TEXT NOT NULL, ref TEXT NOT NULL,
            data BLOB NOT NULL,
            UNIQUE (user, space, ref)
        )""",
        "CREATE INDEX blobs_by_ref ON blobs (user, ref)",
        # A blob tells about its row: what is left of it is swept as the row's text is.
        """CREATE TRIGGER blobs_of_deleted AFTER DELETE ON records BEGIN
            UPDATE state SET unswept = 1 WHERE EXISTS
                (SELECT 1 FROM blobs WHERE user = old.user AND ref = old.ref);
            DELETE FROM blobs WHERE user = old.user
                AND (ref = old.ref OR ref = '*' AND old.search_text <> '');
        END""",
        """CREATE TRIGGER blobs_of_changed AFTER UPDATE ON records
            WHEN old.search_text <> new.search_text OR old.live > new.live BEGIN
            DELETE FROM blobs WHERE user = old.user
                AND (ref = old.ref OR ref = '*' AND old.search_text <> '');
        END""",
    ):
        connection.execute(statement)


def copies_outlive_history(connection: sqlite3.Connection) -> None:
    """Keep what is made from all rows when one of them becomes history: its text is still there.

    The feed tells of the change. Only a text that goes takes it along.
    """
    for statement in (
        "DROP TRIGGER blobs_of_changed",
        """CREATE TRIGGER blobs_of_changed AFTER UPDATE ON records
            WHEN old.search_text <> new.search_text OR old.live > new.live BEGIN
            DELETE FROM blobs WHERE user = old.user AND (
                ref = old.ref OR ref = '*' AND old.search_text NOT IN ('', new.search_text)
            );
        END""",
    ):
        connection.execute(statement)


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: rows_and_changes,
    2: full_text_search,
    3: blobs_of_rows,
    4: copies_outlive_history,
}
LATEST = max(MIGRATIONS)

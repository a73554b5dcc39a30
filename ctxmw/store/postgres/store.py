"""The system of record for many machines: PostgreSQL, shared by any number of processes.

Everything is committed before a call returns. The user is compared inside each query, and a
row-level policy compares again. Writers of one user take turns by an advisory lock; those of
different users never meet. This and the files beside it are the only ones that import psycopg.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...errors import InvalidValue
from ...protocols import Change, Find, Row
from ..rows import LARGEST, Asked, identifier, named_user, possible_texts
from .address import Address
from .blobs import Blobs
from .claim import claim, rewrite
from .notify import Listener
from .pool import Limits
from .rows import (
    among,
    asked_words,
    columns_of,
    conditions,
    order,
    row_of,
)
from .transactions import Step, Transactions

__all__ = ["Limits", "PostgresStore"]


class PostgresStore(Blobs):
    """A store in one schema of a database. Any thread may use it, before and after a fork.

    Opening makes the tables, or brings an older store up to date; it never touches a schema that
    holds something else. Transactions are made when they are needed.
    """

    path = None
    remote = True
    """Most of a call is waiting for the server: others can work meanwhile."""

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "ctxmw",
        limits: Limits | None = None,
        prepare: bool = True,
        notify: bool = True,
    ) -> None:
        """Open the store at `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`.

        `prepare=False` prepares no statements, for poolers that cannot keep them apart.
        `notify=False` tells no listeners of writes: see docs/many-machines.md for what they cost.
        """
        self.address = Address(dsn, schema)
        self._options: dict[str, Any] = {
            "schema": schema,
            "limits": limits,
            "prepare": prepare,
            "notify": notify,
        }
        self._notify = notify
        self.identity = str(claim(self.address))
        self.transactions = Transactions(self.address, limits or Limits(), prepare=prepare)
        self._feed = Listener(self.address)
        # Also runs when the store is collected or the interpreter ends.
        self._let_go = weakref.finalize(self, _let_go, self.transactions, self._feed)

    def __repr__(self) -> str:
        return f"PostgresStore({str(self.address)!r}, schema={self.address.schema!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the address, its password included: unpickled, it is opened again."""
        return partial(PostgresStore, **self._options), (self.address.dsn,)

    def put(self, rows: Sequence[Row], /) -> None:
        """Write all rows or none, durably; a row of the same (user, ref) is replaced."""
        users: dict[str, list[Row]] = {}
        for row in rows:
            users.setdefault(named_user(row.user), []).append(row)
        steps = {user: self._putting(user, users[user]) for user in sorted(users)}
        if len(steps) == 1:
            ((user, written),) = steps.items()
            self.transactions.write(user, *written)
        elif steps:
            with self.transactions.transaction(min(steps)):
                for user, written in steps.items():
                    self.transactions.write(user, *written)

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        """Return the rows that exist, history included, in the order asked for."""
        user = named_user(user)
        asked = possible_texts(refs, "refs")
        rows = self.transactions.read(
            user, f"{_ROWS} AND records.ref = ANY(%s)", [self._owner(user), asked]
        )
        found = {values[0]: values for values in rows}
        return [row_of(user, found[ref]) for ref in dict.fromkeys(asked) if ref in found]

    def query(self, user: str, find: Find, /) -> list[Row]:
        """Return the rows that fit, ordered by time, then by when they were written."""
        user, asked = named_user(user), Asked.by(find)
        clauses, values = conditions(asked)
        bound = [self._owner(user), *values, asked.limit, asked.offset]
        rows = self.transactions.read(user, _ROWS + clauses + order(asked), bound)
        return [row_of(user, row) for row in rows]

    def count(self, user: str, find: Find, /) -> int:
        """Return how many rows fit, whatever the limit."""
        user = named_user(user)
        clauses, values = conditions(Asked.by(find))
        found = self.transactions.read(user, _COUNT + clauses, [self._owner(user), *values])
        return int(found[0][0])

    def search(self, user: str, words: Sequence[str], find: Find, /) -> list[tuple[Row, float]]:
        """Return live rows that hold any of the words, best first, each with a score above zero.

        Rarer words count more, among the rows that are found. Words are stemmed, and case and
        accents do not count; the first 64 words are looked for. This walks over the user's rows
        that fit: the search people use has an index of its own.
        """
        user, asked = named_user(user), Asked.by(find)
        clauses, values = conditions(asked)
        each = asked_words(words)
        if not each:
            return []
        owner, any_of = self._owner(user), " | ".join(f"({word})" for word in each)
        sql = _FOUND.format(conditions=clauses)
        bound = [owner, any_of, *values, each, asked.limit, asked.offset, owner]
        return [
            (row_of(user, row[:-1]), row[-1]) for row in self.transactions.read(user, sql, bound)
        ]

    def delete(self, user: str, refs: Sequence[str], /) -> int:
        """Remove rows and say how many there were; the changes feed keeps that they are gone.

        No query finds them from then on. Their bytes stay in the server's files until `sweep`, and
        in its log until that is recycled.
        """
        user = named_user(user)
        bound = [self._owner(user), possible_texts(refs, "refs")]
        (removed,) = self.transactions.write(user, (_DELETE, bound), *self._telling(user))[0]
        return int(removed)

    def changes(self, user: str, since: int, types: Sequence[str] = (), /) -> list[Change]:
        """Return what happened to the user's rows after `since`, oldest first, one entry a row."""
        user = named_user(user)
        if not isinstance(since, int):
            raise InvalidValue(f"since must be a whole number, not {since!r:.60}.")
        bound: list[Any] = [self._owner(user), max(min(since, LARGEST), -LARGEST)]
        kinds = ""
        if types:
            bound.append(possible_texts(types, "types"))
            kinds = f" AND {among('type', bound[-1])}"
        sql = f"{_WRITTEN}{kinds} UNION ALL {_DELETED}{kinds} ORDER BY 1"
        return [
            Change(seq=seq, ref=ref, type=type_, gone=gone)
            for seq, ref, type_, gone in self.transactions.read(user, sql, bound * 2)
        ]

    def head(self, user: str, /) -> int:
        """Return the position of the user's newest change; 0 when there is none."""
        user = named_user(user)
        found = self.transactions.read(user, _HEAD, [self._owner(user)])
        return int(found[0][0]) if found else 0

    def wait(self, user: str, since: int, seconds: float, /) -> bool:
        """Wait until something of the user's changes after `since`; say whether it did.

        Returns as soon as it is written, by any process on any machine: `changes` tells what. A
        store that was opened with `notify=False` tells others nothing; they look once a second.
        """
        name = named_user(user)
        return self._feed.wait(lambda: self.head(name) > since, seconds)

    @contextmanager
    def atomic(self, user: str, /) -> Iterator[None]:
        """Make everything this thread does inside happen at once, alone among the user's writers.

        An exception inside undoes all of it. A block inside another joins it. Once anything
        inside has failed, nothing is kept, even if the failure is caught: the next call, and at
        the latest the end of the outermost block, raises StoreError. A connection that is lost
        inside is such a failure: run the block again. Do not await or fork inside.
        """
        with self.transactions.transaction(named_user(user)):
            yield

    def in_atomic(self) -> bool:
        """Say whether this thread is inside `atomic`: what it reads may never be committed."""
        return self.transactions.in_transaction()

    def sweep(self) -> None:
        """Take the bytes of deleted text out of the tables, for the owner at a quiet hour.

        Every table is written anew and locked meanwhile: about a second for 100,000 records. The
        server's log, its replicas and its backups are not ours to sweep.
        """
        rewrite(self.address)

    def users(self) -> list[str]:
        """Return everybody who has something in the store, in order."""
        rows = self.transactions.read(_NOBODY, "SELECT name FROM owners", [], before=[(_ALL, [])])
        return sorted(name for (name,) in rows)

    def restore(self, user: str, rows: Sequence[Row], gone: Sequence[Change], /) -> None:
        """Write rows, and that others are gone, as another store had them, positions included."""
        user = named_user(user)
        newest = max([0, *(row.seq for row in rows), *(each.seq for each in gone)])
        bound = {"owner": self.address.owner(user), "name": user, "newest": newest}
        steps: list[Step] = [(_RAISED, bound)]
        if rows:
            columns = columns_of(rows) | {"place": [row.seq for row in rows]}
            steps.append((_PUT.format(head="SELECT 0 AS seq"), {**columns, **bound}))
        if gone:
            refs = [identifier(each.ref, "ref") for each in gone]
            left = {"types": [each.type for each in gone], "seqs": [each.seq for each in gone]}
            steps.append((_DELETE_SOME, {"refs": refs, **bound}))
            steps.append((_GONE, {"refs": refs, **left, **bound}))
        self.transactions.write(user, *steps)

    def close(self) -> None:
        """Let go of the connections; closing twice is fine."""
        self._let_go()

    def _owner(self, user: str) -> Any:
        return self.address.owner(user)

    def _putting(self, user: str, rows: Sequence[Row]) -> list[tuple[str, Any]]:
        columns = columns_of(rows)
        bound = {**columns, "owner": self._owner(user), "name": user, "n": len(rows)}
        return [(_PUT.format(head=_NEXT), bound), *self._telling(user)]

    def _telling(self, user: str) -> list[tuple[str, Any]]:
        if not self._notify:
            return []
        return [("SELECT pg_notify(%s, %s)", [self.address.schema, str(self._owner(user))])]


def _let_go(transactions: Transactions, feed: Listener) -> None:
    feed.close()
    transactions.close()


_ROWS = """
SELECT records.ref, records.type, records.at AT TIME ZONE 'UTC', records.body, records.session,
    records.key, records.digest, records.scope, records.source, records.live, records.search_text,
    records.seq
FROM records WHERE records.owner = %s"""
_COUNT = "SELECT count(*) FROM records WHERE records.owner = %s"
# How telling a word is: it counts more the fewer of the rows that are found have it.
_FOUND = """
WITH hits AS MATERIALIZED (
    SELECT records.ref, records.seq, records.words FROM records
    WHERE records.owner = %s AND records.live AND records.words @@ %s::tsquery{conditions}
), telling AS MATERIALIZED (
    SELECT word::tsquery AS word, ln(1 + (SELECT count(*) FROM hits)::float8 / count(*)) AS weight
    FROM unnest(%s::text[]) AS word JOIN hits ON hits.words @@ word::tsquery GROUP BY word
), best AS (
    SELECT hits.ref, hits.seq,
        sum(weight * greatest(ts_rank(hits.words, word, 1), 1e-6))::float8 AS score
    FROM hits JOIN telling ON hits.words @@ telling.word GROUP BY hits.ref, hits.seq
    ORDER BY score DESC, hits.seq LIMIT %s OFFSET %s
)
SELECT records.ref, records.type, records.at AT TIME ZONE 'UTC', records.body, records.session,
    records.key, records.digest, records.scope, records.source, records.live, records.search_text,
    records.seq, best.score
FROM best JOIN records ON records.ref = best.ref
WHERE records.owner = %s ORDER BY best.score DESC, best.seq"""
_NEXT = """
    INSERT INTO owners (owner, name, seq) VALUES (%(owner)s, %(name)s, %(n)s)
    ON CONFLICT (owner) DO UPDATE SET seq = owners.seq + excluded.seq
    RETURNING owners.seq - %(n)s AS seq"""
_DELETE = """
WITH removed AS (DELETE FROM records WHERE owner = %s AND ref = ANY(%s) RETURNING 1)
SELECT count(*) FROM removed"""
_WRITTEN = """
SELECT records.seq, records.ref, records.type, false FROM records
WHERE records.owner = %s AND records.seq > %s"""
_DELETED = """
SELECT records.seq, records.ref, records.type, true FROM gone AS records
WHERE records.owner = %s AND records.seq > %s"""
_HEAD = "SELECT seq FROM owners WHERE owner = %s"
_PUT = """
WITH head AS ({head})
INSERT INTO records (owner, ref, type, live, at, seq, session, key, digest, scope, source,
    search_text, words, body)
SELECT %(owner)s, new.ref, new.type, new.live, new.at, head.seq + new.place, new.session, new.key,
    new.digest, new.scope, new.source, new.search_text, new.words::tsvector, new.body
FROM head, unnest(%(ref)s::text[], %(type)s::text[], %(live)s::boolean[], %(at)s::timestamptz[],
    %(place)s::bigint[], %(session)s::text[], %(key)s::text[], %(digest)s::text[],
    %(scope)s::text[], %(source)s::text[], %(search_text)s::text[], %(words)s::text[],
    %(body)s::text[]) AS new (ref, type, live, at, place, session, key, digest, scope, source,
    search_text, words, body)
ON CONFLICT (owner, ref) DO UPDATE SET type = excluded.type, live = excluded.live,
    at = excluded.at, seq = excluded.seq, session = excluded.session, key = excluded.key,
    digest = excluded.digest, scope = excluded.scope, source = excluded.source,
    search_text = excluded.search_text, words = excluded.words, body = excluded.body"""
_RAISED = """
INSERT INTO owners (owner, name, seq) VALUES (%(owner)s, %(name)s, %(newest)s)
ON CONFLICT (owner) DO UPDATE SET seq = greatest(owners.seq, excluded.seq)"""
_DELETE_SOME = "DELETE FROM records WHERE owner = %(owner)s AND ref = ANY(%(refs)s)"
_GONE = """
INSERT INTO gone (owner, ref, type, seq)
SELECT %(owner)s, gone.ref, gone.type, gone.seq
FROM unnest(%(refs)s::text[], %(types)s::text[], %(seqs)s::bigint[]) AS gone (ref, type, seq)
ON CONFLICT (owner, ref) DO UPDATE SET type = excluded.type, seq = excluded.seq"""
_NOBODY = "\0everybody"
_ALL = "SELECT set_config('ctxmw.every_name', 'on', true)"

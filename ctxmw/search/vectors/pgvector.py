"""pgvector as a vector index: nearest neighbours in the database that holds the store.

It holds what the store's vectors say, one table for each length of vectors, and a vector goes
with the blob it was made from, in the same transaction. A user with few vectors is compared with
all of them, which is exact; for more, a graph (HNSW) is walked over everybody's vectors, and what
it brings is the user's only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from ...errors import InvalidValue, StoreError
from ...runtime.lru import LruCache
from ...store.postgres.schema import policy
from ...store.postgres.store import PostgresStore
from ...store.postgres.transactions import Step
from .follow import space_of, split_owner

if TYPE_CHECKING:
    from ...protocols import FloatArray, Store

EXACT = 10_000
"""Users with no more vectors than this are compared with all of them."""
WIDTH = 8
"""How many candidates the graph keeps at hand for each that is asked for; more finds more."""
_LONGEST = 2_000
"""Vectors longer than this cannot be in a graph of pgvector; they are always compared with all."""
_USERS = 1_024


def pgvector_in(store: Store) -> PgvectorIndex:
    """Return the index inside a store's own database, which must be Postgres."""
    if not isinstance(store, PostgresStore):
        raise InvalidValue(
            'index is "pgvector", but the memory is not on Postgres: open it with '
            '"postgresql://...", or with index="numpy".'
        )
    return PgvectorIndex(store)


class PgvectorIndex:
    """Finds the nearest vectors inside Postgres. Any thread may use it; so may any process."""

    name = "pgvector"

    def __init__(self, store: PostgresStore) -> None:
        self._address = store.address
        self._transactions = store.transactions
        self._lock = threading.Lock()
        self._sizes: frozenset[int] | None = None
        """The lengths that have a table; None: not looked at yet."""
        self._place = ""
        """The schema that holds the extension; empty where it is not installed."""
        # How many vectors a user has, about: decides only how they are searched.
        self._counts: LruCache[str, int | None] = LruCache(_USERS)

    def update(self, user: str, vectors: Mapping[str, FloatArray], gone: Sequence[str], /) -> None:
        """Take in new or changed vectors and let go of those that are gone."""
        name, owner, space = self._named(user)
        sizes = _by_size(vectors)
        for size in sizes:
            self._make(size)
        steps: list[Step] = []
        if gone:
            bound = [owner, space, list(gone)]
            steps += [(self._sql(_REMOVE, size), bound) for size in self._known()]
        for size, some in sizes.items():
            written = [_written(vector) for vector in some.values()]
            steps.append((self._sql(_TAKE_IN, size), [owner, space, list(some), written]))
        if steps:
            self._transactions.write(name, *steps)
            self._counts.put(user, None)

    def nearest(self, user: str, vector: FloatArray, n: int, /) -> list[tuple[str, float]]:
        """Return refs and cosines, the nearest first; for many vectors it may miss a few."""
        name, owner, space = self._named(user)
        size = len(vector)
        if n <= 0 or size not in self._known():
            return []
        bound = [_written(vector), owner, space, n]
        if size <= _LONGEST and self._count(user, size) > EXACT:
            walk: Step = (_WALK, [str(min(max(WIDTH * n, 200), 1_000))])
            found = self._transactions.read(name, self._sql(_NEAR, size), bound, before=[walk])
            if len(found) == n:
                return _cosines(found)
        return _cosines(self._transactions.read(name, self._sql(_NEAREST, size), bound))

    def refs(self, user: str, /) -> frozenset[str]:
        """Return what it holds, to see whether it is behind."""
        name, owner, space = self._named(user)
        found: set[str] = set()
        for size in self._known():
            rows = self._transactions.read(name, self._sql(_REFS, size), [owner, space])
            found.update(ref for (ref,) in rows)
        return frozenset(found)

    def close(self) -> None:
        """Nothing to let go of: the connections are the store's."""

    def _count(self, user: str, size: int) -> int:
        known = self._counts.get(user)
        if known is None:
            name, owner, space = self._named(user)
            rows = self._transactions.read(name, self._sql(_COUNT, size), [owner, space])
            known = int(rows[0][0])
            self._counts.put(user, known)
        return known

    def _named(self, user: str) -> tuple[str, UUID, str]:
        """Return the user, and how the tables call the user and the embedder."""
        embedder, name = split_owner(user)
        return name, self._address.owner(name), space_of(embedder)

    def _known(self) -> frozenset[int]:
        if self._sizes is None:
            self._look()
        return self._sizes or frozenset()

    def _look(self) -> None:
        rows = self._transactions.read(_NOBODY, _TABLES, [self._address.schema])
        found = self._transactions.read(_NOBODY, _EXTENSION, [])
        self._place = str(found[0][0]) if found else ""
        self._sizes = frozenset(int(table.removeprefix("vectors_")) for (table,) in rows)

    def _make(self, size: int) -> None:
        if size in self._known():
            return
        # Others may be about to do the same: all of them take turns, and look again.
        with self._lock, self._transactions.transaction(_NOBODY):
            self._look()
            if size in self._known():
                return
            if not self._place:
                raise StoreError(
                    f'{self._address}: index is "pgvector", and the database has no pgvector: run '
                    'CREATE EXTENSION vector; as a superuser, or open with index="numpy".'
                )
            self._transactions.write(_NOBODY, *((self._sql(sql, size), []) for sql in _new(size)))
        self._look()

    def _sql(self, sql: str, size: int) -> str:
        return sql.format(vectors=f"vectors_{int(size)}", place=self._place, size=int(size))


_NOBODY = "\0vectors"
"""Takes turns in making tables; no user can have this name."""
_TABLES = """
SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ '^vectors_[0-9]+$'"""
_EXTENSION = """
SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
WHERE extname = 'vector'"""
_REMOVE = "DELETE FROM {vectors} WHERE owner = %s AND space = %s AND ref = ANY(%s)"
# Every process that follows the changes brings the same vectors: nothing is written twice.
_TAKE_IN = """
INSERT INTO {vectors} AS held (owner, space, ref, embedding)
SELECT blobs.owner, blobs.space, blobs.ref, given.embedding::{place}.vector
FROM (SELECT %s::uuid AS owner, %s::text AS space) AS mine
CROSS JOIN unnest(%s::text[], %s::text[]) AS given (ref, embedding)
JOIN blobs ON blobs.owner = mine.owner AND blobs.space = mine.space AND blobs.ref = given.ref
ON CONFLICT (owner, space, ref) DO UPDATE SET embedding = excluded.embedding
WHERE held.embedding OPERATOR({place}.<>) excluded.embedding"""
_REFS = "SELECT ref FROM {vectors} WHERE owner = %s AND space = %s"
_COUNT = "SELECT count(*) FROM {vectors} WHERE owner = %s AND space = %s"
_WALK = """
SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('hnsw.ef_search', %s, true)"""
_NEAR = """
WITH asked AS MATERIALIZED (SELECT %s::{place}.vector AS embedding)
SELECT ref, 1 - distance FROM (
    SELECT ref, embedding OPERATOR({place}.<=>) (SELECT asked.embedding FROM asked) AS distance
    FROM {vectors} WHERE owner = %s AND space = %s ORDER BY distance LIMIT %s
) AS nearest"""
# All are compared before they are sorted, so the graph stays out of it.
_NEAREST = """
WITH asked AS MATERIALIZED (SELECT %s::{place}.vector AS embedding),
compared AS MATERIALIZED (
    SELECT ref, embedding OPERATOR({place}.<=>) (SELECT asked.embedding FROM asked) AS distance
    FROM {vectors} WHERE owner = %s AND space = %s
)
SELECT ref, 1 - distance FROM compared ORDER BY distance, ref LIMIT %s"""


def _new(size: int) -> tuple[str, ...]:
    graph = "CREATE INDEX ON {vectors} USING hnsw (embedding {place}.vector_cosine_ops)"
    return (
        """CREATE TABLE {vectors} (
            owner uuid NOT NULL, space text NOT NULL, ref text NOT NULL,
            embedding {place}.vector({size}) NOT NULL,
            PRIMARY KEY (owner, space, ref),
            FOREIGN KEY (owner, space, ref) REFERENCES blobs ON DELETE CASCADE
        )""",
        *((graph,) if size <= _LONGEST else ()),
        *policy("{vectors}"),
    )


def _by_size(vectors: Mapping[str, FloatArray]) -> dict[int, dict[str, FloatArray]]:
    sizes: dict[int, dict[str, FloatArray]] = {}
    for ref, vector in vectors.items():
        sizes.setdefault(len(vector), {})[ref] = vector
    return sizes


def _written(vector: FloatArray) -> str:
    return "[" + ",".join(map(str, vector.tolist())) + "]"


def _cosines(rows: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(ref, min(max(float(cosine), -1.0), 1.0)) for ref, cosine in rows]

"""pgvector finds what numpy finds, keeps users apart, and forgets with the store."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from ctxmw import ContextMiddleware
from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.search.vectors.follow import owner_of, split_owner
from ctxmw.search.vectors.numpy_index import NumpyIndex
from ctxmw.search.vectors.pgvector import _NEAR, PgvectorIndex
from ctxmw.search.vectors.vectors import Vectors
from ctxmw.store.postgres.store import PostgresStore
from ctxmw.testing import HashEmbedder
from ctxmw.testing.case import NOW, at_once
from ctxmw.values.records import Memory

EMBEDDER = HashEmbedder(64)


@pytest.fixture
def schema() -> str:
    return f"t{os.urandom(5).hex()}"


@pytest.fixture
def store(postgres: str, schema: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(postgres, schema=schema)
    yield opened
    opened.close()


@pytest.fixture
def sql(postgres: str, schema: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {schema}, public")
        yield connection


def remember(store: PostgresStore, texts: dict[str, str], user: str = "ada") -> None:
    memories = [Memory(user=user, ref=ref, at=NOW, kind="fact", text=texts[ref]) for ref in texts]
    store.put([memory.row() for memory in memories])


def random_texts(n: int) -> dict[str, str]:
    random = np.random.default_rng(7)
    words = [f"word{number}" for number in range(300)]
    return {f"m{number}": " ".join(random.choice(words, 12)) for number in range(n)}


def held(sql: psycopg.Connection, store: PostgresStore, user: str) -> set[str]:
    owner = str(store._address.owner(user))
    sql.execute("SELECT set_config('ctxmw.owner', %s, false)", [owner])
    return {ref for (ref,) in sql.execute("SELECT ref FROM vectors_64")}


def test_it_finds_what_numpy_finds(store):
    texts = random_texts(300)
    remember(store, texts)
    inside = Vectors(store, EMBEDDER, store.vector_index())
    beside = Vectors(store, EMBEDDER, NumpyIndex())
    for vectors in (inside, beside):
        vectors.refresh("ada")
    for text in list(texts.values())[:10]:
        near, expected = (vectors.similar("ada", text, 10) for vectors in (inside, beside))
        assert [cosine for _, cosine in near] == pytest.approx([c for _, c in expected], abs=1e-5)
        assert near[0][0] == expected[0][0]


def test_users_and_embedders_are_kept_apart(store, sql):
    for user in ("ada", "bob"):
        remember(store, {"m1": f"tea of {user}", "m2": "milk"}, user)
        for embedder in (EMBEDDER, HashEmbedder(32)):
            Vectors(store, embedder, store.vector_index()).refresh(user)
    vectors = Vectors(store, EMBEDDER, store.vector_index())
    assert [ref for ref, _ in vectors.similar("ada", "tea of bob", 5)] == ["m1", "m2"]
    assert vectors.similar("eve", "tea", 5) == []
    sql.execute("SELECT set_config('ctxmw.owner', '', false)")
    assert sql.execute("SELECT * FROM vectors_64").fetchall() == []
    assert held(sql, store, "ada") == {"m1", "m2"}


def test_what_is_forgotten_is_gone_in_the_same_moment(store, sql):
    remember(store, {"m1": "tea", "m2": "milk", "m3": "coffee"})
    vectors = Vectors(store, EMBEDDER, store.vector_index())
    vectors.refresh("ada")
    store.delete("ada", ["m1"])
    assert held(sql, store, "ada") == {"m2", "m3"}
    remember(store, {"m2": "another text"})
    assert held(sql, store, "ada") == {"m3"}
    vectors.refresh("ada")
    assert vectors.similar("ada", "another text", 1)[0][0] == "m2"


def test_many_vectors_are_found_by_the_graph(store, sql, monkeypatch):
    texts = random_texts(800)
    remember(store, texts)
    index = store.vector_index()
    vectors = Vectors(store, EMBEDDER, index)
    vectors.refresh("ada")
    asked = list(texts.values())[:20]
    exact = [{ref for ref, _ in vectors.similar("ada", text, 10)} for text in asked]
    monkeypatch.setattr("ctxmw.search.vectors.pgvector.EXACT", 100)
    monkeypatch.setattr("ctxmw.search.vectors.pgvector._NEAREST", "not to be asked")
    near = [{ref for ref, _ in vectors.similar("ada", text, 10)} for text in asked]
    found = sum(len(a & b) for a, b in zip(exact, near, strict=True)) / 200
    assert found > 0.9


def test_the_graph_is_used_under_the_policy(store, sql):
    remember(store, random_texts(800))
    index = store.vector_index()
    Vectors(store, EMBEDDER, index).refresh("ada")
    owner = store._address.owner("ada")
    sql.execute("SELECT set_config('ctxmw.owner', %s, false)", [str(owner)])
    sql.execute("SET enable_seqscan = off")
    sql.execute("SET enable_sort = off")
    asked = "[" + ",".join(["1"] * 64) + "]"
    plan = sql.execute(
        "EXPLAIN " + index._sql(_NEAR, 64), [asked, owner, f"vector:{EMBEDDER.name}", 10]
    ).fetchall()
    assert "vectors_64_embedding_idx" in str(plan)


def test_a_graph_that_comes_short_is_made_up_for(store, monkeypatch):
    remember(store, random_texts(50))
    monkeypatch.setattr("ctxmw.search.vectors.pgvector.EXACT", 10)
    vectors = Vectors(store, EMBEDDER, store.vector_index())
    vectors.refresh("ada")
    assert len(vectors.similar("ada", "word1 word2", 100)) == 50


def test_tables_may_be_made_by_many_at_once(store, postgres, schema):
    remember(store, {"m1": "tea"})
    store.put_blobs("ada", "vector:x", {"m1": b"1"})
    stores = [PostgresStore(postgres, schema=schema) for _ in range(4)]
    vector = np.ones(48, np.float32)

    def write(number: int) -> None:
        stores[number].vector_index().update(owner_of("ada", "x"), {"m1": vector}, [])

    at_once(write, 4)
    assert stores[0].vector_index().refs(owner_of("ada", "x")) == {"m1"}
    for each in stores:
        each.close()


def test_a_middleware_searches_with_it_and_can_be_sent_elsewhere(postgres):
    user = f"u{os.urandom(4).hex()}"
    options = {"user": user, "embedder": EMBEDDER, "index": "pgvector", "deadline": None}
    with ContextMiddleware.open(postgres, **options) as ctx:
        ctx.remember("Auth uses JWT with RS256.")
        assert [hit.text for hit in ctx.search("jwt rs256")] == ["Auth uses JWT with RS256."]
        again = pickle.loads(pickle.dumps(ctx))
        assert isinstance(again._learner.dense.vectors._following.index, PgvectorIndex)
        assert [hit.text for hit in again.search("jwt rs256")] == ["Auth uses JWT with RS256."]
        again.close()


def test_it_needs_a_memory_on_postgres():
    with pytest.raises(
        InvalidValue, match=r'index is "pgvector", but the memory is not on Postgres'
    ):
        ContextMiddleware.open(":memory:", embedder=EMBEDDER, index="pgvector")


def test_a_database_without_the_extension_is_named(postgres_server):
    with psycopg.connect(postgres_server.dsn("postgres"), autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS bare")
        admin.execute("CREATE DATABASE bare OWNER app")
    store = PostgresStore(postgres_server.dsn().replace("/app", "/bare").replace("//bare", "//app"))
    remember(store, {"m1": "tea"})
    with pytest.raises(StoreError, match=r'CREATE EXTENSION vector; as a superuser.*index="numpy"'):
        Vectors(store, EMBEDDER, store.vector_index()).refresh("ada")
    assert store.count("ada", Find()) == 1
    store.close()


@pytest.mark.parametrize(("user", "name"), [("ada", "hash:64"), ("a:b", "x:"), ("1:x", "")])
def test_whom_an_index_knows_can_be_told_apart_again(user, name):
    assert split_owner(owner_of(user, name)) == (name, user)

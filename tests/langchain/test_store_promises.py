"""What every store of LangGraph promises, asked of its own two stores and of ours.

LangGraph publishes a conformance kit for checkpointers and none for stores, so the promises of
`BaseStore` are written down here. That its own stores keep them shows that they are right.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextStore
from tests.support.stores import postgres_in


@contextmanager
def ours(_):
    with ContextMiddleware.open(":memory:", user="ada") as ctx:
        yield ContextStore(ctx)


@contextmanager
def ours_on_postgres(request):
    kept = postgres_in(request.getfixturevalue("postgres"), f"t{os.urandom(5).hex()}", "store")
    with ContextMiddleware(kept, user="ada") as ctx:
        yield ContextStore(ctx)


@contextmanager
def in_memory(_):
    yield InMemoryStore()


@contextmanager
def in_sqlite(_):
    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        yield store


@pytest.fixture(
    params=[ours, ours_on_postgres, in_memory, in_sqlite], ids=lambda make: make.__name__
)
def store(request):
    with request.param(request) as made:
        yield made


def keys(found):
    return sorted(one.key for one in found)


def test_an_item_knows_where_it_is_and_since_when(store):
    store.put(("trips", "2026"), "lyon", {"nights": 3, "by": ["train", {"seat": None}]})
    item = store.get(("trips", "2026"), "lyon")
    assert type(item) is Item
    assert (item.namespace, item.key) == (("trips", "2026"), "lyon")
    assert item.value == {"nights": 3, "by": ["train", {"seat": None}]}
    assert item.created_at <= item.updated_at
    assert set(item.dict()) == {"namespace", "key", "value", "created_at", "updated_at"}


def test_a_key_is_of_its_namespace_only(store):
    store.put(("trips",), "lyon", {"nights": 3})
    for namespace in (("trips", "2026"), ("trip",), ("tripsx",), ("Trips",)):
        assert store.get(namespace, "lyon") is None
    assert store.get(("trips",), "Lyon") is None


def test_what_is_put_again_is_replaced_and_what_is_deleted_is_gone(store):
    store.put(("a",), "k", {"n": 1})
    store.put(("a",), "k", {"n": 2})
    assert store.get(("a",), "k").value == {"n": 2}
    store.delete(("a",), "k")
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None


def test_a_batch_answers_in_order_and_writes_at_its_end(store):
    store.put(("a",), "k", {"n": 1})
    results = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            GetOp(("a",), "k"),
            SearchOp(("a",), filter={"n": 1}),
            ListNamespacesOp(match_conditions=None),
            GetOp(("a",), "none"),
        ]
    )
    first, put, second, found, namespaces, none = results
    assert (first.value, put, second.value, none) == ({"n": 1}, None, {"n": 1}, None)
    assert keys(found) == ["k"]
    assert namespaces == [("a",)]
    assert store.get(("a",), "k").value == {"n": 2}


def test_of_two_puts_in_a_batch_the_last_holds(store):
    store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), "k", {"n": 2})])
    assert store.get(("a",), "k").value == {"n": 2}
    store.batch([PutOp(("a",), "k", {"n": 3}), PutOp(("a",), "k", None)])
    assert store.get(("a",), "k") is None


def test_a_search_goes_down_from_its_prefix(store):
    for at, namespace in enumerate([("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("b", "a")]):
        store.put(namespace, f"k{at}", {"n": at})
    assert keys(store.search(("a",))) == ["k0", "k1", "k2"]
    assert keys(store.search(("a", "b"))) == ["k1", "k2"]
    assert keys(store.search(())) == ["k0", "k1", "k2", "k3", "k4"]
    assert all(type(one) is SearchItem and one.score is None for one in store.search(("a",)))


def test_pages_of_a_search_are_all_of_it_once(store):
    for at in range(25):
        store.put(("a",), f"k{at:02}", {"n": at})
    assert len(store.search(("a",))) == 10
    pages = [store.search(("a",), limit=7, offset=offset) for offset in (0, 7, 14, 21, 28)]
    assert list(map(len, pages)) == [7, 7, 7, 4, 0]
    assert keys(one for page in pages for one in page) == [f"k{at:02}" for at in range(25)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"n": 2}, ["b"]),
        ({"n": {"$eq": 2}}, ["b"]),
        ({"n": {"$ne": 2}}, ["a", "c"]),
        ({"n": {"$gt": 1}}, ["b", "c"]),
        ({"n": {"$gte": 2, "$lt": 3}}, ["b"]),
        ({"n": {"$lte": 2}}, ["a", "b"]),
        ({"n": 1, "who": "ada"}, ["a"]),
        ({"n": 1, "who": "bob"}, []),
        ({"who": "ada"}, ["a", "c"]),
        ({"none": 1}, []),
    ],
    ids=str,
)
def test_a_filter_goes_by_values(store, asked, found):
    store.put(("x",), "a", {"n": 1, "who": "ada"})
    store.put(("x",), "b", {"n": 2, "who": "bob"})
    store.put(("x",), "c", {"n": 3, "who": "ada"})
    assert keys(store.search(("x",), filter=asked)) == found


def test_a_query_without_vectors_still_answers(store):
    store.put(("x",), "a", {"text": "Likes green tea."})
    assert keys(store.search(("x",), query="tea")) == ["a"]


NAMESPACES = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c", "f"), ("b", "a", "f"), ("users",)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, NAMESPACES),
        ({"prefix": ("a",)}, NAMESPACES[:3]),
        ({"prefix": ("a", "b")}, NAMESPACES[:2]),
        ({"suffix": ("f",)}, NAMESPACES[2:4]),
        ({"prefix": ("a",), "suffix": ("f",)}, NAMESPACES[2:3]),
        ({"prefix": ("a", "*", "f")}, NAMESPACES[2:3]),
        ({"prefix": ("*", "a")}, NAMESPACES[3:4]),
        ({"suffix": ("*", "f")}, NAMESPACES[2:4]),
        ({"max_depth": 2}, [("a", "b"), ("a", "c"), ("b", "a"), ("users",)]),
        ({"prefix": ("a",), "max_depth": 1}, [("a",)]),
        ({"limit": 2}, NAMESPACES[:2]),
        ({"limit": 2, "offset": 3}, NAMESPACES[3:]),
        ({"prefix": ("none",)}, []),
    ],
    ids=str,
)
def test_namespaces_are_listed_in_order(store, asked, found):
    for at, namespace in enumerate(NAMESPACES):
        store.put(namespace, f"k{at}", {"n": at})
    assert store.list_namespaces(**asked) == found


def test_several_conditions_hold_together(store):
    for at, namespace in enumerate(NAMESPACES):
        store.put(namespace, f"k{at}", {"n": at})
    conditions = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("e",)))
    [found] = store.batch([ListNamespacesOp(match_conditions=conditions)])
    assert found == [("a", "b", "d", "e")]


@pytest.mark.parametrize("namespace", [(), ("a", ""), ("a.b",), ("langgraph", "a"), ("a", 1)])
def test_a_namespace_that_is_none_is_refused(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces() == []


@pytest.mark.parametrize("label", ["a*b", "a%b", "a_b", "a'b", 'a"b', "a/b", "ä 漢", "a:b"])
def test_a_namespace_is_taken_by_the_letter(store, label):
    store.put((label,), "k", {"n": 1})
    store.put(("axb",), "other", {"n": 2})
    assert keys(store.search((label,))) == ["k"]
    assert store.list_namespaces(suffix=(label,)) == [(label,)]


def test_what_was_got_can_be_changed_without_the_store(store):
    store.put(("a",), "k", {"tags": ["x"]})
    given = store.get(("a",), "k")
    assert store.get(("a",), "k").value == {"tags": ["x"]}
    if not isinstance(store, InMemoryStore):  # it hands out what it holds
        given.value["tags"].append("y")
        assert store.get(("a",), "k").value == {"tags": ["x"]}


async def test_async_calls_at_once_are_all_made():
    with ContextMiddleware.open(":memory:", user="ada") as ctx:
        for store in (ContextStore(ctx), InMemoryStore()):
            await asyncio.gather(*(store.aput(("a",), f"k{at}", {"n": at}) for at in range(20)))
            got = await asyncio.gather(*(store.aget(("a",), f"k{at}") for at in range(20)))
            assert [one.value["n"] for one in got] == list(range(20))
            assert len(await store.asearch(("a",), limit=50)) == 20
            await store.adelete(("a",), "k0")
            assert await store.aget(("a",), "k0") is None
            assert await store.alist_namespaces() == [("a",)]

"""LangGraph's store in a memory: as LangGraph's own store answers, for each user apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.tools import ToolRuntime  # noqa: TC002 - read by `tool`
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from ctxmw import ContextMiddleware, InvalidValue, MissingUser, WrongUser
from ctxmw.testing import FixedClock
from ctxmw_langchain import ContextAgentMiddleware, ContextStore, LangGraphSource
from tests.langchain.models import RecordingModel, calling

USERS = ("users", "ada")


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def ctx(factory, clock):
    with ContextMiddleware(factory("store"), user="ada", clock=clock) as opened:
        yield opened


@pytest.fixture
def store(ctx):
    return ContextStore(ctx)


def keys(found):
    return [one.key for one in found]


def test_what_is_put_is_got_replaced_and_deleted(clock, store):
    store.put(USERS, "prefs", {"theme": "dark", "sizes": [1, {"a": None}]})
    item = store.get(USERS, "prefs")
    assert item.dict()["value"] == {"theme": "dark", "sizes": [1, {"a": None}]}
    assert (item.namespace, item.key) == (USERS, "prefs")
    clock.advance(minutes=1)
    store.put(USERS, "prefs", {"theme": "light"})
    again = store.get(USERS, "prefs")
    assert again.created_at == item.created_at
    assert again.updated_at > item.updated_at
    store.delete(USERS, "prefs")
    assert store.get(USERS, "prefs") is None
    store.delete(USERS, "prefs")


def test_a_search_goes_by_namespace_filter_and_words(store):
    store.put(USERS, "a", {"text": "Likes green tea in the morning.", "rank": 1})
    store.put(USERS, "b", {"text": "Plays chess on Sundays.", "rank": 2})
    store.put(("users", "bob"), "c", {"text": "Drinks tea with milk.", "rank": 3})
    assert set(keys(store.search(("users",)))) == {"a", "b", "c"}
    assert set(keys(store.search(USERS))) == {"a", "b"}
    assert keys(store.search(("users",), filter={"rank": {"$gte": 2, "$lt": 3}})) == ["b"]
    assert keys(store.search(("users",), filter={"rank": 3})) == ["c"]
    best = store.search(USERS, query="who likes chess?")
    assert best[0].key == "b"
    assert best[0].score > 0
    assert best[-1].score is None or best[-1].score < best[0].score
    assert len(store.search(("users",), limit=2)) == 2
    assert len(store.search(("users",), limit=2, offset=2)) == 1


def test_a_namespace_may_be_a_list(store):
    store.put(list(USERS), "a", {"n": 1})
    assert store.get(list(USERS), "a").namespace == USERS
    assert keys(store.search(["users"])) == ["a"]
    store.delete(list(USERS), "a")
    assert store.get(USERS, "a") is None


def test_index_says_what_is_searched(store):
    store.put(USERS, "a", {"text": "Quokkas.", "note": "kumquat"}, index=["note"])
    store.put(USERS, "b", {"text": "kumquat"}, index=False)
    found = {one.key: one.score for one in store.search(USERS, query="kumquat")}
    assert found["a"] is not None
    assert found["b"] is None
    assert store.search(USERS, query="quokkas")[0].score is None


def test_time_runs_out_and_begins_anew_when_something_is_read(clock, store):
    store.put(USERS, "a", {"x": 1}, ttl=10)
    store.put(USERS, "b", {"x": 2}, ttl=10)
    store.put(USERS, "c", {"x": 3})
    clock.advance(minutes=6)
    assert store.get(USERS, "a") is not None
    assert store.get(USERS, "b", refresh_ttl=False) is not None
    clock.advance(minutes=6)
    assert sorted(keys(store.search(USERS, refresh_ttl=False))) == ["a", "c"]
    assert store.get(USERS, "b") is None
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0


def test_a_default_time_is_langgraphs_own(ctx, clock):
    store = ContextStore(ctx, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(USERS, "a", {"x": 1})
    clock.advance(minutes=3)
    assert store.get(USERS, "a") is not None
    clock.advance(minutes=3)
    assert store.get(USERS, "a") is None
    assert store.list_namespaces() == []


async def test_its_async_twins_do_the_same(store):
    await store.aput(USERS, "a", {"text": "Tea."})
    assert (await store.aget(USERS, "a")).value == {"text": "Tea."}
    assert keys(await store.asearch(("users",), query="tea")) == ["a"]
    assert await store.alist_namespaces(prefix=("users",)) == [USERS]
    await store.adelete(USERS, "a")
    assert await store.aget(USERS, "a") is None


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x"), ("a\0b",)])
def test_namespaces_that_langgraph_refuses_are_refused(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "a", {"x": 1})
    assert store.list_namespaces() == []


def test_what_json_cannot_hold_is_refused_and_nothing_of_the_batch_is_written(store):
    ops = [PutOp(USERS, "a", {"x": 1}), PutOp(USERS, "b", {"x": object()})]
    with pytest.raises(InvalidValue, match="JSON"):
        store.batch(ops)
    assert store.get(USERS, "a") is None


WRONG = {
    "a filter that is a number": (lambda s: s.search(USERS, filter=3), "filter is 3"),
    "a filter that is text": (lambda s: s.search(USERS, filter="n"), "filter is 'n'"),
    "a query that is a number": (lambda s: s.search(USERS, query=3), "query is 3"),
    "a query that is bytes": (lambda s: s.search(USERS, query=b"tea"), "query is b'tea'"),
    "a limit below 0": (lambda s: s.search(USERS, limit=-1), "limit is -1"),
    "a limit that is text": (lambda s: s.search(USERS, limit="3"), "limit is '3'"),
    "a limit that is none": (lambda s: s.search(USERS, limit=None), "limit is None"),
    "an offset below 0": (lambda s: s.search(USERS, offset=-1), "offset is -1"),
    "a search below a text": (lambda s: s.search("users"), "namespace is 'users'"),
    "a get below a text": (lambda s: s.get("users", "a"), "namespace is 'users'"),
    "a put below a text": (lambda s: s.put("users", "a", {}), "namespace is 'users'"),
    "nowhere to search": (lambda s: s.batch([SearchOp(None)]), "namespace is None"),
    "a list below a text": (lambda s: s.list_namespaces(prefix="users"), "namespace is 'users'"),
    "a depth of 0": (lambda s: s.list_namespaces(max_depth=0), "max_depth is 0"),
    "a depth that is text": (lambda s: s.list_namespaces(max_depth="1"), "max_depth is '1'"),
    "namespaces below 0": (lambda s: s.list_namespaces(limit=-1), "limit is -1"),
    "a match in the middle": (
        lambda s: s.batch([ListNamespacesOp(match_conditions=(MatchCondition("middle", ("a",)),))]),
        "'middle'",
    ),
    "an index that is text": (lambda s: s.put(USERS, "b", {"x": 1}, index="x"), "index is 'x'"),
    "an index that is True": (lambda s: s.put(USERS, "b", {"x": 1}, index=True), "index is True"),
    "an index of numbers": (lambda s: s.put(USERS, "b", {"x": 1}, index=[3]), "index is"),
    "a time that is text": (lambda s: s.put(USERS, "b", {"x": 1}, ttl="x"), "minutes is 'x'"),
    "a time below 0": (lambda s: s.put(USERS, "b", {"x": 1}, ttl=-1), "minutes is -1"),
    "a time that is no number": (lambda s: s.put(USERS, "b", {}, ttl=float("nan")), "minutes is"),
    "a time without end": (lambda s: s.put(USERS, "b", {}, ttl=float("inf")), "minutes is inf"),
    "a value that is a list": (lambda s: s.put(USERS, "b", [1]), "give a dict"),
    "half a character in a key": (lambda s: s.put(USERS, "b\ud800", {"x": 1}), "half surrogate"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused_by_name_and_write_nothing(store, call):
    ask, said = call
    with pytest.raises(InvalidValue, match=said):
        ask(store)
    assert store.search(()) == []


@pytest.mark.parametrize("ttl", [3, {"default": 5}, {"default_ttl": "5"}, {"default_ttl": -5}])
def test_a_default_time_that_is_none_is_refused(ctx, ttl):
    with pytest.raises(InvalidValue, match="ttl is"):
        ContextStore(ctx, ttl=ttl)


def test_half_a_character_in_a_value_is_replaced(store):
    store.put(USERS, "a", {"te\ud800a": ["gre\ud800en"], "nul": "a\0b"})
    assert store.get(USERS, "a").value == {"te\ufffda": ["gre\ufffden"], "nul": "a\0b"}


def test_it_goes_with_the_user(ctx, store, tmp_path):
    store.put(USERS, "a", {"text": "Tea.", "key": "AKIAIOSFODNN7EXAMPLE"})
    assert "AKIAIOSFODNN7EXAMPLE" not in str(store.get(USERS, "a").value)
    ctx.export(tmp_path / "all.jsonl")
    with ContextMiddleware.open(":memory:", user="eve") as other:
        other.import_(tmp_path / "all.jsonl")
        assert ContextStore(other).get(USERS, "a").value["text"] == "Tea."
    ctx.forget(user="ada")
    assert store.list_namespaces() == []


def test_what_is_printed_says_whose_it_is():
    with ContextMiddleware.open(":memory:", user="ada") as ctx:
        memory = "ContextMiddleware(':memory:', user='ada')"
        assert repr(ContextStore(ctx, user="ada")) == f"ContextStore({memory}, user='ada')"
        assert repr(ContextAgentMiddleware(ctx)) == f"ContextAgentMiddleware({memory})"
        assert repr(ctx.documents()) == "Documents(user='ada')"


def test_nothing_of_it_comes_into_a_prompt_by_itself(ctx, store):
    store.put(USERS, "a", {"text": "The courier comes at noon."})
    assert ctx.search("courier") == []
    asked = [{"role": "user", "content": "When does the courier come?"}]
    assert "noon" not in str(ctx.session("a").prepare(asked).messages)


class TestManyUsers:
    @pytest.fixture
    def server(self):
        with ContextMiddleware.open(":memory:", user=None, strict=True) as opened:
            yield opened

    def test_a_store_of_a_user_is_theirs(self, server):
        ada, bob = (ContextStore(server, user=user) for user in ("ada", "bob"))
        ada.put(("facts",), "a", {"text": "Ada's."})
        assert bob.get(("facts",), "a") is None
        with pytest.raises(MissingUser, match="user_id"):
            ContextStore(server).get(("facts",), "a")

    def test_an_agents_tools_use_that_of_the_call(self, server):
        @tool
        def keep(text: str, runtime: ToolRuntime) -> str:
            """Keep a text."""
            runtime.store.put(("facts",), "a", {"text": text})
            return "kept"

        script = [calling("keep", {"text": "Likes tea."}), "Done."]
        agent = create_agent(
            RecordingModel(script=script),
            tools=[keep],
            store=ContextStore(server),
            middleware=[ContextAgentMiddleware(server)],
        )
        config = {"configurable": {"user_id": "ada", "thread_id": "t1"}}
        agent.invoke({"messages": [HumanMessage("Hi.")]}, config)
        assert ContextStore(server, user="ada").get(("facts",), "a").value["text"] == "Likes tea."
        assert ContextStore(server, user="bob").get(("facts",), "a") is None

    def test_a_call_for_another_user_is_refused(self, server):
        @tool
        def keep(runtime: ToolRuntime) -> str:
            """Keep something."""
            runtime.store.put(("facts",), "a", {"text": "x"})
            return "kept"

        store = ContextStore(server, user="ada")
        agent = create_agent(
            RecordingModel(script=[calling("keep", {})]), tools=[keep], store=store
        )
        with pytest.raises(WrongUser, match="'bob'"):
            agent.invoke({"messages": [HumanMessage("Hi.")]}, {"configurable": {"user_id": "bob"}})


class TestAsASource:
    def test_a_store_brings_what_answers(self):
        store = InMemoryStore()
        store.put(("facts", "ada"), "a", {"content": "The courier comes at noon."})
        store.put(("facts", "bob"), "b", {"content": "The courier comes at midnight."})
        source = LangGraphSource(store, ("facts", "{user}"))
        with ContextMiddleware.open(":memory:", user="ada", sources=[source]) as ctx:
            asked = [{"role": "user", "content": "When does the courier come?"}]
            sent = str(ctx.session("a").prepare(asked).messages)
        assert "The courier comes at noon." in sent
        assert "untrusted" in sent
        assert "midnight" not in sent

    def test_without_a_project_its_namespace_is_left_alone(self):
        store = InMemoryStore()
        store.put(("facts", "shop"), "a", {"content": "The courier comes at noon."})
        source = LangGraphSource(store, ("facts", "{project}"), trust="trusted")
        with ContextMiddleware.open(":memory:", sources=[source]) as ctx:
            asked = [{"role": "user", "content": "When does the courier come?"}]
            assert "noon" not in str(ctx.session("a").prepare(asked).messages)
            there = ctx.session("b", project="shop").prepare(asked).messages
            assert "noon" in str(there)
            assert "untrusted" not in str(there)

    @pytest.mark.parametrize("given_", [("facts", ("a",)), (InMemoryStore(), "facts")])
    def test_what_is_none_is_refused(self, given_):
        with pytest.raises(InvalidValue):
            LangGraphSource(*given_)


# LangGraph's own store says what is right: whatever is done, both answer the same.
LABELS = st.sampled_from(["a", "b", "c"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
VALUES = st.fixed_dictionaries({"n": st.integers(0, 3), "t": st.sampled_from(["x", "y", [1]])})
FILTERS = st.sampled_from(
    [None, {"n": 1}, {"n": {"$gt": 0}}, {"t": "x"}, {"t": [1]}, {"n": {"$ne": 2}}]
)
OPS = st.one_of(
    st.builds(PutOp, NAMESPACES, LABELS, st.one_of(VALUES, st.none()), st.none(), st.none()),
    st.builds(GetOp, NAMESPACES, LABELS),
    st.builds(SearchOp, NAMESPACES, FILTERS, limit=st.just(100), offset=st.just(0)),
    st.builds(
        ListNamespacesOp,
        st.one_of(
            st.none(),
            st.builds(
                MatchCondition,
                st.sampled_from(["prefix", "suffix"]),
                st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2).map(tuple),
            ).map(lambda one: (one,)),
        ),
        st.one_of(st.none(), st.integers(1, 3)),
        limit=st.just(100),
        offset=st.just(0),
    ),
)


def told(result: Any) -> Any:
    if isinstance(result, list):
        both = [told(one) for one in result]
        return both if both and isinstance(both[0], tuple) is False else sorted(both, key=repr)
    if hasattr(result, "value"):
        return (result.namespace, result.key, repr(result.value))
    return result


@settings(max_examples=60)
@given(st.lists(st.lists(OPS, min_size=1, max_size=4), max_size=6))
def test_it_answers_as_langgraphs_own_store(batches):
    with ContextMiddleware.open(":memory:") as ctx:
        ours, theirs = ContextStore(ctx), InMemoryStore()
        for ops in batches:
            expected = theirs.batch(ops)
            # Theirs lists namespaces that have become empty, or were only asked about.
            for namespace in [name for name, held in theirs._data.items() if not held]:
                del theirs._data[namespace]
            got = ours.batch(ops)
            for op, mine, other in zip(ops, got, expected, strict=True):
                if isinstance(op, ListNamespacesOp):
                    continue
                assert told(mine) == told(other)
            assert ours.list_namespaces() == theirs.list_namespaces()
            for op in ops:
                if isinstance(op, ListNamespacesOp):
                    assert ours.batch([op]) == theirs.batch([op])

"""Who a LangChain call says it is for, in each of the ways there are to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from ctxmw import ContextMiddleware, InvalidValue, MissingUser, WrongUser
from ctxmw_langchain import (
    ContextAgentMiddleware,
    MemoryRetriever,
    memory_tools,
    pre_model_hook,
    with_context,
)
from tests.langchain.conftest import KNOWN
from tests.langchain.models import RecordingModel, calling

ASKED = {"messages": [HumanMessage("Which colour is mine?")]}


@dataclass
class Caller:
    user_id: Any = None
    team: str = "shop"


class Model(BaseModel):
    user_id: str


def in_config(user):
    return {"config": {"configurable": {"user_id": user}}}


def by_the_server(user):
    return {"config": {"configurable": {"langgraph_auth_user_id": user}}}


def in_context(user):
    return {"context": Caller(user)}


def in_a_mapping(user):
    return {"context": {"user_id": user}}


def in_a_model(user):
    return {"context": Model(user_id=user)}


WAYS = [in_config, by_the_server, in_context, in_a_mapping, in_a_model]


def agent_with_middleware(model, ctx):
    middleware = [ContextAgentMiddleware(ctx)]
    return create_agent(model, tools=[], middleware=middleware, context_schema=Any)


def agent_with_tools(model, ctx):
    model.script.append(calling("mem_search", {"query": "colour"}))
    return create_agent(model, tools=memory_tools(ctx), context_schema=Any)


def graph_with_a_model(model, ctx):
    wrapped = with_context(model, ctx)
    graph = StateGraph(MessagesState, context_schema=Any)
    graph.add_node("ask", lambda state: {"messages": [wrapped.invoke(state["messages"])]})
    graph.add_edge(START, "ask")
    return graph.compile()


def graph_with_a_hook(model, ctx):
    hook = pre_model_hook(ctx)

    def ask(state):
        return {"messages": [model.invoke(hook.invoke(state)["llm_input_messages"])]}

    graph = StateGraph(MessagesState, context_schema=Any)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile()


def graph_with_a_retriever(model, ctx):
    def ask(state):
        found = MemoryRetriever(ctx=ctx).invoke("colour")
        return {"messages": [model.invoke([HumanMessage(str(found)), *state["messages"]])]}

    graph = StateGraph(MessagesState, context_schema=Any)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile()


GRAPHS = [
    agent_with_middleware,
    agent_with_tools,
    graph_with_a_model,
    graph_with_a_hook,
    graph_with_a_retriever,
]
named = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
graphs = pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)


@named
@graphs
def test_a_memory_of_many_users_serves_the_one_that_the_call_names(server, graph, way):
    for user, other in (("ada", "bob"), ("bob", "ada")):
        model = RecordingModel()
        graph(model, server).invoke(ASKED, **way(user))
        assert f"{user}-blue" in model.texts()[-1]
        assert f"{other}-blue" not in model.texts()[-1]


@named
@graphs
@pytest.mark.parametrize("strict", [True, False])
def test_the_memory_of_one_refuses_a_call_that_names_another(graph, way, strict):
    model = RecordingModel()
    with ContextMiddleware.open(":memory:", strict=strict) as ctx:
        ctx.remember(KNOWN, kind="decision")
        with pytest.raises(WrongUser, match=r"'bob', but .*'local' alone: open it with user=None"):
            graph(model, ctx).invoke(ASKED, **way("bob"))
    assert not any(KNOWN in text for text in model.texts())


@named
def test_the_memory_of_one_serves_a_call_that_names_that_one(way):
    model = RecordingModel()
    with ContextMiddleware.open(":memory:", user="ada", strict=True) as ctx:
        ctx.remember(KNOWN, kind="decision")
        graph_with_a_model(model, ctx).invoke(ASKED, **way("ada"))
    assert KNOWN in model.texts()[0]


async def test_the_context_of_a_call_counts_when_it_is_awaited_and_streamed(server):
    model = RecordingModel()
    agent = agent_with_middleware(model, server)
    await agent.ainvoke(ASKED, context=Caller("ada"))
    async for _ in agent.astream(ASKED, context={"user_id": "ada"}):
        pass
    for text in model.texts():
        assert "ada-blue" in text
    with pytest.raises(MissingUser):
        await agent.ainvoke(ASKED, context=Caller())


@pytest.mark.parametrize(
    "said",
    [
        {**in_config("ada"), **in_context("bob")},
        {**by_the_server("ada"), **in_a_mapping("bob")},
        {"config": {"configurable": {"user_id": "ada", "langgraph_auth_user_id": "bob"}}},
    ],
)
def test_a_call_that_names_two_users_is_refused(server, said):
    model = RecordingModel()
    with pytest.raises(WrongUser, match=r"several users .*(ada|bob)'.*(ada|bob)'"):
        agent_with_middleware(model, server).invoke(ASKED, **said)
    assert model.prompts == []


def test_the_same_user_named_in_two_ways_is_one(server):
    model = RecordingModel()
    said = {**in_config(5), **in_context("5")}
    agent_with_middleware(model, server).invoke(ASKED, **said)
    assert len(server.sessions(user="5")) == 1


@pytest.mark.parametrize("context", [None, Caller(), {}, {"team": "shop"}, "ada"])
def test_a_context_that_names_nobody_changes_nothing(ctx, context):
    model = RecordingModel()
    agent_with_middleware(model, ctx).invoke(ASKED, context=context)
    assert KNOWN in model.texts()[0]


def test_a_server_that_asks_nobody_who_they_are_names_nobody(ctx):
    model = RecordingModel()
    agent_with_middleware(model, ctx).invoke(ASKED, **by_the_server(""))
    assert KNOWN in model.texts()[0]


@pytest.mark.parametrize("value", ["", True, 1.5, object()])
def test_what_is_no_name_in_the_context_is_refused(server, value):
    with pytest.raises(InvalidValue, match=r"context\.user_id is .*: give text"):
        agent_with_middleware(RecordingModel(), server).invoke(ASKED, context=Caller(value))


def test_a_wrapper_made_for_one_refuses_a_call_that_names_another(server):
    model = RecordingModel()
    chain = with_context(model, server, session=server.session("s1", user="ada"))
    with pytest.raises(WrongUser, match=r"'bob', but this was made for Session\('s1', user='ada'"):
        chain.invoke("Which colour is mine?", {"configurable": {"user_id": "bob"}})
    assert model.prompts == []
    chain.invoke("Which colour is mine?", {"configurable": {"user_id": "ada"}})
    assert "ada-blue" in model.texts()[0]


@pytest.mark.parametrize("graph", [agent_with_middleware, graph_with_a_model])
@pytest.mark.parametrize("learn", [False, True, None, "maths"])
def test_a_call_says_in_its_context_that_nothing_is_learned(server, graph, learn):
    told = "I prefer window seats."
    context = {"user_id": "ada", "learn": learn}
    graph(RecordingModel(), server).invoke({"messages": [HumanMessage(told)]}, context=context)
    found = server.memories(text="window", user="ada")
    assert bool(found) is (learn is not False)

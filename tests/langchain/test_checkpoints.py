"""What an answer carries survives wherever LangChain and LangGraph keep messages."""

from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain_core.load import dumps, loads
from langchain_core.messages import HumanMessage, messages_from_dict, messages_to_dict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from ctxmw_langchain import ContextAgentMiddleware, with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.models import RecordingModel
from tests.langchain.shapes import QUESTION

THREAD = {"configurable": {"thread_id": "t1"}}
ASKED = {"messages": [HumanMessage(QUESTION)]}


def graph_of(ctx, saver):
    """A plain graph: the wrapped model is called inside a node, without a config."""
    model = with_context(RecordingModel(), ctx)
    graph = StateGraph(MessagesState)
    graph.add_node("talk", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "talk")
    graph.add_edge("talk", END)
    return graph.compile(checkpointer=saver)


def agent_of(ctx, saver):
    middleware = [ContextAgentMiddleware(ctx)]
    return create_agent(RecordingModel(), [], middleware=middleware, checkpointer=saver)


@pytest.mark.parametrize("build", [graph_of, agent_of])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_it_survives_a_checkpointer_which_holds_nothing_injected(kind, build, ctx, tmp_path):
    path = tmp_path / "checkpoints.db"
    saver = InMemorySaver() if kind == "memory" else None
    with SqliteSaver.from_conn_string(str(path)) as sqlite:
        build(ctx, saver or sqlite).invoke(ASKED, THREAD)
    with SqliteSaver.from_conn_string(str(path)) as sqlite:
        state = build(ctx, saver or sqlite).get_state(THREAD)
    mark = state.values["messages"][-1].response_metadata["ctxmw"]
    assert KNOWN in ctx.why(mark["record"]).text
    assert ctx.why(mark["record"]).session == "t1"
    kept = path.read_bytes() if saver is None else repr(list(saver.list(THREAD))).encode()
    assert QUESTION.encode() in kept
    assert KNOWN.encode() not in kept


@pytest.mark.parametrize("build", [graph_of, agent_of])
async def test_it_survives_the_async_sqlite_checkpointer(build, ctx, tmp_path):
    path = str(tmp_path / "checkpoints.db")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        await build(ctx, saver).ainvoke(ASKED, THREAD)
        state = await build(ctx, saver).aget_state(THREAD)
    mark = state.values["messages"][-1].response_metadata["ctxmw"]
    assert (await ctx.awhy(mark["record"])).state == "answered"


@pytest.mark.filterwarnings("ignore:.*is in beta")
def test_it_survives_langchains_own_forms(ctx):
    reply = with_context(RecordingModel(), ctx).invoke(QUESTION)
    mark = reply.response_metadata["ctxmw"]
    assert json.loads(json.dumps(mark)) == mark
    copies = [
        loads(dumps(reply), allowed_objects="core"),
        messages_from_dict(messages_to_dict([reply]))[0],
        type(reply).model_validate_json(reply.model_dump_json()),
    ]
    assert [copy.response_metadata["ctxmw"] for copy in copies] == [mark] * 3


def test_streamed_messages_of_a_graph_name_their_record(ctx):
    streamed = graph_of(ctx, InMemorySaver()).stream(ASKED, THREAD, stream_mode="messages")
    metadata = [about for _, about in streamed]
    (record,) = ctx.session("t1").history()
    assert {about["ctxmw"] for about in metadata} == {record.ref}

"""A graph with a checkpointer: the thread is the conversation, and checkpoints stay clean."""

from __future__ import annotations

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from scripted import scripted

from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context

with ContextMiddleware.open(":memory:") as ctx:
    ctx.remember("Answer in one sentence.", kind="preference")
    model = with_context(scripted("It is a graph.", "Yes."), ctx)

    def talk(state: MessagesState) -> dict:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("talk", talk)
    graph.add_edge(START, "talk")
    graph.add_edge("talk", END)
    app = graph.compile(checkpointer=InMemorySaver())

    thread = {"configurable": {"thread_id": "t1"}}
    for question in ("What is this?", "Are you sure?"):
        app.invoke({"messages": [("user", question)]}, thread)
    for message in app.get_state(thread).values["messages"]:
        print(f"{message.type}: {message.content}")
    print("calls kept:", [record.state for record in ctx.session("t1").history()])

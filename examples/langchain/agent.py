"""An agent with a memory: it brings mem_search, and the agent calls it by itself."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from scripted import scripted

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextAgentMiddleware

search = {"name": "mem_search", "args": {"query": "courier deadline"}, "id": "call_1"}
model = scripted(AIMessage("", tool_calls=[search]), "Parcels must be ready at 16:00.")

with ContextMiddleware.open(":memory:") as ctx:
    yesterday = ctx.session("yesterday")
    yesterday.capture([{"role": "user", "content": "The courier deadline is 16:00."}])

    agent = create_agent(model, tools=[], middleware=[ContextAgentMiddleware(ctx)])
    asked = {"messages": [("user", "When must parcels be ready?")]}
    for message in agent.invoke(asked, {"configurable": {"thread_id": "today"}})["messages"]:
        print(f"{message.type}: {message.text or message.tool_calls}")

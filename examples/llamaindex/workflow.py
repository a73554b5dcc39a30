"""A workflow of two agents that share one memory and one conversation."""

from __future__ import annotations

import asyncio

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from scripted import calling, scripted

from ctxmw import ContextMiddleware
from ctxmw_llamaindex import with_context

llm = scripted(calling("handoff", to_agent="writer", reason="it is found"), "Use early returns.")


async def main(ctx: ContextMiddleware) -> None:
    finder = FunctionAgent(name="finder", description="Finds.", system_prompt="Find.", llm=llm)
    writer = FunctionAgent(name="writer", description="Writes.", system_prompt="Write.", llm=llm)
    workflow = with_context(AgentWorkflow(agents=[finder, writer], root_agent="finder"), ctx)
    with ctx.session("today", language="python") as chat:
        run = workflow.run(user_msg="How do we write functions?")
        async for event in run.stream_events():
            if isinstance(event, AgentStream) and event.delta:
                print(event.delta, end="", flush=True)
        print()
        await run
    print("calls kept:", [record.state for record in chat.history()])


with ContextMiddleware.open(":memory:") as memory:
    memory.remember("Prefer early returns.", kind="preference", scope="language:python")
    asyncio.run(main(memory))

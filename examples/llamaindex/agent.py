"""A FunctionAgent with a memory and mem_search, which it calls by itself."""

from __future__ import annotations

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from scripted import calling, scripted

from ctxmw import ContextMiddleware
from ctxmw_llamaindex import memory_tools, with_context

llm = scripted(calling("mem_search", query="courier deadline"), "Parcels must be ready at 16:00.")


async def main(ctx: ContextMiddleware) -> None:
    agent = with_context(FunctionAgent(llm=llm, tools=memory_tools(ctx)), ctx, session="today")
    answer = await agent.run(user_msg="Look up when parcels must be ready.")
    for call in answer.tool_calls:
        print(call.tool_name, call.tool_output.content.strip().splitlines()[-2])
    print(answer)
    print("record:", ctx.why(str(answer)).state)


with ContextMiddleware.open(":memory:") as memory:
    said = {"role": "user", "content": "The courier deadline is 16:00."}
    memory.session("yesterday").capture([said])
    asyncio.run(main(memory))

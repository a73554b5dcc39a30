"""What a record says was sent is what went over the wire, call by call."""

from __future__ import annotations

import asyncio

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from ctxmw import ContextMiddleware
from ctxmw.conversation.sent import message_hash, sent_hashes
from ctxmw_llamaindex import memory_tools, with_context
from tests.llamaindex.test_openai_like import drop_table, find_file
from tests.support.openai_stub import Calls, OpenAIStub
from tests.support.wire import FACTS, TURNS, wire_hash

SCRIPT = {
    "answer": "Understood.",
    "search": Calls(("mem_search", {"query": "courier deadline"})),
    "find": Calls(("find_file", {"name": "auth.py"})),
}


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TURNS), st.sampled_from(sorted(SCRIPT))), max_size=3))
def test_a_record_is_what_went_over_the_wire(turns):
    asyncio.run(_talk(turns))


async def _talk(turns):
    tools = [FunctionTool.from_defaults(fn) for fn in (drop_table, find_file)]
    script = [one for _, how in turns for one in (SCRIPT[how], "Done.")]
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        for fact in FACTS:
            ctx.session("past").capture([{"role": "user", "content": fact}])
        ctx.catalog.add_tools(tools)
        chat = ctx.session("s1")
        with OpenAIStub([one for one in script if one != "Understood."]) as server:
            async with httpx.AsyncClient() as waiting:
                llm = OpenAILike(
                    model="stub",
                    api_base=server.url,
                    api_key="none",
                    is_chat_model=True,
                    is_function_calling_model=True,
                    context_window=100_000,
                    max_retries=0,
                    async_http_client=waiting,
                )
                agent = FunctionAgent(
                    llm=llm,
                    tools=[*tools, *memory_tools(ctx)],
                    streaming=False,
                    system_prompt="Help.",
                )
                wrapped, memory = with_context(agent, ctx, session="s1"), Memory.from_defaults("m")
                for said, _ in turns:
                    await wrapped.run(said, memory=memory)
        records = chat.history()
        assert len(records) == len(server.requests)
        for record, request in zip(records, server.requests, strict=True):
            wire = tuple(wire_hash(message_hash, one) for one in request["messages"])
            assert sent_hashes(chat._journal.store, record) == wire
            assert list(record.tools) == [one["function"]["name"] for one in request["tools"]]

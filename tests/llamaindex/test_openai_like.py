"""A real client over HTTP: what goes over the wire, tool calls included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from ctxmw_llamaindex import memory_tools, with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.engines import FORMS
from tests.llamaindex.models import REPLY
from tests.support.openai_stub import Calls, OpenAIStub

ASKED = "How often do the {keys} rotate?"
EARLIER = "The keys of the shop rotate weekly."


@pytest.fixture
async def client() -> AsyncIterator[Callable[[OpenAIStub], OpenAILike]]:
    """Make clients of a server whose connections are closed in the end."""
    async with httpx.AsyncClient() as waiting:
        with httpx.Client() as plain:
            yield lambda server: OpenAILike(
                model="stub",
                api_base=server.url,
                api_key="none",
                is_chat_model=True,
                is_function_calling_model=True,
                context_window=100_000,
                max_retries=0,
                http_client=plain,
                async_http_client=waiting,
            )


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_the_wire_has_one_system_message_and_nothing_but_text(ctx, client, form):
    with OpenAIStub([REPLY]) as server:
        engine = SimpleChatEngine.from_defaults(llm=client(server), system_prompt="You help.")
        response = await form(with_context(engine, ctx, session="s1"), ASKED)
    assert str(response) == REPLY
    (request,) = server.requests
    system, user = request["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith("<ctxmw>\n")
    assert KNOWN in system["content"]
    assert system["content"].endswith("</ctxmw>\n\nYou help.")
    assert set(system) | set(user) == {"role", "content"}
    assert user["content"] == ASKED
    assert ctx.why(REPLY).ref == response.metadata["ctxmw"]["record"]


@pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "whole"])
async def test_an_agent_calls_mem_search_and_gets_what_is_not_in_view(ctx, client, streaming):
    ctx.session("earlier").capture([{"role": "user", "content": EARLIER}])
    script = [Calls(("mem_search", {"query": "how often do the keys rotate"})), "Weekly."]
    with OpenAIStub(script) as server:
        llm = client(server)
        agent = FunctionAgent(
            llm=llm, tools=memory_tools(ctx), system_prompt="You help.", streaming=streaming
        )
        wrapped = with_context(agent, ctx, session="s1")
        assert isinstance(wrapped.llm, FunctionCallingLLM)
        answer = await wrapped.run(user_msg="Please look it up.")
    assert str(answer) == "Weekly."
    first, second = server.requests
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "mem_search",
        "mem_get",
        "memory_context",
        "remember",
        "forget",
    ]
    assert first["tools"][0]["function"]["parameters"]["properties"].keys() == {"query", "kinds"}
    result = second["messages"][-1]
    assert result["role"] == "tool"
    assert EARLIER in result["content"]
    assert first["messages"] == second["messages"][:2]
    records = ctx.session("s1").history()
    assert [record.state for record in records] == ["answered", "answered"]
    assert ctx.why("Weekly.").ref == answer.metadata["ctxmw"]["record"] == records[-1].ref


class Plan(BaseModel):
    """When keys rotate."""

    period: str


async def test_structured_prediction_works_over_the_wire(ctx, client):
    with OpenAIStub([Calls(("Plan", {"period": "weekly"}))]) as server:
        llm = with_context(client(server), ctx, session="s1")
        found = llm.structured_predict(Plan, PromptTemplate("When do {what} rotate?"), what="keys")
    assert isinstance(found, Plan)
    assert KNOWN in server.requests[0]["messages"][0]["content"]


def drop_table(name: str) -> str:
    """Drop a database table."""
    return f"{name} is gone."


def find_file(name: str) -> str:
    """Find a file by its name."""
    return f"{name} is in src."


@pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "whole"])
async def test_an_agents_tools_are_sent_where_the_request_calls_for_them(ctx, client, streaming):
    tools = [FunctionTool.from_defaults(fn) for fn in (drop_table, find_file)]
    ctx.catalog.add_tools(tools, server="shop")
    with OpenAIStub([REPLY, REPLY]) as server:
        agent = FunctionAgent(llm=client(server), tools=tools, streaming=streaming)
        wrapped = with_context(agent, ctx, session="s1")
        await wrapped.run("Please find a file by its name: auth.py")
        await wrapped.run("Please drop the database table orders")
    sent = [[tool["function"]["name"] for tool in asked["tools"]] for asked in server.requests]
    assert sent == [["find_file"], ["find_file", "drop_table"]]
    told = [one.tools for one in ctx.session("s1").history()]
    assert told == [tuple(names) for names in sent]

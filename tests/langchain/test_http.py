"""The real OpenAI client against a server on this machine."""

from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool as as_tool
from langchain_openai import ChatOpenAI

from ctxmw_langchain import ContextAgentMiddleware, catalog_tools, with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.shapes import PROMPT, QUESTION, Verdict, find_file
from tests.support.openai_stub import Calls, OpenAIStub, Refusal

ASKED = {"question": QUESTION}


@as_tool
def drop_table(name: str) -> str:
    """Drop a database table."""
    return f"{name} is gone."


EARLIER = [{"role": "user", "content": "The courier deadline is 16:00."}]


def client(server: OpenAIStub, **options) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.url, api_key="none", model="gpt-4o", max_retries=0, **options)


def texts(server: OpenAIStub) -> list[str]:
    return [json.dumps(request["messages"]) for request in server.requests]


async def test_invoke_stream_and_their_twins_send_the_memory_once_and_stream_on(ctx):
    answer = "It verifies the token in AuthService."
    with OpenAIStub(lambda _: answer) as server:
        chat = ctx.session("s1")
        chain = with_context(PROMPT | client(server, stream_usage=True), ctx, session=chat)
        reply = chain.invoke(ASKED)
        areply = await chain.ainvoke(ASKED)
        chunks = list(chain.stream(ASKED))
        achunks = [chunk async for chunk in chain.astream(ASKED)]
        replies = await chain.abatch([ASKED, ASKED])
    assert {message.content for message in (reply, areply, *replies)} == {answer}
    assert len([chunk for chunk in chunks if chunk.content]) == len(answer.split())
    whole = [chunks[0] + chunks[1:], achunks[0] + achunks[1:]]
    assert [message.content for message in whole] == [answer, answer]
    assert all(message.usage_metadata["output_tokens"] for message in whole)
    assert all(message.response_metadata["ctxmw"]["record"] for message in (reply, *whole))
    assert [text.count(KNOWN) for text in texts(server)] == [1] * 6
    assert [record.state for record in chat.history()] == ["answered"] * 6


def test_nothing_but_text_goes_over_the_wire(ctx):
    with OpenAIStub() as server:
        chain = with_context(PROMPT | client(server), ctx)
        reply = chain.invoke(ASKED)
        with_context(client(server), ctx).invoke(
            [HumanMessage(QUESTION), reply, HumanMessage("And then?")]
        )
    (system, user), (_, first, answer, last) = (sent["messages"] for sent in server.requests)
    assert system.keys() == user.keys() == {"role", "content"}
    assert system["role"] == "system"
    assert system["content"].endswith("You help.")
    assert first["content"] == QUESTION
    assert answer == {"role": "assistant", "content": "Understood."}
    assert last["content"].endswith("And then?")
    assert set(server.requests[0]) <= {"messages", "model", "stream", "temperature"}


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_structured_output_before_and_after_wrapping(method, when, ctx):
    schema = Verdict if method != "json_mode" else None
    with OpenAIStub() as server:
        model = client(server)
        if when == "before":
            asking = with_context(model.with_structured_output(schema, method=method), ctx)
        else:
            asking = with_context(model, ctx).with_structured_output(schema, method=method)
        answer = asking.invoke(f"{QUESTION} Answer in JSON.")
    assert answer == (Verdict(says="stub") if schema else {"answer": "Understood."})
    assert texts(server)[0].count(KNOWN) == 1


def test_bound_tools_are_called_and_their_calls_come_back(ctx):
    with OpenAIStub([Calls(("find_file", {"name": "auth.py"}))] * 2) as server:
        asking = with_context(client(server).bind_tools([find_file]), ctx)
        (call,) = asking.invoke(QUESTION).tool_calls
        chunks = list(asking.stream(QUESTION))
    assert (call["name"], call["args"]) == ("find_file", {"name": "auth.py"})
    assert (chunks[0] + chunks[1:]).tool_calls[0]["args"] == {"name": "auth.py"}
    assert [text.count(KNOWN) for text in texts(server)] == [1, 1]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
async def test_an_agent_searches_its_memory_and_answers(how, ctx):
    ctx.session("earlier").capture(EARLIER)
    script = [Calls(("mem_search", {"query": "courier deadline"})), "At four."]
    with OpenAIStub(script) as server:
        chat = ctx.session("s1")
        ours = ContextAgentMiddleware(ctx, session=chat)
        agent = create_agent(client(server), [find_file], middleware=[ours])
        asked = {"messages": [HumanMessage(QUESTION)]}
        if how == "invoke":
            said = agent.invoke(asked)["messages"]
        elif how == "ainvoke":
            said = (await agent.ainvoke(asked))["messages"]
        else:
            pieces = list(agent.stream(asked, stream_mode="messages"))
            assert "".join(chunk.text for chunk, _ in pieces if chunk.type == "AIMessageChunk")
            said = []
    first, second = server.requests
    names = [tool["function"]["name"] for tool in first["tools"]]
    ours = {"mem_search", "mem_get", "memory_context", "remember", "forget"}
    assert {*ours, "find_file"} == set(names)
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "The courier deadline is 16:00." in second["messages"][-1]["content"]
    assert second["messages"][-1].keys() == {"role", "content", "tool_call_id"}
    assert [text.count(KNOWN) for text in texts(server)] == [1, 1]
    assert [record.state for record in chat.history()] == ["answered", "answered"]
    if said:
        assert said[-1].content == "At four."


def test_a_server_that_fails_once_is_asked_again_with_the_same_prompt(ctx):
    with OpenAIStub([Refusal(503), "Yes."]) as server:
        chat = ctx.session("s1")
        chain = with_context(
            PROMPT | client(server).with_retry(wait_exponential_jitter=False), ctx, session=chat
        )
        assert chain.invoke(ASKED).content == "Yes."
    assert server.requests[0] == server.requests[1]
    assert [record.state for record in chat.history()] == ["failed", "answered"]


def test_a_stream_that_is_left_early_is_abandoned(ctx):
    with OpenAIStub(["one two three four five"]) as server:
        chat = ctx.session("s1")
        chunks = with_context(PROMPT | client(server), ctx, session=chat).stream(ASKED)
        next(chunks)
        chunks.close()
    assert [record.state for record in chat.history()] == ["abandoned"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
async def test_of_a_bound_models_tools_those_are_sent_that_the_request_calls_for(how, ctx):
    ctx.catalog.add_tools([find_file, drop_table])
    chat = ctx.session("s1")
    with OpenAIStub() as server:
        asking = with_context(client(server).bind_tools([drop_table, find_file]), ctx, session=chat)
        asked = "Please find a file by its name: auth.py"
        if how in ("invoke", "stream"):
            list(asking.stream(asked)) if how == "stream" else asking.invoke(asked)
        elif how == "ainvoke":
            await asking.ainvoke(asked)
        else:
            assert [chunk async for chunk in asking.astream(asked)]
    sent = [tool["function"]["name"] for tool in server.requests[0]["tools"]]
    assert sent == ["find_file"]
    assert chat.history()[0].tools == ("find_file",)


def test_where_no_tool_is_called_for_the_request_has_none(ctx):
    ctx.catalog.add_tools([drop_table])
    with OpenAIStub() as server:
        with_context(client(server).bind_tools([drop_table]), ctx).invoke("Good morning!")
    assert "tools" not in server.requests[0]
    assert "tool_choice" not in server.requests[0]


def test_a_tool_that_the_model_is_made_to_call_is_sent(ctx):
    ctx.catalog.add_tools([drop_table])
    with OpenAIStub() as server:
        forced = client(server).bind_tools([drop_table], tool_choice="drop_table")
        with_context(forced, ctx).invoke("Good morning!")
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["drop_table"]


def test_an_agent_finds_a_tool_and_calls_it_in_its_next_step(ctx):
    ctx.catalog.add_tools([drop_table])
    script = [
        Calls(("find_tools", {"query": "drop a table"})),
        Calls(("drop_table", {"name": "orders"})),
        "Gone.",
    ]
    with OpenAIStub(script) as server:
        tools = [drop_table, *catalog_tools(ctx)]
        agent = create_agent(
            client(server), tools, middleware=[ContextAgentMiddleware(ctx, tools=False)]
        )
        said = agent.invoke(
            {"messages": [HumanMessage("Hello")]}, {"configurable": {"thread_id": "t1"}}
        )["messages"]
    sent = [[tool["function"]["name"] for tool in asked["tools"]] for asked in server.requests]
    assert sent == [["find_tools"], ["find_tools", "drop_table"], ["find_tools", "drop_table"]]
    assert said[-2].content == "orders is gone."
    assert [one.tools for one in ctx.session("t1").history()] == [tuple(names) for names in sent]

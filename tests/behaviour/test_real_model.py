"""A real model takes what is sent to it: chat templates, streams and tool calls, end to end.

What it answers is not judged: it is very small.
"""

from __future__ import annotations

import pytest

from tests.support import small_model
from tests.support.small_model import SPEAKS_TOOLS, STRICT, WITH_TOOLS

if not small_model.is_installed():
    pytest.skip(small_model.MISSING, allow_module_level=True)

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

import ctxmw_langchain
import ctxmw_llamaindex
from ctxmw import Budget, ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.values.records import Turn, load_as

FACT = "The deploy key of the shop is kept in the blue vault."
ASKED = "Where is the deploy key of the shop?"
SHORT = 12
"""Tokens of an answer."""
CALL = 80
"""Tokens of a call at most."""


@pytest.fixture(scope="module", params=["its own", "strict"])
def plain(request):
    """The model under its own template, and under one that wants roles to take turns."""
    with small_model.served(STRICT if request.param == "strict" else "") as url:
        yield url


@pytest.fixture(scope="module")
def calling(request):
    """The model under a template that knows tools."""
    with small_model.served(WITH_TOOLS) as url:
        yield url


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", deadline=None, budget=Budget(total=600)) as ctx:
        ctx.remember("Answer in one short sentence.", kind="preference")
        ctx.remember(FACT, kind="fact")
        yield ctx


def langchain_model(url, **options):
    return ChatOpenAI(
        base_url=url,
        api_key="none",
        model="small",
        temperature=0,
        **{"max_tokens": SHORT, **options},
    )


def llamaindex_model(url, **options):
    return OpenAILike(
        api_base=url,
        api_key="none",
        model="small",
        temperature=0,
        max_tokens=SHORT,
        is_chat_model=True,
        context_window=small_model.WINDOW,
        **options,
    )


def test_two_turns_of_langchain_are_taken_by_the_chat_template(plain, ctx):
    model = ctxmw_langchain.with_context(langchain_model(plain), ctx)
    config = {"configurable": {"session_id": "talk"}}
    first = model.invoke([HumanMessage(ASKED)], config)
    again = model.invoke([HumanMessage(ASKED), first, HumanMessage("And who may use it?")], config)
    assert first.content
    assert again.content
    # The model has read more than the question: what is remembered was in its prompt.
    assert first.usage_metadata["input_tokens"] > 60
    assert not ctx.stats().get("degraded", 0)


def test_a_stream_of_langchain_arrives_piece_by_piece_and_is_kept(plain, ctx):
    model = ctxmw_langchain.with_context(langchain_model(plain), ctx)
    pieces = list(model.stream(ASKED, {"configurable": {"session_id": "streamed"}}))
    said = "".join(str(piece.content) for piece in pieces)
    assert len([piece for piece in pieces if piece.content]) > 1
    rows = ctx.store.query("local", Find(types=("turn",), sessions=("streamed",)))
    assert said.strip() in [load_as(row, Turn).text.strip() for row in rows]


def test_two_turns_and_a_stream_of_llamaindex_are_taken(plain, ctx):
    model = ctxmw_llamaindex.with_context(llamaindex_model(plain), ctx)
    with ctx.session("talk"):
        answer = model.chat([ChatMessage(role="user", content=ASKED)])
    with ctx.session("streamed"):
        pieces = list(model.stream_chat([ChatMessage(role="user", content=ASKED)]))
    assert answer.message.content
    assert len(pieces) > 1


def test_a_tool_call_through_langchain_goes_out_and_its_answer_comes_back(calling, ctx):
    search = next(tool for tool in ctxmw_langchain.memory_tools(ctx) if tool.name == "mem_search")

    # With one argument: in a list of words so small a model goes on without an end.
    @tool
    def look_up(query: str) -> str:
        """Search what is remembered."""
        return search.invoke({"query": query})

    model = langchain_model(calling)
    asking = langchain_model(calling, extra_body=SPEAKS_TOOLS, max_tokens=CALL).bind_tools(
        [look_up], tool_choice="required"
    )
    config = {"configurable": {"session_id": "tools"}}
    called = ctxmw_langchain.with_context(asking, ctx).invoke([HumanMessage(ASKED)], config)
    assert {call["name"] for call in called.tool_calls} == {"look_up"}
    answered = [look_up.invoke(call) for call in called.tool_calls]
    history = [HumanMessage(ASKED), called, *answered]
    assert ctxmw_langchain.with_context(model, ctx).invoke(history, config).content


def test_a_tool_call_through_llamaindex_names_the_tool_and_its_arguments(calling, ctx):
    model = llamaindex_model(
        calling,
        is_function_calling_model=True,
        additional_kwargs={"extra_body": SPEAKS_TOOLS, "max_tokens": CALL},
    )
    search = next(
        tool for tool in ctxmw_llamaindex.memory_tools(ctx) if tool.metadata.name == "mem_search"
    )
    wrapped = ctxmw_llamaindex.with_context(model, ctx)
    with ctx.session("tools"):
        answer = wrapped.chat_with_tools([search], user_msg=ASKED, tool_required=True)
    call, *_ = model.get_tool_calls_from_response(answer)
    assert call.tool_name == "mem_search"
    assert search(**call.tool_kwargs).content

"""The memory tools as LlamaIndex tools: for a conversation, or for the one they are called in."""

from __future__ import annotations

import pytest
from llama_index.core.tools import FunctionTool

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw import memory_tools as plain_tools
from ctxmw_llamaindex import MemoryToolSpec, memory_tools

NAMES = ["mem_search", "mem_get", "memory_context"]


@pytest.fixture
def talk(ctx):
    ctx.session("earlier").capture([{"role": "user", "content": "The keys rotate weekly."}])
    return ctx.session("s1")


def test_they_have_the_names_descriptions_and_schemas_of_the_core(ctx, talk):
    for given in (ctx, talk):
        tools = memory_tools(given)
        assert all(isinstance(tool, FunctionTool) for tool in tools)
        assert [tool.metadata.name for tool in tools] == NAMES
        for tool, plain in zip(tools, plain_tools(talk), strict=True):
            assert tool.metadata.description == plain.description
            assert tool.metadata.fn_schema is plain.arguments


async def test_they_answer_sync_and_async_and_forgive_wrong_arguments(talk):
    search, get, _ = memory_tools(talk)
    assert "The keys rotate weekly." in search(query="keys rotate").content
    assert "The keys rotate weekly." in (await search.acall(query="keys rotate")).content
    assert "could not read its arguments" in search(quary="keys").content
    assert "No record has the id" in (await get.acall(ids=["t000000"])).content


async def test_tools_of_a_memory_answer_in_the_conversation_they_are_called_in(server):
    for user, often in (("ada", "weekly"), ("bob", "daily")):
        said = {"role": "user", "content": f"The keys rotate {often}."}
        server.session("earlier", user=user).capture([said])
    search = memory_tools(server)[0]
    with server.session("s1", user="bob"):
        assert "daily" in search(query="keys rotate").content
        assert "daily" in (await search.acall(query="keys rotate")).content
    with pytest.raises(MissingUser):
        search(query="keys rotate")


def test_a_memory_of_one_person_answers_without_a_conversation(ctx, talk):
    assert "The keys rotate weekly." in memory_tools(ctx)[0](query="keys rotate").content


def test_a_spec_gives_some_of_them_as_well(talk):
    (tool,) = MemoryToolSpec(talk).to_tool_list([("mem_get", "amem_get")])
    assert tool.metadata.name == "mem_get"


def test_a_store_that_fails_is_answered_with_something_a_model_can_go_on_with():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        search = memory_tools(ctx.session("s1"))[0]
        ctx.store.close()
        assert "go on without it" in search(query="keys").content


@pytest.mark.parametrize("wrong", ["memory.db", None, 5, object(), {}])
def test_memory_tools_wants_a_memory_or_a_conversation(wrong):
    for make in (memory_tools, MemoryToolSpec):
        with pytest.raises(InvalidValue, match=r"memory_tools was given .*: give a memory"):
            make(wrong)

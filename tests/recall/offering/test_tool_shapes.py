"""Tools are read as frameworks have them, and known by the names that adapters give them."""

from __future__ import annotations

import pytest
from langchain_core.tools import tool as langchain_tool
from llama_index.core.tools import FunctionTool
from mcp.types import ListToolsResult, Tool

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.recall.offering.tool_shapes import read_tools, spellings, tool_name, without_server


def find_file(name: str) -> str:
    """Find a file."""
    return name


class Disk:
    def find_file(self, name: str) -> str:
        """Find a file."""
        return name


PROPERTIES = {"properties": {"name": {"type": "string", "description": "Of the file."}}}
TAKES = {"type": "object", **PROPERTIES}
SHAPES = {
    "a function": find_file,
    "a method": Disk().find_file,
    "LangChain": langchain_tool(find_file),
    "LlamaIndex": FunctionTool.from_defaults(find_file, description="Find a file."),
    "MCP": Tool(name="find_file", description="Find a file.", inputSchema=TAKES),
    "OpenAI": {
        "type": "function",
        "function": {"name": "find_file", "description": "Find a file.", "parameters": TAKES},
    },
    "Anthropic": {"name": "find_file", "description": "Find a file.", "input_schema": TAKES},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_frameworks_tools_are_read_alike(shape):
    (tool,) = read_tools([SHAPES[shape]])
    assert (tool.name, tool.description) == ("find_file", "Find a file.")
    assert tool.parameters.startswith("name")


def test_what_an_mcp_session_lists_is_a_list_of_tools():
    with ContextMiddleware.open(":memory:") as ctx:
        listed = ListToolsResult(tools=[SHAPES["MCP"]])
        (item,) = ctx.catalog.add_tools(listed, server="fs")
        assert (item.full_name, ctx.catalog.include_of(item)) == ("fs:find_file", "agent")
        assert "Of the file." in item.details


def test_tools_that_are_offered_again_take_their_own_places():
    with ContextMiddleware.open(":memory:") as ctx:
        first = ctx.catalog.add_tools([find_file], server="fs")
        again = ctx.catalog.add_tools([SHAPES["MCP"]], server="fs", include="always")
        assert [item.ref for item in first] == [item.ref for item in again]
        assert [item.include for item in ctx.catalog.items()] == ["always"]


@pytest.mark.parametrize("wrong", ["text", {"name": "one"}, 3, [object()], [{}]])
def test_what_is_no_list_of_tools_is_refused(wrong):
    with pytest.raises(InvalidValue):
        read_tools(wrong)


def test_a_servers_name_is_taken_off_a_tools():
    for spelled in spellings("github", "search_code"):
        assert without_server("github", spelled) == "search_code"
    assert without_server("", "github_search") == "github_search"
    assert without_server("github", "github_") == "github_"


def test_the_name_in_a_schema_is_found_wherever_it_stands():
    assert tool_name(SHAPES["OpenAI"]) == tool_name(SHAPES["Anthropic"]) == "find_file"
    assert tool_name({"type": "web_search"}) == "web_search"
    assert tool_name({}) == tool_name("text") == ""

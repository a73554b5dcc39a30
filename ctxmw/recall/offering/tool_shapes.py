"""Tools as frameworks describe them: LangChain's, LlamaIndex's, MCP's, and plain JSON schemas.

They are told apart by what they have, so that no framework has to be installed. And tool names as
adapters of MCP servers write them: server and tool joined in one of several ways.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidValue

_JOINED = ("_", "__", "-", ".", "/")
"""How adapters join a server's name and a tool's; Claude's way begins with mcp__."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTool:
    """What a tool says of itself."""

    name: str
    description: str
    parameters: str
    """Names and descriptions of what it takes."""


def read_tools(tools: Any) -> list[ReadTool]:
    """Return what tools say of themselves; an MCP session's answer to list_tools is a list too."""
    listed = getattr(tools, "tools", tools)
    if isinstance(listed, str | bytes | Mapping) or not isinstance(listed, Iterable):
        raise InvalidValue(
            f"tools is {tools!r:.60}: give a list of tools of LangChain, LlamaIndex or MCP "
            "(await session.list_tools()), of functions, or of JSON schemas."
        )
    return [_read(tool) for tool in listed]


def tool_name(schema: Any) -> str:
    """Return the name in a tool's schema, as providers want it; "" where there is none."""
    if not isinstance(schema, Mapping):
        return str(getattr(schema, "name", "") or "")
    inner = schema.get("function")
    named = inner if isinstance(inner, Mapping) else schema
    return str(named.get("name") or schema.get("type") or "")


def spellings(server: str, name: str) -> tuple[str, ...]:
    """Return the names by which a tool may be offered to a model."""
    if not server:
        return (name,)
    joined = [f"{server}{mark}{name}" for mark in _JOINED]
    return (f"{server}:{name}", name, *joined, f"mcp__{server}__{name}")


def without_server(server: str, name: str) -> str:
    """Return a tool's own name, where an adapter put its server's before it."""
    # The longest first: one mark may begin another.
    for before in sorted(spellings(server, ""), key=len, reverse=True):
        if server and name.startswith(before) and name != before:
            return name.removeprefix(before)
    return name


def _read(tool: Any) -> ReadTool:
    if isinstance(tool, Mapping):
        return _of_schema(tool)
    if inspect.isfunction(tool) or inspect.ismethod(tool):
        taken = "\n".join(inspect.signature(tool).parameters)
        return ReadTool(name=tool.__name__, description=tool.__doc__ or "", parameters=taken)
    about = getattr(tool, "metadata", None)
    told = about if hasattr(about, "fn_schema") else tool
    name = getattr(told, "name", None)
    if not isinstance(name, str) or not name:
        raise InvalidValue(f"{tool!r:.60} is no tool: it has no name.")
    description = getattr(told, "description", "")
    return ReadTool(
        name=name, description=str(description or ""), parameters=_parameters(_schema_of(told))
    )


def _of_schema(schema: Mapping[str, Any]) -> ReadTool:
    name = tool_name(schema)
    inner = schema.get("function")
    told = inner if isinstance(inner, Mapping) else schema
    if not name:
        raise InvalidValue(f"{schema!r:.60} is no schema of a tool: it has no name.")
    taken = told.get("parameters") or told.get("input_schema") or told.get("inputSchema")
    return ReadTool(
        name=name, description=str(told.get("description") or ""), parameters=_parameters(taken)
    )


def _schema_of(tool: Any) -> Any:
    """Return the JSON schema of what a tool takes: a mapping, or a pydantic class."""
    for attribute in ("input_schema", "inputSchema", "args_schema", "fn_schema"):
        found = getattr(tool, attribute, None)
        if isinstance(found, Mapping):
            return found
        if isinstance(found, type) and hasattr(found, "model_json_schema"):
            return found.model_json_schema()
    return None


def _parameters(schema: Any) -> str:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return ""
    told = [
        f"{name}: {about.get('description') or ''}" if isinstance(about, Mapping) else str(name)
        for name, about in properties.items()
    ]
    return "\n".join(told)

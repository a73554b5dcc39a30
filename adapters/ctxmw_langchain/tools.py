"""What an agent can do by itself: mem_search, mem_get, memory_context, remember and forget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

import ctxmw
from ctxmw import (
    ContextMiddleware,
    InvalidValue,
    MemoryTool,
    Session,
    WrongUser,
)

from .callers import configurable, user_of
from .conversations import Conversations

Answer = tuple[str, dict[str, Any]]
"""What the model reads, and what the program finds on the tool message."""


def memory_tools(
    memory: ContextMiddleware | Session | object, *, tools: bool | Sequence[str] = True
) -> list[BaseTool]:
    """Return mem_search, mem_get, memory_context, remember and forget, or those of these names.

    Of a conversation: always about that one. Of a memory: about the conversation that each call
    belongs to, by its config or `with chat:`.
    """
    if isinstance(memory, Session):
        made = ctxmw.memory_tools(memory, tools=tools)
        return [_tool(tool, lambda: _only(memory)) for tool in made]
    if isinstance(memory, ContextMiddleware):
        return tools_of(Conversations(memory), tools)
    kind = type(memory).__name__
    raise InvalidValue(f"memory_tools was given {kind}: give a memory or a conversation of it.")


def code_tools(memory: ContextMiddleware | Session | object) -> list[BaseTool]:
    """Return code_search: the code of the project at hand, by what it does.

    Bound as `memory_tools` are. The conversation needs a project whose code is indexed.
    """
    if isinstance(memory, Session):
        return [_tool(tool, lambda: _only(memory)) for tool in ctxmw.code_tools(memory)]
    if isinstance(memory, ContextMiddleware):
        conversations = Conversations(memory)
        described = ctxmw.code_tools(memory.session("described", user="nobody"))
        return [_tool(tool, lambda: conversations.of(None)) for tool in described]
    kind = type(memory).__name__
    raise InvalidValue(f"code_tools was given {kind}: give a memory or a conversation of it.")


def catalog_tools(memory: ContextMiddleware | Session | object) -> list[BaseTool]:
    """Return find_tools: more of the tools in the memory's catalog, by what the agent wants to do.

    Bound as `memory_tools` are.
    """
    if isinstance(memory, Session):
        return [_tool(tool, lambda: _only(memory)) for tool in ctxmw.catalog_tools(memory)]
    if isinstance(memory, ContextMiddleware):
        conversations = Conversations(memory)
        described = ctxmw.catalog_tools(memory.session("described", user="nobody"))
        return [_tool(tool, lambda: conversations.of(None)) for tool in described]
    kind = type(memory).__name__
    raise InvalidValue(f"catalog_tools was given {kind}: give a memory or a conversation of it.")


def tools_of(conversations: Conversations, tools: bool | Sequence[str] = True) -> list[BaseTool]:
    """Return the tools, about the conversation that each call belongs to."""
    # Of these only names, descriptions and schemas are read: nobody's conversation is opened.
    nobody = conversations.ctx.session("described", user="nobody")
    described = ctxmw.memory_tools(nobody, tools=tools)
    # Inside a tool LangChain tells the config of the call by itself.
    return [_tool(tool, lambda: conversations.of(None)) for tool in described]


def _tool(tool: MemoryTool, find: Callable[[], Session]) -> BaseTool:
    def ask(**arguments: Any) -> Answer:
        chat = find()
        text = chat.forgiving().ask(_of(chat, tool.name), **arguments)
        return text, _artifact(tool, chat, arguments)

    async def aask(**arguments: Any) -> Answer:
        chat = find()
        text = await chat.forgiving().aask(_of(chat, tool.name), **arguments)
        return text, _artifact(tool, chat, arguments)

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments,
        func=ask,
        coroutine=aask,
        response_format="content_and_artifact",
        handle_validation_error=lambda error: _unread(tool.name, error),
    )


def _only(chat: Session) -> Session:
    user = user_of(configurable(None))
    if user in (None, chat.user):
        return chat
    raise WrongUser(
        f"the call names the user {user!r}, but these are the tools of {chat!r}: give the agent "
        "memory_tools(ctx), which go by the call."
    )


def _of(chat: Session, name: str) -> MemoryTool:
    known = [*ctxmw.memory_tools(chat), *ctxmw.code_tools(chat), *ctxmw.catalog_tools(chat)]
    return next(tool for tool in known if tool.name == name)


def _artifact(tool: MemoryTool, chat: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"tool": tool.name, "session": chat.id, "arguments": arguments}


def _unread(name: str, error: Any) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "arguments"
    return f"{name} could not read its arguments: {place}: {first['msg']}."

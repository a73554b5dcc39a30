"""mem_search, mem_get, memory_context, remember, forget and code_search as LlamaIndex tools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from ctxmw import ContextMiddleware, InvalidValue, MemoryTool, Session
from ctxmw import catalog_tools as catalog_tools_of
from ctxmw import code_tools as code_tools_of
from ctxmw import memory_tools as tools_of

from .binding import Binding


def memory_tools(
    target: ContextMiddleware | Session, *, tools: bool | Sequence[str] = True
) -> list[FunctionTool]:
    """Return the tools of a conversation; of a memory, for the conversation they are called in.

    All of them, none (`tools=False`), or those of these names.
    """
    spec = MemoryToolSpec(target)
    names = [tool.name for tool in spec.described(tools)]
    return [tool for tool in spec.to_tool_list() if tool.metadata.name in names]


def code_tools(target: ContextMiddleware | Session) -> list[FunctionTool]:
    """Return code_search: the code of the project at hand, by what it does."""
    return CodeToolSpec(target).to_tool_list()


def catalog_tools(target: ContextMiddleware | Session) -> list[FunctionTool]:
    """Return find_tools: more of the tools in the memory's catalog, by what is to be done."""
    return CatalogToolSpec(target).to_tool_list()


class MemoryToolSpec(BaseToolSpec):
    """The memory tools of a conversation, or of whichever conversation they are called in."""

    spec_functions: list[SPEC_FUNCTION_TYPE] = [  # noqa: RUF012 - as the base declares it
        ("mem_search", "amem_search"),
        ("mem_get", "amem_get"),
        ("memory_context", "amemory_context"),
        ("remember", "aremember"),
        ("forget", "aforget"),
    ]

    def __init__(self, target: ContextMiddleware | Session) -> None:
        if not isinstance(target, ContextMiddleware | Session):
            raise InvalidValue(
                f"memory_tools was given {type(target).__name__}: give a memory, such as "
                "ContextMiddleware.open(), or a conversation of it."
            )
        self._target = target
        self._own = f"chat-{uuid4().hex}"

    def mem_search(self, **arguments: Any) -> str:
        return self._ask("mem_search", arguments)

    async def amem_search(self, **arguments: Any) -> str:
        return await self._aask("mem_search", arguments)

    def mem_get(self, **arguments: Any) -> str:
        return self._ask("mem_get", arguments)

    async def amem_get(self, **arguments: Any) -> str:
        return await self._aask("mem_get", arguments)

    def memory_context(self, **arguments: Any) -> str:
        return self._ask("memory_context", arguments)

    async def amemory_context(self, **arguments: Any) -> str:
        return await self._aask("memory_context", arguments)

    def remember(self, **arguments: Any) -> str:
        return self._ask("remember", arguments)

    async def aremember(self, **arguments: Any) -> str:
        return await self._aask("remember", arguments)

    def forget(self, **arguments: Any) -> str:
        return self._ask("forget", arguments)

    async def aforget(self, **arguments: Any) -> str:
        return await self._aask("forget", arguments)

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """Return the tools, with the core's descriptions and schemas unless others are given."""
        known = {tool.name: _metadata(tool) for tool in self.described()}
        names = known | {f"a{name}": about for name, about in known.items()}
        return super().to_tool_list(spec_functions, names | (func_to_metadata_mapping or {}))

    def described(self, tools: bool | Sequence[str] = True) -> list[MemoryTool]:
        """Return the core's tools: all of them, none, or those of these names."""
        if isinstance(self._target, Session):
            return tools_of(self._target, tools=tools)
        # Names and schemas are the same for everyone; nothing is read or written here.
        return tools_of(self._target.session("tools", user="tools"), tools=tools)

    def _chat(self) -> Session:
        if isinstance(self._target, Session):
            return self._target
        return Binding(ctx=self._target, session=None, user=None, own=self._own).chat()

    def _ask(self, name: str, arguments: dict[str, Any]) -> str:
        chat = self._chat()
        return chat.forgiving().ask(partial(_tool(chat, name), **arguments))

    async def _aask(self, name: str, arguments: dict[str, Any]) -> str:
        chat = self._chat()
        return await chat.forgiving().aask(partial(_tool(chat, name), **arguments))


class CodeToolSpec(MemoryToolSpec):
    """Code search of a conversation, or of whichever conversation it is called in."""

    spec_functions: list[SPEC_FUNCTION_TYPE] = [("code_search", "acode_search")]  # noqa: RUF012

    def code_search(self, **arguments: Any) -> str:
        return self._ask("code_search", arguments)

    async def acode_search(self, **arguments: Any) -> str:
        return await self._aask("code_search", arguments)

    def described(self, tools: bool | Sequence[str] = True) -> list[MemoryTool]:
        """Return the core's tool; which of the memory's are given is of no account here."""
        if isinstance(self._target, Session):
            return code_tools_of(self._target)
        return code_tools_of(self._target.session("tools", user="tools"))


class CatalogToolSpec(MemoryToolSpec):
    """The search for tools of a conversation, or of whichever conversation it is called in."""

    spec_functions: list[SPEC_FUNCTION_TYPE] = [("find_tools", "afind_tools")]  # noqa: RUF012

    def find_tools(self, **arguments: Any) -> str:
        return self._ask("find_tools", arguments)

    async def afind_tools(self, **arguments: Any) -> str:
        return await self._aask("find_tools", arguments)

    def described(self, tools: bool | Sequence[str] = True) -> list[MemoryTool]:
        """Return the core's tool; which of the memory's are given is of no account here."""
        if isinstance(self._target, Session):
            return catalog_tools_of(self._target)
        return catalog_tools_of(self._target.session("tools", user="tools"))


def _tool(chat: Session, name: str) -> MemoryTool:
    return next(tool for tool in _all_tools(chat) if tool.name == name)


def _all_tools(chat: Session) -> list[MemoryTool]:
    return [*tools_of(chat), *code_tools_of(chat), *catalog_tools_of(chat)]


def _metadata(tool: MemoryTool) -> ToolMetadata:
    return ToolMetadata(name=tool.name, description=tool.description, fn_schema=tool.arguments)

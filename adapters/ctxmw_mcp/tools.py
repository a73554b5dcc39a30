"""The tools: mem_search, mem_get, memory_context, code_search, remember, forget, activity."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, Field, ValidationError

import ctxmw
from ctxmw import CtxmwError, NotFound, Session

from .activity import Activities
from .callers import Callers, Request
from .updates import Updates

_LOOKING = ("mem_search", "mem_get", "memory_context")
_CONVERSATION = {
    "type": "string",
    "description": "The conversation this belongs to; without it, that of the connection.",
}


class RememberArguments(BaseModel):
    """Arguments of remember."""

    text: str = Field(description="What to remember, in one or two sentences.")
    kind: Literal["preference", "rule", "anti_pattern", "decision", "correction", "fact"] = Field(
        default="fact", description="What it is."
    )
    scope: str = Field(
        default="",
        description="universal, language:NAME or project:NAME; without it, the project at hand.",
    )
    key: str = Field(
        default="", description="A short name; the same again takes the place of what had it."
    )


class ForgetArguments(BaseModel):
    """Arguments of forget."""

    ids: list[str] = Field(description="Ids from mem_search or the index.", min_length=1)


class ActivityArguments(BaseModel):
    """Arguments of activity."""

    type: Literal["file_open", "file_edit", "file_close", "symbol_hover", "session_start"] = Field(
        description="What was done."
    )
    filePath: str = Field(default="", description="The file, as seen from the project.")  # noqa: N815
    changedSymbols: list[str] = Field(  # noqa: N815
        default_factory=list, description="What changed in it, or is looked at."
    )
    timestamp: str | None = Field(default=None, description="When, in ISO form; default: now.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a client can call."""

    callers: Callers
    updates: Updates
    activities: Activities
    trust: ctxmw.Trust

    async def list(self, _: Request, __: object) -> ListToolsResult:
        """Return the tools, always in the same order."""
        # Of these only names, descriptions and schemas are read: nobody's conversation is opened.
        nobody = self.callers.ctx.session("described", user="nobody")
        described = [*ctxmw.memory_tools(nobody, tools=_LOOKING), *ctxmw.code_tools(nobody)]
        looking = [
            Tool(
                name=tool.name,
                description=tool.description,
                input_schema=_schema(tool.arguments),
                annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            )
            for tool in described
        ]
        return ListToolsResult(tools=[*looking, *_CHANGING])

    async def call(self, request: Request, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call; what goes wrong is told to the model, which can go on with it."""
        given = dict(params.arguments or {})
        named = given.pop("session", None)
        chat = self.callers.conversation(request, named if isinstance(named, str) else None)
        own: dict[str, Callable[[Request, Session, dict[str, Any]], Awaitable[CallToolResult]]]
        own = {
            "remember": self._remember,
            "forget": self._forget,
            "activity": self._activity,
        }
        asking = [*ctxmw.memory_tools(chat, tools=_LOOKING), *ctxmw.code_tools(chat)]
        looking = {tool.name: tool for tool in asking}
        takes = {name: tool.arguments for name, tool in looking.items()} | _TAKES
        if params.name not in takes:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}: see tools/list.")
        if wrong := [name for name in given if name not in takes[params.name].model_fields]:
            return _failed(_unknown(params.name, wrong, takes[params.name]))
        if params.name in own:
            try:
                return await own[params.name](request, chat, given)
            except ValidationError as error:
                return _failed(f"{params.name} could not read its arguments: {_problem(error)}")
            except CtxmwError as error:
                return _failed(f"{params.name}: {error}")
        return _text(await chat.forgiving().aask(looking[params.name], **given))

    async def _remember(
        self, request: Request, chat: Session, given: dict[str, Any]
    ) -> CallToolResult:
        asked = RememberArguments.model_validate(given)
        project = self.callers.project
        memory = await self.callers.ctx.aremember(
            asked.text,
            kind=asked.kind,
            scope=asked.scope or (f"project:{project}" if project else "universal"),
            key=asked.key,
            user=chat.user,
            source="mcp",
            trust=self.trust,
        )
        await self.updates.publish(chat.user)
        told = f"Remembered as {memory.ref} ({memory.kind}, {memory.scope})."
        kept = {"id": memory.ref, "kind": memory.kind, "scope": memory.scope, "seen": memory.seen}
        return _text(told, kept)

    async def _forget(
        self, request: Request, chat: Session, given: dict[str, Any]
    ) -> CallToolResult:
        asked = ForgetArguments.model_validate(given)
        ctx, user = self.callers.ctx, chat.user
        found = {record.ref: record for record in await ctx.aget(asked.ids, user=user)}
        if missing := [ref for ref in asked.ids if ref not in found]:
            named = ", ".join(map(repr, missing))
            raise NotFound(f"there is no record {named}: see mem_search. Nothing was forgotten.")
        # Forgetting takes older versions along, and one of them may be a person's.
        versions = {
            ref: ctx.versions(ref, user=user) for ref in asked.ids if found[ref].type == "memory"
        }
        away = [ref for ref, history in versions.items() if any(map(_is_of_a_person, history))]
        for ref in asked.ids:
            with suppress(NotFound):  # it went with one before it
                if ref not in away:
                    await ctx.aforget(ref, user=user)
                for version in versions[ref] if ref in away else ():
                    if not version.superseded_by:
                        await ctx.aput_away(version.ref, user=user)
        await self.updates.publish(chat.user)
        told = f"Forgotten: {', '.join(asked.ids)}."
        if away:
            told += f" Of these the user can bring back: {', '.join(away)} (ctxmw restore)."
        return _text(told, {"forgotten": asked.ids})

    async def _activity(
        self, request: Request, _: Session, given: dict[str, Any]
    ) -> CallToolResult:
        asked = ActivityArguments.model_validate(given)
        await self.activities.notice(request, asked.model_dump(exclude_none=True))
        return _text("Noticed.")


def _is_of_a_person(record: Any) -> bool:
    """Say whether a memory is one that no agent wrote."""
    return record.source not in ("mcp", "agent")


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = arguments.model_json_schema()
    properties = {**schema["properties"], "session": _CONVERSATION}
    return schema | {"properties": properties, "additionalProperties": False}


def _unknown(tool: str, wrong: Sequence[str], arguments: type[BaseModel]) -> str:
    # One that was misspelt and left out in silence would look as if it had been heeded.
    named = ", ".join(f"{name!r:.60}" for name in wrong)
    allowed = ", ".join([*arguments.model_fields, "session"])
    return f"{tool} takes no argument {named}. It takes: {allowed}."


_TAKES: dict[str, type[BaseModel]] = {
    "remember": RememberArguments,
    "forget": ForgetArguments,
    "activity": ActivityArguments,
}

_HARMLESS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CHANGING = (
    Tool(
        name="remember",
        description=(
            "Remember a preference, decision, rule or fact for later conversations. Use it when "
            "the user says how something shall be done, or asks to remember something."
        ),
        input_schema=_schema(RememberArguments),
        annotations=_HARMLESS,
    ),
    Tool(
        name="forget",
        description=(
            "Forget remembered records by their ids. Use it only when the user asks for it or has "
            "said that a record is wrong. Memories of the user's own can be brought back by them."
        ),
        input_schema=_schema(ForgetArguments),
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, open_world_hint=False
        ),
    ),
    Tool(
        name="activity",
        description=(
            "Tell the memory what is done in an editor, such as a file that was opened or edited: "
            "the next prompts bring what belongs to it. For editors; a model need not call it."
        ),
        input_schema=_schema(ActivityArguments),
        annotations=_HARMLESS,
    ),
)


def _text(text: str, structured: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured
    )


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "arguments"
    return f"{place}: {first['msg']}."

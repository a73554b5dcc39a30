"""The tools: mem_search, mem_get, memory_context, code_search, remember, forget, activity.

They are few on purpose: a model reads them all before every answer. `capture` is there if asked
for; what a person does with the memory is in `requests`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

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
from pydantic import BaseModel, ValidationError

import ctxmw
from ctxmw import CtxmwError, NotFound, Session

from .activity import Activities
from .callers import Callers, Request
from .captured import CaptureArguments, captured
from .descriptions import (
    CAPTURING,
    CHANGING,
    TAKES,
    ActivityArguments,
    ForgetArguments,
    RememberArguments,
    schema_of,
)
from .updates import Updates

_LOOKING = ("mem_search", "mem_get", "memory_context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a client can call."""

    callers: Callers
    updates: Updates
    activities: Activities
    trust: ctxmw.Trust
    captures: bool
    """Whether the model hands over what was said."""

    async def list(self, _: Request, __: object) -> ListToolsResult:
        """Return the tools, always in the same order."""
        # Of these only names, descriptions and schemas are read: nobody's conversation is opened.
        nobody = self.callers.ctx.session("described", user="nobody")
        described = [*ctxmw.memory_tools(nobody, tools=_LOOKING), *ctxmw.code_tools(nobody)]
        looking = [
            Tool(
                name=tool.name,
                description=tool.description,
                input_schema=schema_of(tool.arguments),
                annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            )
            for tool in described
        ]
        return ListToolsResult(tools=[*looking, *CHANGING, *([CAPTURING] * self.captures)])

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
            "capture": self._capture,
        }
        asking = [*ctxmw.memory_tools(chat, tools=_LOOKING), *ctxmw.code_tools(chat)]
        looking = {tool.name: tool for tool in asking}
        takes = {name: tool.arguments for name, tool in looking.items()} | TAKES
        if params.name not in takes or (params.name == "capture" and not self.captures):
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name!r}: see tools/list.")
        given = _with_own_names(given, takes[params.name])
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

    async def _capture(
        self, request: Request, chat: Session, given: dict[str, Any]
    ) -> CallToolResult:
        kept = await captured(chat, CaptureArguments.model_validate(given), self.trust)
        await self.updates.publish(chat.user)
        return _text(f"Kept: {len(kept)} of what was said is new.", {"captured": kept})


def _with_own_names(given: dict[str, Any], takes: type[BaseModel]) -> dict[str, Any]:
    """Return arguments under the names they have here: a kind may be called a category."""
    if "category" in given and "kind" in takes.model_fields and "kind" not in given:
        return {"kind" if name == "category" else name: given[name] for name in given}
    return given


def _is_of_a_person(record: Any) -> bool:
    """Say whether a memory is one that no agent wrote."""
    return record.source not in ("mcp", "agent")


def _unknown(tool: str, wrong: Sequence[str], arguments: type[BaseModel]) -> str:
    # One that was misspelt and left out in silence would look as if it had been heeded.
    named = ", ".join(f"{name!r:.60}" for name in wrong)
    allowed = ", ".join([*arguments.model_fields, "session"])
    return f"{tool} takes no argument {named}. It takes: {allowed}."


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

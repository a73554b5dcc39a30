"""The resources and the prompt: what a model would be given now. Reading one leaves no trace."""

from __future__ import annotations

import json
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from ctxmw import Session

from .addresses import AUTO, AUTO_JSON, FILE, SESSION, file_of, own_name, unknown
from .callers import Callers, Request
from .shown import shown_in

MARKDOWN = "text/markdown"
JSON = "application/json"

THIS = "What about this?"
"""Names nothing and points at what is at hand: it brings what was done in an editor, no more."""

NOTHING = {
    AUTO: "Nothing is active yet. Open or edit a file, ask something, or remember something.\n",
    SESSION: "Nothing is known about this or earlier conversations yet.\n",
    FILE: "Nothing is known about this file yet.\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a client can read."""

    callers: Callers

    async def list(self, _: Request, __: object) -> ListResourcesResult:
        """Return those that are always there."""
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=AUTO,
                    name="auto",
                    title="Automatic context",
                    description="What matters now: standing context, and what activity brings.",
                    mime_type=MARKDOWN,
                ),
                Resource(
                    uri=AUTO_JSON,
                    name="auto.json",
                    title="Automatic context, item by item",
                    description="The same for programs: refs, scores, tokens and reasons.",
                    mime_type=JSON,
                ),
                Resource(
                    uri=SESSION,
                    name="session",
                    title="Session context",
                    description="What opens a conversation: rules, decisions, where work stands.",
                    mime_type=MARKDOWN,
                ),
            ]
        )

    async def templates(self, _: Request, __: object) -> ListResourceTemplatesResult:
        """Return the one for files."""
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(
                    uri_template=f"{FILE}{{+path}}",
                    name="file",
                    title="File context",
                    description="What is known about a file, by its path within the project.",
                    mime_type=MARKDOWN,
                )
            ]
        )

    async def read(self, request: Request, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return a resource as text; it says so when there is nothing."""
        asked = str(params.uri)
        uri = own_name(asked)
        path = file_of(uri, self.callers)
        if path is None and uri not in (AUTO, AUTO_JSON, SESSION):
            raise unknown(asked)
        chat = self.callers.conversation(request, files=[path] if path else [])
        if uri == AUTO_JSON:
            text = await chat.forgiving().off_loop(lambda: json.dumps(self._items(chat)))
            contents = TextResourceContents(uri=asked, mime_type=JSON, text=text)
        else:
            text = await chat.forgiving().aask(lambda: _look(chat, uri, path))
            contents = TextResourceContents(uri=asked, mime_type=MARKDOWN, text=text)
        return ReadResourceResult(contents=[contents])

    def _items(self, chat: Session) -> dict[str, object]:
        context = chat.peek([{"role": "user", "content": THIS}]).context
        return shown_in(self.callers.ctx, context)


def _look(chat: Session, uri: str, path: str | None) -> str:
    if path is not None:
        shown = chat.peek([{"role": "user", "content": path}]).context.part
        return shown or NOTHING[FILE]
    context = chat.peek([{"role": "user", "content": THIS}]).context
    return (context.text if uri == AUTO else context.stable) or NOTHING[uri]


NAME = "session-start"
_NOTHING = "Nothing is remembered yet that matters here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What a user can pick from a menu."""

    callers: Callers

    async def list(self, _: Request, __: object) -> ListPromptsResult:
        """Return the one there is."""
        return ListPromptsResult(
            prompts=[
                Prompt(
                    name=NAME,
                    title="Start with what is remembered",
                    description="Opens a conversation with rules, decisions and where work stands.",
                    arguments=[
                        PromptArgument(name="message", description="What you want to do."),
                        PromptArgument(name="session", description="A conversation to go on with."),
                    ],
                )
            ]
        )

    async def get(self, request: Request, params: GetPromptRequestParams) -> GetPromptResult:
        """Return the context and the user's words as one message; nothing is recorded."""
        if params.name != NAME:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name!r}: see prompts/list.")
        given = params.arguments or {}
        said = given.get("message", "")
        chat = self.callers.conversation(request, given.get("session") or None)
        text = await chat.forgiving().aask(lambda: _opening(chat, said))
        content = TextContent(type="text", text=f"{text}\n{said}" if said else text)
        return GetPromptResult(
            description="What is remembered", messages=[PromptMessage(role="user", content=content)]
        )


def _opening(chat: Session, said: str) -> str:
    return chat.peek([{"role": "user", "content": said}]).context.text or _NOTHING

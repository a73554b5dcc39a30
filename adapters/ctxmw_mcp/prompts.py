"""The prompt that opens a conversation with what is known."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from ctxmw import Session

from .callers import Callers, Request

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

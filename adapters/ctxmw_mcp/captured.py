"""What was said in a client's conversation, so that it is learned from as any other is.

Who speaks is told with each message: its role, the name of a person who is not the user, and an
author where the words are nobody's in the room, such as a document or a task that a model set.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import ctxmw
from ctxmw import Session


class SaidMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant", "tool"] = Field(description="Who speaks.")
    content: str = Field(description="What was said, word for word.")
    name: str = Field(default="", description="Who it is, when not the user; or the tool's name.")
    author: Literal["", "person", "assistant", "application", "model", "tool", "document"] = Field(
        default="", description="Whose words they are, when not the speaker's."
    )
    id: str = Field(default="", description="The client's own id of the message.")
    at: str = Field(default="", description="When, in ISO form; default: now.")

    def plain(self, trust: ctxmw.Trust) -> dict[str, Any]:
        """Return the message as the core takes it; of a client that is not trusted, nobody's."""
        told = {name: value for name, value in self.model_dump().items() if value}
        if trust == "untrusted":
            told |= {"author": "application"} if self.role == "user" else {"name": ""}
        return {"content": "", **told}


class CaptureArguments(BaseModel):
    """Arguments of capture."""

    model_config = ConfigDict(extra="forbid")

    messages: list[SaidMessage] = Field(
        min_length=1,
        max_length=200,
        description="What was said, in order: the user's words, what tools returned, your answer.",
    )
    session: str | None = Field(default=None, min_length=1)


async def captured(chat: Session, asked: CaptureArguments, trust: ctxmw.Trust) -> list[str]:
    """Store what was said and return the refs of the turns that are new."""
    turns = await chat.acapture([message.plain(trust) for message in asked.messages])
    return [turn.ref for turn in turns]

"""What the tools that change something are called, take, and tell a model about themselves."""

from __future__ import annotations

from typing import Any, Literal

from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, Field

from .captured import CaptureArguments

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

    type: Literal[
        "file_open", "file_edit", "file_save", "file_close", "symbol_hover", "session_start"
    ] = Field(description="What was done.")
    filePath: str = Field(default="", description="The file, as seen from the project.")  # noqa: N815
    changedSymbols: list[str] = Field(  # noqa: N815
        default_factory=list, description="What changed in it, or is looked at."
    )
    timestamp: str | None = Field(default=None, description="When, in ISO form; default: now.")


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, with the conversation they are for."""
    schema = arguments.model_json_schema()
    properties = {**schema["properties"], "session": _CONVERSATION}
    return schema | {"properties": properties, "additionalProperties": False}


TAKES: dict[str, type[BaseModel]] = {
    "remember": RememberArguments,
    "forget": ForgetArguments,
    "activity": ActivityArguments,
    "capture": CaptureArguments,
}

_HARMLESS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
CHANGING = (
    Tool(
        name="remember",
        description=(
            "Remember a preference, decision, rule or fact for later conversations. Use it when "
            "the user says how something shall be done, or asks to remember something."
        ),
        input_schema=schema_of(RememberArguments),
        annotations=_HARMLESS,
    ),
    Tool(
        name="forget",
        description=(
            "Forget remembered records by their ids. Use it only when the user asks for it or has "
            "said that a record is wrong. Memories of the user's own can be brought back by them."
        ),
        input_schema=schema_of(ForgetArguments),
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
        input_schema=schema_of(ActivityArguments),
        annotations=_HARMLESS,
    ),
)


CAPTURING = Tool(
    name="capture",
    description=(
        "Hand over what was said, word for word: the user's message and your answer. Call it once "
        "at the end of every turn, so that later conversations know of this one."
    ),
    input_schema=schema_of(CaptureArguments),
    annotations=_HARMLESS,
)

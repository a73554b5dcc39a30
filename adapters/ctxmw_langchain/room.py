"""What a model's window has to hold besides the messages, and how large it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from ctxmw import known_window

_NAMES = ("model_name", "model", "model_id", "deployment_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A model's window in tokens, where known, and the schemas of the tools it is offered."""

    window: int | None = None
    tools: tuple[Any, ...] = ()
    choose_tools: bool = True
    """Whether some of them may be left out: not where the model is made to call one."""


def room_of(model: object, tools: Sequence[Any] = (), forced: object = None) -> Room:
    """Return the room of a model: by its profile, else by its name; tools as they are sent.

    `forced` says which of them is to be called, if any.
    """
    free = forced in (None, "", "auto", "none")
    return Room(window=_window(model), tools=tuple(map(_schema, tools)), choose_tools=free)


def _window(model: object) -> int | None:
    profile = getattr(model, "profile", None)
    if isinstance(profile, Mapping) and isinstance(profile.get("max_input_tokens"), int):
        return profile["max_input_tokens"] or None
    names = (getattr(model, name, None) for name in _NAMES)
    windows = (known_window(name) for name in names if isinstance(name, str))
    return next((window for window in windows if window), None)


def _schema(tool: Any) -> Any:
    if isinstance(tool, Mapping):
        return tool
    try:
        return convert_to_openai_tool(tool)
    except Exception:  # noqa: BLE001 - what cannot be read here, the model will complain about
        return str(tool)

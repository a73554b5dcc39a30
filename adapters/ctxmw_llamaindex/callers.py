"""Who a run says it is for, and where it takes place: what its `Context` holds.

    ctx = Context(agent)
    await ctx.store.set("user_id", "ada")

A name that is almost one of ours ("userId") would be passed over in silence, and is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from llama_index.core.workflow import Context

from ctxmw import InvalidValue, check_names

KEYS = ("user_id", "session_id", "project", "cwd")
"""What a run's Context can say to the memory."""


def said_by(given: tuple[object, ...]) -> dict[str, str]:
    """Return what the Context among a run's arguments says, as far as it says something."""
    context = next((one for one in given if isinstance(one, Context)), None)
    if context is None:
        return {}
    held = _held(context)
    check_names(held, KEYS, "the Context")
    names = {key: _name(held.get(key), key) for key in KEYS}
    return {key: name for key, name in names.items() if name is not None}


def asked_by_a_model(asked: str) -> bool:
    """Say whether a question is asked in a LangGraph graph, by nobody whose words it has.

    So asks an agent of LangChain's whose tool holds an engine.
    """
    langchain: Any = sys.modules.get("langchain_core.runnables.config")
    config = langchain.var_child_runnable_config.get() if langchain else None
    if not config or not (config.get("metadata") or {}).get("checkpoint_ns"):
        return False
    read = (config.get("configurable") or {}).get("__pregel_read")
    try:
        # LangGraph's own ToolNode reads the whole state like this.
        values = read(list(read.args[1])) if read else {}
        return asked not in set(_told_in(values))
    except Exception:  # noqa: BLE001 - it is not a public way, and must not stop a graph
        return True


def _told_in(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a graph's state has from its caller: its texts, and human messages."""
    for value in state.values():
        if isinstance(value, str):
            yield value
        for message in value if isinstance(value, list) else ():
            if getattr(message, "type", "") == "human":
                yield str(message.content)


class _AsTheyAre:
    """A serializer that leaves values alone: a Context's state is told without waiting for it."""

    def serialize(self, value: Any) -> Any:
        return value

    def serialize_value(self, value: Any) -> Any:
        return value


def _held(context: Context[Any]) -> Mapping[str, Any]:
    told: Any = context.store.to_dict(_AsTheyAre())  # type: ignore[arg-type]
    state = told.get("state_data")
    held = (
        state.get("_data", state) if isinstance(state, Mapping) else getattr(state, "__dict__", {})
    )
    return held if isinstance(held, Mapping) else {}


def _name(value: Any, key: str) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, int | UUID | Path) and not isinstance(value, bool):
        return str(value)
    raise InvalidValue(f"{key} in the Context is {value!r:.60}: give text.")

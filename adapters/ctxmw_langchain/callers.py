"""Who a call says it is for.

LangChain knows three ways to say it: `config["configurable"]["user_id"]`, the `user_id` of
LangGraph's `context=`, and the `langgraph_auth_user_id` that its server puts into the config. All
of them count, and must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import InvalidValue, WrongUser

_RUNTIME = "__pregel_runtime"
"""Where a graph's config keeps its runtime, and with it the `context=` of the call."""


def configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    """Return what a call's config says; without one, that of the run around it."""
    named: Mapping[str, Any] = ensure_config(config)["configurable"]
    return named


def user_of(named: Mapping[str, Any]) -> str | None:
    """Return the user that a call names; None when it names nobody."""
    said = {place: _name(value, place) for place, value in _places(named)}
    users = {place: user for place, user in said.items() if user is not None}
    if len(set(users.values())) > 1:
        listed = ", ".join(f"{user!r} in {place}" for place, user in users.items())
        raise WrongUser(f"the call names several users ({listed}): name the same one everywhere.")
    return next(iter(users.values()), None)


def session_of(named: Mapping[str, Any]) -> str | None:
    """Return the conversation that a call names, if any."""
    names = (_name(named.get(key), _in_config(key)) for key in ("session_id", "thread_id"))
    return next((name for name in names if name is not None), None)


def learns(named: Mapping[str, Any]) -> bool:
    """Say whether a call lets something be learned from what is said in it."""
    told = named.get("learn")
    if told is not None and not isinstance(told, bool):
        raise InvalidValue(f"{_in_config('learn')} is {told!r:.60}: give True or False.")
    return told is not False


def in_subagent(config: RunnableConfig | None) -> str:
    """Return where in a graph the graph stands that a call is made in; "" outside of another.

    Nodes are told by their names: each run of one has an id of its own. What runs in a node under
    a thread of its own is told by the metadata, which is handed down from the outermost run.
    """
    whole = ensure_config(config)
    named, told = whole["configurable"], whole["metadata"]
    own, outer = (str(one.get("checkpoint_ns") or "") for one in (named, told))
    within, inner, _ = own.rpartition("|")
    if not inner and outer not in ("", own) and (own or _names_another(named, told)):
        within = outer
    return "|".join(node.partition(":")[0] for node in within.split("|"))


def in_node(config: RunnableConfig | None) -> bool:
    """Say whether a call is made inside a node of a graph, whatever its config says."""
    return bool(ensure_config(config)["metadata"].get("checkpoint_ns"))


def _names_another(named: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Say whether a call names another conversation than the run around it."""
    around = {str(told[key]) for key in ("session_id", "thread_id") if told.get(key)}
    return session_of(named) not in (None, *around)


def _places(named: Mapping[str, Any]) -> list[tuple[str, Any]]:
    context = getattr(named.get(_RUNTIME), "context", None)
    return [
        (_in_config("user_id"), named.get("user_id")),
        ("context.user_id", _field(context, "user_id")),
        # A server that asks nobody who they are says so with an empty text.
        (_in_config("langgraph_auth_user_id"), named.get("langgraph_auth_user_id") or None),
    ]


def _field(context: Any, name: str) -> Any:
    if isinstance(context, Mapping):
        return context.get(name)
    return getattr(context, name, None)


def _in_config(key: str) -> str:
    return f'config["configurable"]["{key}"]'


def _name(value: Any, place: str) -> str | None:
    """Return a name; numbers and UUIDs, as databases hand them out, as text."""
    if value is None or (isinstance(value, str) and value):
        return value
    # A bool is an int to Python; any other object's text may change from run to run.
    if isinstance(value, int | UUID) and not isinstance(value, bool):
        return str(value)
    raise InvalidValue(f"{place} is {value!r}: give text, a whole number or a UUID.")

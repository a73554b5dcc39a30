"""Who a call says it is for, and where it takes place.

LangChain knows three ways to say who: `config["configurable"]["user_id"]`, the `user_id` of
LangGraph's `context=`, and the `langgraph_auth_user_id` that its server puts into the config. The
project and the folder are said in the first two, and that nothing is learned. All of them count,
and must agree. A name that is almost one of ours ("userId") would be passed over in silence, and
is an error instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import InvalidValue, WrongUser, check_names

KEYS = ("user_id", "session_id", "thread_id", "project", "cwd", "learn")
"""What a call can say to the memory."""
IN_CONTEXT = ("user_id", "project", "cwd", "learn")
"""What of it LangGraph's `context=` can say."""
_CONVERSATION = ("session_id", "thread_id")
_RUNTIME = "__pregel_runtime"
"""Where a graph's config keeps its runtime, and with it the `context=` of the call."""


def configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    """Return what a call's config says; without one, that of the run around it."""
    named: Mapping[str, Any] = ensure_config(config)["configurable"]
    fields = _fields(_context(named))
    said = _answered(named, fields)
    check_names(named, KEYS, 'config["configurable"]', said=said)
    check_names(fields, IN_CONTEXT, "context", said=said)
    return named


def user_of(named: Mapping[str, Any]) -> str | None:
    """Return the user that a call names; None when it names nobody."""
    # A server that asks nobody who they are says so with an empty text.
    served = named.get("langgraph_auth_user_id") or None
    places = [*_places(named, "user_id"), (_in_config("langgraph_auth_user_id"), served)]
    said = _said(places)
    if len(set(said.values())) > 1:
        raise WrongUser(f"the call names several users ({_listed(said)}): name the same one.")
    return next(iter(said.values()), None)


def place_of(named: Mapping[str, Any]) -> dict[str, str]:
    """Return the project and the folder that a call names, as far as it does."""
    places = {}
    for key in ("project", "cwd"):
        said = _said(_places(named, key))
        if len(set(said.values())) > 1:
            raise InvalidValue(f"the call says {key} twice ({_listed(said)}): say the same.")
        if said:
            places[key] = next(iter(said.values()))
    return places


def session_of(named: Mapping[str, Any]) -> str | None:
    """Return the conversation that a call names, if any."""
    names = (_name(named.get(key), _in_config(key)) for key in _CONVERSATION)
    return next((name for name in names if name is not None), None)


def learns(named: Mapping[str, Any]) -> bool:
    """Say whether a call lets something be learned from what is said in it."""
    told = named.get("learn")
    if told is not None and not isinstance(told, bool):
        raise InvalidValue(f"{_in_config('learn')} is {told!r:.60}: give True or False.")
    # In a context that an application made for itself, anything else is its own.
    return told is not False and _fields(_context(named)).get("learn") is not False


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
    around = {str(told[key]) for key in _CONVERSATION if told.get(key)}
    return session_of(named) not in (None, *around)


def _answered(named: Mapping[str, Any], fields: Mapping[str, Any]) -> set[str]:
    """Return which of our names need not be said any more: an application may mean its own."""
    said = {key for key in KEYS if named.get(key) is not None}
    said |= {key for key in IN_CONTEXT if fields.get(key) is not None}
    if named.get("langgraph_auth_user_id"):
        said.add("user_id")
    # One of the two names a conversation.
    return said if said.isdisjoint(_CONVERSATION) else said.union(_CONVERSATION)


def _places(named: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    fields = _fields(_context(named))
    return [(_in_config(key), named.get(key)), (f"context.{key}", fields.get(key))]


def _said(places: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the names that are said, by where."""
    names = ((place, _name(value, place)) for place, value in places)
    return {place: name for place, name in names if name is not None}


def _listed(said: Mapping[str, str]) -> str:
    return ", ".join(f"{name!r} in {place}" for place, name in said.items())


def _context(named: Mapping[str, Any]) -> Any:
    return getattr(named.get(_RUNTIME), "context", None)


def _fields(context: Any) -> Mapping[str, Any]:
    """Return what LangGraph's `context=` holds: a mapping, a dataclass, a model, any object."""
    if isinstance(context, Mapping):
        return context
    names = {*getattr(context, "__dict__", ()), *getattr(context, "__slots__", ()), *KEYS}
    return {name: getattr(context, name, None) for name in names}


def _in_config(key: str) -> str:
    return f'config["configurable"]["{key}"]'


def _name(value: Any, place: str) -> str | None:
    """Return a name; numbers and UUIDs, as databases hand them out, as text."""
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, Path):
        return str(value)
    # A bool is an int to Python; any other object's text may change from run to run.
    if isinstance(value, int | UUID) and not isinstance(value, bool):
        return str(value)
    raise InvalidValue(f"{place} is {value!r}: give text, a whole number or a UUID.")

"""Which human messages of an agent's state were there when a run began: those are the person's.

What a middleware or a tool adds while the agent runs, documents perhaps, has the same type. So the
ids of what was there are kept beside the messages, in a field of the state that nobody else sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

HEARD = "ctxmw_heard"


class HeardState(AgentState[Any]):
    """An agent's state, and which of its messages a person wrote."""

    ctxmw_heard: NotRequired[Annotated[list[str], PrivateStateAttr]]


def heard_at_the_start(state: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what to keep as a run begins: what was heard before, and what came since.

    That is what stands behind the last answer. In a state that was never looked at all of it is.
    """
    messages = state["messages"]
    known = state.get(HEARD)
    heard = _ids(messages if known is None else _behind_the_last_answer(messages))
    kept = list(dict.fromkeys([*(known or ()), *heard]))
    return {HEARD: kept} if kept != known else None


def said_by_the_person(state: Mapping[str, Any]) -> list[AnyMessage]:
    """Return the messages of a state without human ones that came while the agent ran."""
    heard = state.get(HEARD)
    messages: list[AnyMessage] = list(state["messages"])
    if heard is None:
        return messages
    known = frozenset(heard)
    return [one for one in messages if not isinstance(one, HumanMessage) or _name(one) in known]


def _ids(messages: Sequence[AnyMessage]) -> list[str]:
    return [_name(one) for one in messages if isinstance(one, HumanMessage)]


def _name(message: AnyMessage) -> str:
    # The agents of deepagents leave messages without an id as they are.
    return message.id or sha256(repr(message.content).encode("utf-8", "replace")).hexdigest()[:32]


def _behind_the_last_answer(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    places = [at for at, one in enumerate(messages) if isinstance(one, AIMessage)]
    return messages[places[-1] + 1 :] if places else messages

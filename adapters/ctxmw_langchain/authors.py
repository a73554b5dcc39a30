"""Who speaks in a human message: the person, the application around them, or another model.

Only a person's words teach something. They are what the caller hands to a model, to a template's
message that is one variable, or to an agent's state. What is built on the way, in templates with
more to them, in nodes of a graph or for a subagent, is the application's, as it may hold what
documents, other people and other models say.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import InvalidValue

from .callers import in_subagent
from .nesting import said_by_anybody
from .templates import Upstream

log = logging.getLogger("ctxmw")

AUTHOR = "ctxmw_author"
"""In `additional_kwargs`: who speaks, where the application knows better."""
Speaker = Literal["person", "application", "model", "document"]
_SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)
_READ = "__pregel_read"
"""Where LangGraph leaves the way to read the state, for whatever runs in a node."""


class Authors:
    """Tells the application's human messages of one call from a person's."""

    def __init__(
        self,
        config: RunnableConfig | None,
        upstream: Upstream | None = None,
        *,
        given: object = None,
        said: Collection[int] = (),
        state: Iterable[BaseMessage] | None = None,
    ) -> None:
        """`state` is that of the agent or graph, where it is at hand.

        `said` is where the chain was told which words are the person's.
        """
        configured = ensure_config(config)["configurable"]
        self._upstream = upstream or Upstream()
        # A template that the chain does not show may hold anything.
        shown = self._upstream.known and self._upstream.seen
        unseen = isinstance(given, PromptValue) and not shown
        self._unseen = unseen
        self._in_subagent = in_subagent(configured)
        self._said = said
        self._in_state = _contents(state) if state is not None else _state_of(configured)

    def mark(self, messages: Sequence[BaseMessage]) -> dict[int, Speaker]:
        """Return who speaks in human messages, where that is not the person."""
        said = said_by_anybody(messages)
        human = [
            (at, message)
            for at, message in enumerate(said)
            if not isinstance(message, AIMessage | SystemMessage | ToolMessage)
        ]
        speakers = {at: self._speaker(at, message) for at, message in human}
        return {at: speaker for at, speaker in speakers.items() if speaker != "person"}

    def _speaker(self, at: int, message: BaseMessage) -> Speaker:
        told = message.additional_kwargs.get(AUTHOR)
        if told is not None:
            return _checked(told)
        if self._in_subagent:
            return "model"
        if at in self._said:
            return "person"
        return "application" if self._wrote(message) else "person"

    def _wrote(self, message: BaseMessage) -> bool:
        # Such as a summary that stands for messages in a state.
        if self._unseen or message.additional_kwargs.get("lc_source"):
            return True
        if self._in_state is not None:
            return repr(message.content) not in self._in_state
        return self._upstream.wrote(message)


def _checked(told: object) -> Speaker:
    for speaker in _SPEAKERS:
        if told == speaker:
            return speaker
    allowed = ", ".join(_SPEAKERS)
    raise InvalidValue(f'additional_kwargs["{AUTHOR}"] is {told!r:.60}. Allowed: {allowed}.')


def _state_of(configured: Mapping[str, Any]) -> frozenset[str] | None:
    """Return what is said in the state of the graph around the caller; None when there is none."""
    read = configured.get(_READ)
    if read is None:
        return None
    try:
        # LangGraph's own ToolNode reads the whole state like this.
        values = read(list(read.args[1]))
        return _contents(message for value in values.values() for message in _messages(value))
    except Exception:  # noqa: BLE001 - it is not a public way, and must not stop a graph
        log.warning("the state of the graph cannot be read: nothing is learned in its nodes")
        return frozenset()


def _messages(value: object) -> Iterator[BaseMessage]:
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, BaseMessage))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from (one for one in _messages(inner) if not isinstance(inner, Mapping))


def _contents(messages: Iterable[BaseMessage]) -> frozenset[str]:
    return frozenset(repr(message.content) for message in messages)

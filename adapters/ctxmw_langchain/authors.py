"""Who speaks in a human message: the person, the application around them, or another model.

Only a person's words teach something. They are what the caller hands to a model, to a template's
message that is one variable, or to an agent's state. What is built on the way, in templates with
more to them, in nodes of a graph or for a subagent, is the application's, as it may hold what
documents, other people and other models say.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, get_args

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import InvalidValue

from .callers import in_node, in_subagent
from .nesting import said_by_anybody
from .templates import Upstream

log = logging.getLogger("ctxmw")

AUTHOR = "ctxmw_author"
"""In `additional_kwargs`: who speaks, where the application knows better."""
Speaker = Literal["person", "application", "model", "document"]
WRITTEN_BY, SUMMARIZED = "lc_source", "summarization"
"""By what LangChain's middleware marks its own messages, and those of them that are summaries."""
_SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)
_NOT_HUMAN = AIMessage | SystemMessage | ToolMessage
_NOTHING: Mapping[int, str] = MappingProxyType({})
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
        said: Mapping[int, str] = _NOTHING,
        state: Iterable[BaseMessage] | None = None,
    ) -> None:
        """`state` is that of the agent or graph, where it is at hand.

        `said` are the words that the chain was told are the person's, by message.
        """
        self._upstream = upstream or Upstream()
        # A template that the chain does not show may hold anything.
        self._unseen = isinstance(given, PromptValue) and not self._upstream.known
        self._in_subagent = in_subagent(config)
        self._said = said
        known = list(state) if state is not None else None
        self._state = _said_in(known) if known is not None else _state_of(config)
        self._outputs = {
            one.id: one.content for one in known or () if isinstance(one, ToolMessage) and one.id
        }

    @property
    def among_documents(self) -> bool:
        """Whether messages before the question may be documents, whatever their type."""
        return self._upstream.holds_documents

    def brought(self) -> list[str]:
        """Return the sources of what a template brings along: no person's words, nor its own."""
        return [f"document:{name}" for name in dict.fromkeys(self._upstream.strangers)]

    def originals(self, messages: Sequence[BaseMessage]) -> dict[int, Any]:
        """Return what tools' outputs are in the state, where another middleware cleared them."""
        outputs = self._outputs
        return {
            at: outputs[message.id]
            for at, message in enumerate(messages)
            if message.id in outputs and outputs[message.id] != message.content
        }

    def mark(self, messages: Sequence[BaseMessage]) -> dict[int, Speaker]:
        """Return who speaks in human messages, where that is not the person."""
        said = said_by_anybody(messages)
        human = [
            (at, message) for at, message in enumerate(said) if not isinstance(message, _NOT_HUMAN)
        ]
        speakers: dict[int, Speaker] = {at: self._speaker(at, message) for at, message in human}
        # Whatever answers a tool's call is the tool's.
        speakers |= dict.fromkeys(_in_place_of_tools(said), "document")
        return {at: speaker for at, speaker in speakers.items() if speaker != "person"}

    def _speaker(self, at: int, message: BaseMessage) -> Speaker:
        told = message.additional_kwargs.get(AUTHOR)
        if told is not None:
            return _checked(told)
        if message.additional_kwargs.get(WRITTEN_BY) == SUMMARIZED:
            # It stands for messages, and may be all that is left of some: it is to be found.
            return "document"
        if self._in_subagent:
            return "model"
        if at in self._said:
            # In a node they may be a model's: the question of a tool's call, say.
            known = self._state is None or self._state.has(self._said[at])
            return "person" if known else "application"
        return "application" if self._wrote(message) else "person"

    def _wrote(self, message: BaseMessage) -> bool:
        # Such as a summary that stands for messages in a state.
        if self._unseen or message.additional_kwargs.get(WRITTEN_BY):
            return True
        if self._state is not None:
            return repr(message.content) not in self._state.messages
        return self._upstream.wrote(message)


def _in_place_of_tools(messages: Sequence[BaseMessage]) -> Iterator[int]:
    """Yield where human messages follow a call of a tool that nothing has answered."""
    for at, (before, message) in enumerate(pairwise(messages), start=1):
        called = isinstance(before, AIMessage) and before.tool_calls
        if called and not isinstance(message, _NOT_HUMAN):
            yield at


def _checked(told: object) -> Speaker:
    for speaker in _SPEAKERS:
        if told == speaker:
            return speaker
    allowed = ", ".join(_SPEAKERS)
    raise InvalidValue(f'additional_kwargs["{AUTHOR}"] is {told!r:.60}. Allowed: {allowed}.')


@dataclass(frozen=True, slots=True)
class _State:
    """What people said in the state of an agent or graph."""

    messages: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    """Its fields that are text."""

    def has(self, words: str) -> bool:
        return words in self.texts or repr(words) in self.messages


def _state_of(config: RunnableConfig | None) -> _State | None:
    """Return what is said in the state of the graph around the caller; None when there is none."""
    # A config that the caller made itself has no way to it.
    configs = (ensure_config(config), ensure_config(None))
    ways = (one["configurable"].get(_READ) for one in configs)
    read = next((way for way in ways if way is not None), None)
    if read is None:
        return _State() if in_node(config) else None
    try:
        # LangGraph's own ToolNode reads the whole state like this.
        values = read(list(read.args[1]))
        said = _said_in(message for value in values.values() for message in _messages(value))
        texts = frozenset(value for value in values.values() if isinstance(value, str))
        return replace(said, texts=texts)
    except Exception:  # noqa: BLE001 - it is not a public way, and must not stop a graph
        log.warning("the state of the graph cannot be read: nothing is learned in its nodes")
        return _State()


def _messages(value: object) -> Iterator[BaseMessage]:
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, BaseMessage))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from (one for one in _messages(inner) if not isinstance(inner, Mapping))


def _said_in(messages: Iterable[BaseMessage]) -> _State:
    human = (one for one in messages if not isinstance(one, _NOT_HUMAN))
    return _State(frozenset(repr(message.content) for message in human))

"""A memory for agents made with `create_agent`.

It changes what the model is sent and, unless asked, never the messages of the agent's state:
checkpoints hold what was said, each answer's provenance, and which messages a run began with.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage, SystemMessage

from ctxmw import ContextMiddleware, InvalidValue, MissingPackage, Session

from .authors import Authors
from .call import ModelCall, NewCall
from .conversations import Conversations
from .nesting import placed_by, said_by_people
from .open_calls import OpenCalls
from .room import Room, room_of
from .tools import tools_of

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ExtendedModelResponse
    from langgraph.graph.message import REMOVE_ALL_MESSAGES
    from langgraph.types import Command

    from .heard import HeardState, heard_at_the_start, said_by_the_person
except ImportError as error:
    raise MissingPackage(
        'agents need langchain and langgraph: pip install "ctxmw[agents]"'
    ) from error

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Rewriting = ExtendedModelResponse[Any]


class ContextAgentMiddleware(AgentMiddleware[Any, Any, Any]):
    """Brings what matters into every model call of an agent, and the memory's tools with it."""

    state_schema = HeardState

    def __init__(
        self,
        ctx: ContextMiddleware,
        *,
        session: Session | None = None,
        project: str | None = None,
        cwd: str | Path | None = None,
        name: str = "ContextAgentMiddleware",
        tools: bool | Sequence[str] = True,
        rewrite_state: bool = False,
        learn: bool = True,
    ) -> None:
        """Make it for a memory; several in one agent need different names.

        `project` and `cwd` say where its conversations take place; a call can say it instead, in
        its `configurable` or its `context=`.

        `tools` says which of mem_search, mem_get, memory_context, remember and forget the agent is
        given: all of them, none (False), or those of these names. `learn=False`: nothing is learned
        from what this agent is told, as for a grader or another helper. A conversation that grew
        too long is compacted in what the model sees; with `rewrite_state=True` in the agent's state
        too, so that checkpoints stay small: what leaves it is in the memory.
        """
        super().__init__()
        _check_flags(name, rewrite_state=rewrite_state)
        self._rewrite_state = rewrite_state
        self._rooms = Rooms()
        self._answers = OpenCalls()
        """Calls whose answers may still be changed in the state, until the agent is done."""
        self._ctx = ctx
        self._conversations = Conversations(ctx, session, learn=learn, project=project, cwd=cwd)
        self._name = name
        self.tools = tools_of(self._conversations, tools)

    def __repr__(self) -> str:
        return f"{self._name}({self._ctx!r})"

    @property
    def name(self) -> str:
        return self._name

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Keep which messages are the person's: what comes while the agent runs is not."""
        return heard_at_the_start(state)

    def wrap_model_call(
        self, request: Request, handler: Callable[[Request], Response]
    ) -> Response | Rewriting:
        call = self._new_call(request).begin()
        with call.watched, placed_by(self._ctx, call.placed):
            response = handler(_placed(request, call))
        return self._kept(request, call, response)

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> Response | Rewriting:
        call = await self._new_call(request).abegin()
        async with call.watched:
            with placed_by(self._ctx, call.placed):
                response = await handler(await call.off_loop(_placed, request, call))
        return await call.off_loop(self._kept, request, call, response)

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Keep the answer as the state has it: others may have taken something out of it."""
        for call, reply in self._waiting(state["messages"]):
            call.answered(reply)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Async twin of `after_agent`."""
        for call, reply in self._waiting(state["messages"]):
            await call.off_loop(call.answered, reply)

    def _new_call(self, request: Request) -> NewCall:
        prompt = _prompt(request)
        said = said_by_people(self._ctx, prompt)
        authors = Authors(None, state=said_by_the_person(request.state))
        chat, room = self._conversations.of(None), self._rooms(request)
        return NewCall(chat, prompt, said, room=room, authors=authors)

    def _kept(self, request: Request, call: ModelCall, response: Response) -> Response | Rewriting:
        """Keep the answer in a response; return the response with its provenance on it."""
        reply = _last_answer(response.result)
        if reply:
            reply, response = _named(reply, response)
            response = _with(response, reply, call.answered(reply, capture=False))
            self._answers.put(call, reply.id)
        if not self._rewrite_state:
            return response
        return _rewriting(response, call.in_view(request.state["messages"]))

    def _waiting(self, messages: Sequence[AnyMessage]) -> Iterator[tuple[ModelCall, AIMessage]]:
        """Yield the answer of an agent that is done, where it waited, and its call."""
        reply = _last_answer(messages)
        call = self._answers.take(self._conversations.of(None), reply.id) if reply else None
        if reply and call:
            yield call, reply


class Rooms:
    """The room of the last request: an agent offers the same tools again and again."""

    def __init__(self) -> None:
        self._last: tuple[Any, Any, list[Any], Room] | None = None

    def __call__(self, request: Request) -> Room:
        last = self._last
        same = last and last[0] is request.model and last[1] == request.tool_choice
        if last and same and _same(last[2], request.tools):
            return last[3]
        room = room_of(request.model, request.tools, request.tool_choice)
        self._last = (request.model, request.tool_choice, list(request.tools), room)
        return room


def _check_flags(name: object, **flags: object) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidValue(f"name is {name!r:.60}: give text.")
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidValue(f"{flag} is {value!r:.60}: give True or False.")


def _same(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return len(before) == len(after) and all(map(operator.is_, before, after))


def _rewriting(response: Response, messages: list[AnyMessage] | None) -> Response | Rewriting:
    if messages is None:
        return response
    state = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages, *response.result]
    return ExtendedModelResponse(
        model_response=response, command=Command(update={"messages": state})
    )


def _placed(request: Request, call: ModelCall) -> Request:
    """Return the request as the model is sent it."""
    system, messages = _split(call.messages)
    if request.system_message is None and system is not None:
        system = _cached(system, request.model_settings.get("cache_control"))
    return request.override(
        system_message=system, messages=messages, tools=list(call.bound(request.tools))
    )


def _prompt(request: Request) -> list[AnyMessage]:
    opening = [request.system_message] if request.system_message is not None else []
    return [*opening, *request.messages]


def _split(messages: Sequence[AnyMessage]) -> tuple[SystemMessage | None, list[AnyMessage]]:
    if messages and isinstance(messages[0], SystemMessage):
        return messages[0], list(messages[1:])
    return None, list(messages)


def _cached(system: SystemMessage, control: Any) -> SystemMessage:
    # A middleware that marks what the provider may cache ran before there was a system prompt.
    if not control or not isinstance(system.content, str):
        return system
    part = {"type": "text", "text": system.content, "cache_control": control}
    return system.model_copy(update={"content": [part]})


def _named(reply: AIMessage, response: Response) -> tuple[AIMessage, Response]:
    """Return an answer by whose id it is known again in the state."""
    if reply.id:
        return reply, response
    named = reply.model_copy(update={"id": str(uuid4())})
    return named, _with(response, reply, named)


def _last_answer(messages: Sequence[BaseMessage]) -> AIMessage | None:
    answers = (message for message in reversed(messages) if isinstance(message, AIMessage))
    return next(answers, None)


def _with(response: Response, reply: AIMessage, marked: AIMessage) -> Response:
    result = [marked if message is reply else message for message in response.result]
    return replace(response, result=result)

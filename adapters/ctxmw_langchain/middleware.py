"""A memory for agents made with `create_agent`.

It changes what the model is sent and never the agent's state: checkpoints hold what was said, and
each answer's provenance.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage

from ctxmw import ContextMiddleware, MissingPackage, Session

from .call import ModelCall
from .conversations import Conversations
from .nesting import placed_by, said_by_people
from .tools import tools_of

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
except ImportError as error:
    raise MissingPackage(
        'agents need langchain and langgraph: pip install "ctxmw[agents]"'
    ) from error

Request = ModelRequest[Any]
Response = ModelResponse[Any]


class ContextAgentMiddleware(AgentMiddleware[Any, Any, Any]):
    """Brings what matters into every model call of an agent, and the memory's tools with it."""

    def __init__(
        self,
        ctx: ContextMiddleware,
        *,
        session: Session | None = None,
        name: str = "ContextAgentMiddleware",
        tools: bool = True,
    ) -> None:
        """Make it for a memory; several in one agent need different names.

        `tools=False`: without mem_search, mem_get and memory_context.
        """
        super().__init__()
        self._ctx = ctx
        self._conversations = Conversations(ctx, session)
        self._name = name
        self.tools = tools_of(self._conversations) if tools else []

    @property
    def name(self) -> str:
        return self._name

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Response]) -> Response:
        prompt = _prompt(request)
        said = said_by_people(self._ctx, prompt)
        call = ModelCall.begin(self._conversations.of(None), prompt, said)
        try:
            with placed_by(self._ctx, call.placed):
                response = handler(_placed(request, call, call.bound(_names(request))))
        except BaseException as error:
            call.ended(error)
            raise
        reply = _reply(response)
        return _with(response, reply, call.answered(reply)) if reply else response

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        prompt = _prompt(request)
        said = said_by_people(self._ctx, prompt)
        call = await ModelCall.abegin(self._conversations.of(None), prompt, said)
        try:
            with placed_by(self._ctx, call.placed):
                bound = await call.abound(_names(request))
                response = await handler(_placed(request, call, bound))
        except BaseException as error:
            await call.aended(error)
            raise
        reply = _reply(response)
        return _with(response, reply, await call.aanswered(reply)) if reply else response


def _placed(request: Request, call: ModelCall, bound: Sequence[str]) -> Request:
    system, messages = _split(call.messages)
    if request.system_message is None and system is not None:
        system = _cached(system, request.model_settings.get("cache_control"))
    return request.override(
        system_message=system, messages=messages, tools=_bound(request.tools, bound)
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


def _bound(tools: list[Any], names: Sequence[str]) -> list[Any]:
    by_name = {_name(tool): tool for tool in tools}
    return [by_name[name] for name in names] if list(by_name) != list(names) else tools


def _names(request: Request) -> list[str]:
    return list(dict.fromkeys(_name(tool) for tool in request.tools))


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type"))
    return str(tool.name)


def _reply(response: Response) -> AIMessage | None:
    answers = [message for message in response.result if isinstance(message, AIMessage)]
    return answers[-1] if answers else None


def _with(response: Response, reply: AIMessage, marked: AIMessage) -> Response:
    result = [marked if message is reply else message for message in response.result]
    return replace(response, result=result)

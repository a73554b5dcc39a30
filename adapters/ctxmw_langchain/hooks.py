"""A memory for agents and graphs that take a hook before the model instead of a middleware."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from ctxmw import ContextMiddleware, Session

from .authors import Authors
from .call import ModelCall, NewCall
from .conversations import Conversations
from .open_calls import OpenCalls
from .room import Room

State = dict[str, Any]


def pre_model_hook(
    ctx: ContextMiddleware,
    *,
    session: Session | None = None,
    project: str | None = None,
    cwd: str | Path | None = None,
    learn: bool = True,
) -> PreModelHook:
    """Return the hook: `create_react_agent(..., pre_model_hook=hook, post_model_hook=hook.after)`.

    The prompt goes under `llm_input_messages`; the conversation in `messages` stays as it is. Give
    `hook.after` too, or answers are not kept. A checkpointer keeps `llm_input_messages` as well;
    `prompt=hook.prompt` instead of `pre_model_hook=hook` leaves nothing in checkpoints. With
    `learn=False` nothing is learned from what is said. `project` and `cwd`: as `with_context`.
    """
    return PreModelHook(Conversations(ctx, session, learn=learn, project=project, cwd=cwd))


class PreModelHook(Runnable[State, State]):
    """Prepares what the model is sent; `after` keeps what it answered."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._calls = OpenCalls()

    @property
    def after(self) -> Runnable[State, State]:
        """The hook for after the model: closes the call with the answer in the state."""
        return RunnableLambda(self._answered, self._aanswered, name="memory_after_model")

    @property
    def prompt(self) -> Runnable[State, list[AnyMessage]]:
        """The same as what `create_react_agent` takes as `prompt`: the messages to send."""
        return self | itemgetter("llm_input_messages")

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> State:
        return self._sent(self._new_call(input, config).begin())

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> State:
        return self._sent(await self._new_call(input, config).abegin())

    def _new_call(self, state: State, config: RunnableConfig | None) -> NewCall:
        messages = state["messages"]
        authors = Authors(config, state=messages)
        return NewCall(self._conversations.of(config), messages, room=Room(), authors=authors)

    def _sent(self, call: ModelCall) -> State:
        self._calls.put(call)
        return {"llm_input_messages": call.messages}

    def _answered(self, state: State, config: RunnableConfig) -> State:
        call = self._calls.take(self._conversations.of(config))
        return _kept(call, state) if call else {}

    async def _aanswered(self, state: State, config: RunnableConfig) -> State:
        call = self._calls.take(self._conversations.of(config))
        return await call.off_loop(_kept, call, state) if call else {}


def _kept(call: ModelCall, state: State) -> State:
    reply = state["messages"][-1]
    return {"messages": [call.answered(reply)]} if isinstance(reply, AIMessage) else {}

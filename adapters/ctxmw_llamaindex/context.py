"""`with_context`: one way in, whatever is wrapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import LLM

from ctxmw import ContextMiddleware, InvalidValue, Session

from .agent import ContextAgent, wrap_agent, wrap_workflow
from .binding import Binding
from .engine import ContextEngine, wrap_engine, wrap_model
from .llm import ContextModel

T = TypeVar("T", bound=BaseChatEngine | BaseWorkflowAgent | AgentWorkflow | LLM)


def with_context(
    target: T,
    ctx: ContextMiddleware,
    *,
    session: Session | str | None = None,
    user: str | None = None,
    project: str | None = None,
    cwd: str | Path | None = None,
    learn: bool = True,
) -> T:
    """Return a chat engine, agent, workflow of agents or model with a memory.

    The target stays as it is and `.unwrap()` gives it back. Calls belong to the conversation of
    `with chat:` around them, else to the one given here (itself, or its id and user), else to one
    of the wrapper's own. Where a user is given, a `with chat:` of another user does not count. A
    bare model has none of its own, and captures nothing: what it is asked may be no turn at all.
    `project` and `cwd` say where its conversations take place. A run's `Context` can say all of
    that instead: its `store` may hold user_id, session_id, project and cwd.
    With `learn=False` nothing is learned from what is said, nor found later.
    """
    if isinstance(target, ContextModel | ContextEngine | ContextAgent):
        target = cast("T", target.unwrap())
    own = None if isinstance(target, LLM) else f"chat-{uuid4().hex}"
    place: dict[str, Any] = {"project": project, "cwd": cwd}
    binding = Binding(
        ctx=ctx, session=session, user=user, own=own, original=target, learn=learn, **place
    )
    return cast("T", _wrap(target, binding))


def _wrap(target: object, binding: Binding) -> object:
    if isinstance(target, LLM):
        return wrap_model(target, binding)
    if isinstance(target, BaseWorkflowAgent):
        return wrap_agent(target, binding)
    if isinstance(target, AgentWorkflow):
        return wrap_workflow(target, binding)
    if isinstance(target, BaseChatEngine):
        return wrap_engine(target, binding)
    raise InvalidValue(
        f"{type(target).__name__} cannot be wrapped. Give a chat engine, a FunctionAgent, "
        "a ReActAgent, an AgentWorkflow or an LLM."
    )

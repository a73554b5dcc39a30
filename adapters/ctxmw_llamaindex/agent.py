"""An agent or a workflow of agents with a memory: each run is a turn of a conversation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from llama_index.core.agent.workflow import AgentOutput, AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.workflow import StartEvent

from .binding import Binding
from .buffer import counted_from_the_end
from .callers import said_by
from .engine import wrap_model
from .turn import Turn, current_turn
from .wrapping import wrapped

if TYPE_CHECKING:
    from llama_index.core.workflow import Workflow
    from workflows.events import StopEvent
    from workflows.handler import WorkflowHandler
else:
    Workflow = object

Agent = BaseWorkflowAgent | AgentWorkflow


class NotingAgent(Workflow):
    """An agent whose turn is told where its messages are kept, and which tools have failed."""

    async def _init_context(self, ctx: Any, ev: Any) -> None:
        """Go on as the agent does, with a buffer whose cost does not grow with the conversation."""
        await cast("Any", super())._init_context(ctx, ev)
        memory = await ctx.store.get("memory")
        if (quick := counted_from_the_end(memory)) is not memory:
            await ctx.store.set("memory", quick)

    async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
        """Note the memory, then go on as the agent does."""
        if turn := current_turn():
            turn.memory = memory
        return await cast("Any", super()).take_step(ctx, llm_input, tools, memory)

    async def handle_tool_call_results(self, ctx: Any, results: Any, memory: Any) -> None:
        """Note the failures, then go on as the agent does."""
        if turn := current_turn():
            turn.failed.update(one.tool_id for one in results if one.tool_output.is_error)
        await cast("Any", super()).handle_tool_call_results(ctx, results, memory)


class ContextAgent(NotingAgent):
    """What `with_context` adds to the class of an agent or a workflow of agents."""

    if TYPE_CHECKING:
        _ctxmw: Binding

    def unwrap(self) -> Agent:
        """Return the agent that was wrapped."""
        original: Agent = self._ctxmw.original
        return original

    def run(self, *args: Any, **kwargs: Any) -> WorkflowHandler:
        agent = cast("Workflow", super())
        name = getattr(self, "name", None) or type(self._ctxmw.original).__name__
        chat = self._ctxmw.chat(said_by((*args, *kwargs.values())))
        turn = Turn(chat, _asked(args, kwargs), name=str(name))
        with turn.entered():
            handler = agent.run(*args, **kwargs)
        # Whoever awaits the handler awaits this task, and so the record.
        follower = asyncio.create_task(_follow(handler._result_task, turn))
        follower.add_done_callback(_retrieve)
        handler._result_task = follower
        return handler


def wrap_agent(agent: BaseWorkflowAgent, binding: Binding) -> BaseWorkflowAgent:
    """Return the agent with a memory."""
    twin = wrapped(agent, ContextAgent, binding)
    twin.llm = wrap_model(agent.llm, binding)
    return twin


def wrap_workflow(workflow: AgentWorkflow, binding: Binding) -> AgentWorkflow:
    """Return the workflow with a memory, which all its agents share."""
    twin = wrapped(workflow, ContextAgent, binding)
    twin.agents = {name: _with_model(agent, binding) for name, agent in workflow.agents.items()}
    return twin


def _with_model(agent: BaseWorkflowAgent, binding: Binding) -> BaseWorkflowAgent:
    twin = wrapped(agent, NotingAgent, binding)
    twin.llm = wrap_model(agent.llm, binding)
    return twin


async def _follow(run: asyncio.Task[StopEvent], turn: Turn) -> StopEvent:
    async with turn.watched:
        stop = await run
    await turn.chat.off_loop(turn.finish, str(stop.result))
    if turn.metadata and isinstance(stop.result, AgentOutput):
        # An event takes any attribute, and keeps it when it is serialized.
        stop.result.metadata = {"ctxmw": turn.metadata}
    return stop


def _retrieve(task: asyncio.Task[Any]) -> None:
    # A run whose result nobody awaits must not be reported as an error nobody saw.
    if not task.cancelled():
        task.exception()


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return what the user says in this run: `run` takes it in several ways."""
    given = (*args, *kwargs.values())
    start = next((value for value in given if isinstance(value, StartEvent)), StartEvent())
    said = kwargs.get("user_msg") or start.get("user_msg") or next(iter(args), None)
    if isinstance(said, str):
        return said
    if isinstance(said, ChatMessage):
        return said.content or ""
    listed = next((value for value in args if isinstance(value, list)), [])
    history = kwargs.get("chat_history") or start.get("chat_history") or listed
    users = [message for message in history if message.role == MessageRole.USER]
    return (users[-1].content or "") if users else ""

"""What holds beside LangChain's own middleware, in whatever order they stand."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
)
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw_langchain import ContextAgentMiddleware
from tests.langchain.conftest import KNOWN
from tests.langchain.models import RecordingModel


@tool
def look(query: str) -> str:
    """Look something up."""
    return f"found {query}"


def summarization() -> Any:
    return SummarizationMiddleware(
        RecordingModel(otherwise="They talked."), trigger=("messages", 6), keep=("messages", 2)
    )


OTHERS = {
    "summarization": summarization,
    "human_in_the_loop": lambda: HumanInTheLoopMiddleware(interrupt_on={"look": True}),
    "pii": lambda: PIIMiddleware("email"),
    "context_editing": ContextEditingMiddleware,
    "anthropic_caching": lambda: AnthropicPromptCachingMiddleware(
        unsupported_model_behavior="ignore"
    ),
}


@pytest.mark.parametrize("first", ["memory", "other"])
@pytest.mark.parametrize("name", OTHERS)
def test_the_memory_arrives_once_in_every_call_and_what_was_said_is_kept(name, first, ctx):
    model = RecordingModel()
    memory, other = ContextAgentMiddleware(ctx), OTHERS[name]()
    ordered = [memory, other] if first == "memory" else [other, memory]
    agent = create_agent(model, tools=[look], middleware=ordered, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t1"}}
    for number in range(5):
        agent.invoke({"messages": [HumanMessage(f"Question {number} about tokens?")]}, config)
    assert [text.count(KNOWN) for text in model.texts()] == [1] * 5
    # Nothing of ours is in the agent's own state.
    state = agent.get_state(config).values["messages"]
    assert all(KNOWN not in str(message.content) for message in state)
    asked = [one.asked for one in ctx.session("t1").transcript() if one.asked]
    # A summary of another middleware's counts as the application's words.
    said = [turn.text for turn in asked if turn.author == "person"]
    assert said == [f"Question {number} about tokens?" for number in range(5)]


@pytest.mark.parametrize("first", ["memory", "other"])
def test_what_pii_takes_out_is_not_stored(first, ctx):
    memory, other = ContextAgentMiddleware(ctx), PIIMiddleware("email")
    ordered = [memory, other] if first == "memory" else [other, memory]
    agent = create_agent(RecordingModel(), middleware=ordered)
    agent.invoke({"messages": [HumanMessage("Write to ada@example.org.")]})
    assert ctx.search("ada@example.org") == []

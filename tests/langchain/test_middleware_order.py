"""What holds beside LangChain's own middleware is what the documentation's table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    PIIMiddleware,
    ToolCallRequest,
    wrap_tool_call,
)
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw_langchain import ContextAgentMiddleware
from tests.langchain.models import RecordingModel, calling
from tests.langchain.orders import PROMISES, SAID, SCENES, look_up, play

PAGE = Path(__file__).parents[2] / "docs" / "middleware.md"
ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)
HEAD, _, *ROWS = (row.split(" | ") for row in ROW.findall(PAGE.read_text("utf-8")))
TABLE = {name: dict(zip(HEAD[1:], cells, strict=True)) for name, *cells in ROWS}
ORDERS = ("first", "last")


def test_the_table_tells_of_all_that_is_tried():
    assert list(TABLE) == list(SCENES)
    assert HEAD[1:] == list(PROMISES)


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
@pytest.mark.parametrize("name", SCENES)
def test_what_the_table_says_holds_and_what_it_denies_does_not(name, how):
    played = {order: play(name, order, how) for order in ORDERS}
    held = {
        promise: {order for order in ORDERS if holds(played[order])}
        for promise, holds in PROMISES.items()
    }
    assert {promise: _word(orders) for promise, orders in held.items()} == TABLE[name]


def _word(orders: set[str]) -> str:
    return {0: "no", 2: "yes"}.get(len(orders)) or min(orders)


@pytest.mark.parametrize("first", ["memory", "other"])
def test_what_pii_takes_out_is_not_stored(first, ctx):
    memory, other = ContextAgentMiddleware(ctx), PIIMiddleware("email")
    ordered = [memory, other] if first == "memory" else [other, memory]
    agent = create_agent(RecordingModel(), middleware=ordered)
    agent.invoke({"messages": [HumanMessage("Write to ada@example.org.")]})
    assert ctx.search("ada@example.org") == []


@pytest.mark.parametrize("keep", [0, 1])
def test_a_tools_output_that_is_cleared_on_the_way_is_kept_as_it_was_and_nothing_twice(ctx, keep):
    calls = [calling("look_up", {"topic": f"topic {at}"}, f"call_{at}") for at in range(4)]
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=keep)])
    numbers = iter(range(9))

    @wrap_tool_call
    def answering(request: ToolCallRequest, handler):
        return handler(request).model_copy(update={"content": f"Result {next(numbers)}."})

    model = RecordingModel(script=calls, otherwise="Done.")
    agent = create_agent(
        model,
        tools=[look_up],
        middleware=[answering, clearing, ContextAgentMiddleware(ctx)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "t1"}}
    agent.invoke({"messages": [HumanMessage(SAID[1])]}, config)
    agent.invoke({"messages": [HumanMessage("Thanks.")]}, config)
    told = ctx.session("t1").transcript()
    turns = [turn for one in told for turn in (one.asked, *one.said)]
    outputs = [turn.text for turn in turns if turn.role == "tool"]
    assert outputs == [f"Result {at}." for at in range(4)]
    assert [turn.text for turn in turns if turn.role == "user"] == [SAID[1], "Thanks."]
    assert "[cleared]" in model.texts()[-1]

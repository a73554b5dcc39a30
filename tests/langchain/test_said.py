"""What a person said through LangChain is kept whatever became of the call; what others took out
of an agent's state is not."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw.protocols import Find
from ctxmw_langchain import ContextAgentMiddleware, with_context
from tests.langchain.models import RecordingModel, calling
from tests.langchain.test_authors import learned, said

SEATS = "I prefer window seats."
THREAD: Any = {"configurable": {"thread_id": "one"}}


def test_words_of_a_failed_call_are_kept(ctx):
    model = with_context(RecordingModel(script=[RuntimeError("500")]), ctx)
    with pytest.raises(RuntimeError):
        model.invoke([HumanMessage(SEATS)], THREAD)
    assert (list(said(ctx)), learned(ctx)) == ([SEATS], [SEATS])
    model.invoke([HumanMessage(SEATS), HumanMessage("Book a flight.")], THREAD)
    assert sorted(said(ctx)) == sorted([SEATS, "Book a flight.", "It verifies the token."])


async def test_words_of_a_failed_agent_are_kept(ctx):
    model = RecordingModel(script=[RuntimeError("500")])
    agent = create_agent(model, middleware=[ContextAgentMiddleware(ctx)])
    with pytest.raises(RuntimeError):
        await agent.ainvoke({"messages": [HumanMessage(SEATS)]}, THREAD)
    assert (list(said(ctx)), learned(ctx)) == ([SEATS], [SEATS])


def test_words_of_a_closed_stream_are_kept_without_half_an_answer(ctx):
    stream = with_context(RecordingModel(), ctx).stream([HumanMessage(SEATS)], THREAD)
    next(stream)
    stream.close()
    assert (list(said(ctx)), learned(ctx)) == ([SEATS], [SEATS])


async def test_words_of_a_closed_async_stream_are_kept_without_half_an_answer(ctx):
    stream = with_context(RecordingModel(), ctx).astream([HumanMessage(SEATS)], THREAD)
    await anext(stream)
    await stream.aclose()
    assert (list(said(ctx)), learned(ctx)) == ([SEATS], [SEATS])


def test_a_thread_from_before_there_was_a_memory_is_kept(ctx):
    saver = InMemorySaver()
    create_agent(RecordingModel(), checkpointer=saver).invoke(
        {"messages": [HumanMessage(SEATS)]}, THREAD
    )
    agent = create_agent(
        RecordingModel(), middleware=[ContextAgentMiddleware(ctx)], checkpointer=saver
    )
    agent.invoke({"messages": [HumanMessage("And now?")]}, THREAD)
    assert SEATS in said(ctx)
    assert learned(ctx) == [SEATS]


def test_an_agents_steps_and_answer_are_kept_once_and_in_order(ctx):
    @tool
    def look(what: str) -> str:
        """Look something up."""
        return f"{what}: 8443"

    model = RecordingModel(script=[calling("look", {"what": "port"}), "It is 8443."])
    agent = create_agent(
        model, [look], middleware=[ContextAgentMiddleware(ctx)], checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [HumanMessage("Which port?")]}, THREAD)
    agent.invoke({"messages": [HumanMessage("Thanks.")]}, THREAD)
    exchanges = ctx.session("one").transcript()
    assert [exchange.asked.text for exchange in exchanges] == ["Which port?", "Thanks."]
    told = [turn.says() for exchange in exchanges for turn in exchange.said]
    assert told == ['look({"what": "port"})', "port: 8443", "It is 8443.", "It verifies the token."]
    assert all(exchange.records[-1].reply for exchange in exchanges)


# -- what others take out of the state --------------------------------------------------------

HOST, CARD = "10.9.8.7", "4111 1111 1111 1111"


def everything(ctx) -> str:
    return "\n".join(row.body for row in ctx.store.query("local", Find(live=None)))


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("strategy", ["redact", "mask", "hash"])
def test_what_pii_middleware_takes_out_is_stored_nowhere(ctx, order, strategy):
    options: Any = {"strategy": strategy, "apply_to_input": True, "apply_to_output": True}
    middleware = [
        PIIMiddleware("ip", **options, apply_to_tool_results=True),
        PIIMiddleware("credit_card", **options),
        ContextAgentMiddleware(ctx),
    ]

    @tool
    def look(what: str) -> str:
        """Look something up."""
        return f"It runs on {HOST}."

    model = RecordingModel(
        script=[calling("look", {"what": "host"}), f"Booked on {HOST}, paid with {CARD}."]
    )
    agent = create_agent(
        model,
        [look],
        middleware=[middleware[at] for at in order],
        checkpointer=InMemorySaver(),
    )
    words = f"I prefer to pay with {CARD}. Always book on {HOST}."
    agent.invoke({"messages": [HumanMessage(words)]}, THREAD)
    agent.invoke({"messages": [HumanMessage("Thanks.")]}, THREAD)
    kept = everything(ctx)
    assert HOST not in kept
    assert CARD not in kept
    assert "Booked on" in kept


@pytest.mark.parametrize("reverse", [False, True])
async def test_what_pii_middleware_takes_out_is_stored_nowhere_async(ctx, reverse):
    pii = PIIMiddleware("ip", strategy="redact", apply_to_output=True)
    middleware = [pii, ContextAgentMiddleware(ctx)]
    agent = create_agent(
        RecordingModel(script=[AIMessage(f"Booked on {HOST}.")]),
        middleware=middleware[::-1] if reverse else middleware,
    )
    await agent.ainvoke({"messages": [HumanMessage(f"Always book on {HOST}.")]}, THREAD)
    assert HOST not in everything(ctx)
    assert "Booked on [REDACTED_IP]." in said(ctx)


def test_an_answer_that_is_blocked_is_not_stored(ctx):
    pii = PIIMiddleware("ip", strategy="block", apply_to_output=True)
    agent = create_agent(
        RecordingModel(script=[f"Booked on {HOST}."]),
        middleware=[pii, ContextAgentMiddleware(ctx)],
    )
    with pytest.raises(Exception, match="ip"):
        agent.invoke({"messages": [HumanMessage(SEATS)]}, THREAD)
    assert HOST not in everything(ctx)
    assert learned(ctx) == [SEATS]

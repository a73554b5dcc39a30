"""Agents and graphs that take a hook before the model."""

from __future__ import annotations

import warnings

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.warnings import LangGraphDeprecatedSinceV10

from ctxmw_langchain import memory_tools, pre_model_hook
from tests.langchain.conftest import KNOWN
from tests.langchain.models import REPLY, RecordingModel, calling
from tests.langchain.shapes import QUESTION

THREAD = {"configurable": {"thread_id": "t1"}}
ASKED = {"messages": [HumanMessage(QUESTION)]}


def react_agent(model, ctx, *, as_prompt=False, **options):
    hook = pre_model_hook(ctx)
    before = {"prompt": hook.prompt} if as_prompt else {"pre_model_hook": hook}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangGraphDeprecatedSinceV10)
        return create_react_agent(
            model, memory_tools(ctx), post_model_hook=hook.after, **before, **options
        )


@pytest.mark.parametrize("as_prompt", [False, True])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_react_agent_gets_the_memory_and_its_answers_are_kept(how, as_prompt, ctx):
    model = RecordingModel(script=[calling("mem_search", {"query": "courier"})])
    saver = InMemorySaver()
    agent = react_agent(model, ctx, as_prompt=as_prompt, checkpointer=saver)
    if how == "invoke":
        said = agent.invoke(ASKED, THREAD)["messages"]
    else:
        said = (await agent.ainvoke(ASKED, THREAD))["messages"]
    assert [text.count(KNOWN) for text in model.texts()] == [1, 1]
    assert [message.type for message in said] == ["human", "ai", "tool", "ai"]
    assert said[0].content == QUESTION
    assert said[-1].content == REPLY
    chat = ctx.session("t1")
    assert [record.state for record in chat.history()] == ["answered", "answered"]
    assert ctx.why(said[-1].response_metadata["ctxmw"]["record"]).session == "t1"
    kept = agent.get_state(THREAD).values["messages"]
    assert not any(KNOWN in str(message.content) for message in kept)
    if as_prompt:
        assert KNOWN not in repr(list(saver.list(THREAD)))


async def test_a_hook_can_be_called_in_a_node_of_ones_own(ctx):
    hook = pre_model_hook(ctx, session=ctx.session("s1"))
    state = {"messages": [HumanMessage(QUESTION)]}
    for prompt in (hook.invoke(state), await hook.ainvoke(state)):
        system, question = prompt["llm_input_messages"]
        assert KNOWN in system.content
        assert question is state["messages"][0]


def test_an_answer_without_its_call_is_left_alone(ctx):
    hook = pre_model_hook(ctx)
    assert hook.after.invoke({"messages": [HumanMessage(QUESTION)]}) == {}

"""Agents and workflows of agents: one turn a run, whatever steps it takes."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import (
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context, Workflow

from ctxmw_llamaindex import memory_tools, with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.models import REPLY, RecordingLLM, calling

ASKED = "How do we sign tokens?"
THOUGHT = 'Thought: I look it up.\nAction: mem_search\nAction Input: {"query": "token"}'
ANSWER = f"Thought: I can answer without using any more tools.\nAnswer: {REPLY}"


def function_agent(ctx, streaming: bool) -> tuple[Workflow, RecordingLLM]:
    llm = RecordingLLM([calling("mem_search", {"query": "token"}), REPLY])
    tools = memory_tools(ctx)
    return FunctionAgent(llm=llm, tools=tools, system_prompt="Help.", streaming=streaming), llm


def react_agent(ctx, streaming: bool) -> tuple[Workflow, RecordingLLM]:
    llm = RecordingLLM([THOUGHT, ANSWER])
    return ReActAgent(llm=llm, tools=memory_tools(ctx), streaming=streaming), llm


def workflow(ctx, streaming: bool) -> tuple[Workflow, RecordingLLM]:
    llm = RecordingLLM([calling("handoff", {"to_agent": "writer", "reason": "write it"}), REPLY])
    common = {"llm": llm, "streaming": streaming}
    finder = FunctionAgent(name="finder", description="Finds.", system_prompt="Find.", **common)
    writer = FunctionAgent(name="writer", description="Writes.", system_prompt="Write.", **common)
    return AgentWorkflow(agents=[finder, writer], root_agent="finder"), llm


AGENTS = [function_agent, react_agent, workflow]


@pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "whole"])
@pytest.mark.parametrize("make", AGENTS, ids=lambda make: make.__name__)
async def test_every_step_of_a_run_has_the_same_block_and_the_answer_has_the_record(
    ctx, make, streaming
):
    agent, llm = make(ctx, streaming)
    wrapped = with_context(agent, ctx, session="s1")
    assert isinstance(wrapped, type(agent))
    memory = Memory.from_defaults(session_id="s1")
    handler = wrapped.run(user_msg=ASKED, memory=memory)
    streamed = [event async for event in handler.stream_events() if type(event) is AgentStream]
    answer = await handler

    assert str(answer) == REPLY
    assert bool(streamed) is streaming
    assert len(llm.prompts) == 2
    openings = set()
    for prompt in llm.prompts:
        (system,) = [message.content for message in prompt if message.role == MessageRole.SYSTEM]
        assert system.startswith("<ctxmw>\n")
        assert KNOWN in system
        openings.add(system.partition("</ctxmw>")[0])
    assert len(openings) == 1

    first, last = ctx.session("s1").history()
    assert (first.state, last.state) == ("answered", "answered")
    assert first.turn == last.turn
    assert first.part_build == last.part_build
    assert answer.metadata["ctxmw"]["record"] == last.ref
    assert ctx.why(REPLY).ref == last.ref
    kept = [message.content or "" for message in await memory.aget_all()]
    assert not any(last.stable in text or (last.part and last.part in text) for text in kept)
    assert wrapped.unwrap() is agent


@pytest.mark.parametrize("make", AGENTS, ids=lambda make: make.__name__)
async def test_the_question_is_searched_for_and_not_what_a_template_or_a_tool_makes_of_it(
    ctx, make
):
    ctx.remember("Observation posts are painted green.", kind="fact", key="noise")
    agent, _ = make(ctx, False)
    if isinstance(agent, AgentWorkflow):
        agent.initial_state = {"observation": "posts painted green"}
    wrapped = with_context(agent, ctx, session="s1")
    await wrapped.run(user_msg=ASKED, memory=Memory.from_defaults(session_id="s1"))
    turns = [record.record for record in ctx.search(ASKED, kinds=["turn"])]
    (question,) = [turn for turn in turns if turn.role == "user"]
    assert question.text == ASKED
    assert len({record.turn for record in ctx.session("s1").history()}) == 1


async def test_the_thoughts_of_a_step_are_no_answer_and_an_observation_is_not_the_users_word(ctx):
    def look_up(query: str) -> str:
        """Look something up."""
        return "found in view"

    llm = RecordingLLM([THOUGHT.replace("mem_search", "look_up"), ANSWER])
    agent = ReActAgent(llm=llm, tools=[look_up], streaming=False)
    wrapped = with_context(agent, ctx, session="s1")
    await wrapped.run(user_msg=ASKED, memory=Memory.from_defaults(session_id="s1"))
    words = f"{ASKED} {ANSWER} {THOUGHT} Observation found in view"
    turns = [hit.record for hit in ctx.search(words, kinds=["turn"])]
    said = {(turn.role, turn.trust) for turn in turns}
    assert ("tool", "untrusted") in said
    assert [turn.source for turn in turns if turn.role == "tool"] == ["tool:look_up"]
    assert [turn.text for turn in turns if turn.role == "assistant"].count(REPLY) == 1
    assert [turn.text for turn in turns if turn.role == "user"] == [ASKED]


@pytest.mark.parametrize("make", [function_agent, react_agent], ids=lambda make: make.__name__)
async def test_what_our_own_tools_answer_is_not_kept_as_something_said(ctx, make):
    agent, llm = make(ctx, False)
    wrapped = with_context(agent, ctx, session="s1")
    await wrapped.run(user_msg=ASKED, memory=Memory.from_defaults(session_id="s1"))
    assert len(llm.prompts) == 2
    words = f"{ASKED} {REPLY} {KNOWN} Observation found in view"
    turns = [hit.record for hit in ctx.search(words, kinds=["turn"], limit=50)]
    assert {turn.role for turn in turns} == {"user", "assistant"}


async def test_mem_search_answers_in_the_conversation_of_the_run(server):
    for user, often in (("ada", "weekly"), ("bob", "daily")):
        said = {"role": "user", "content": f"The keys rotate {often}."}
        server.session("earlier", user=user).capture([said])
    llm = RecordingLLM([calling("mem_search", {"query": "keys rotate"}), REPLY])
    agent = with_context(FunctionAgent(llm=llm, tools=memory_tools(server)), server)
    with server.session("s1", user="ada"):
        await agent.run(user_msg="Hello there")
    (result,) = [message for message in llm.prompts[1] if message.role == MessageRole.TOOL]
    assert "The keys rotate weekly." in result.content
    assert "daily" not in result.content


async def test_a_second_run_goes_on_with_the_conversation(ctx):
    llm = RecordingLLM()
    agent = with_context(FunctionAgent(llm=llm), ctx)
    run = Context(agent)
    await agent.run(user_msg="My dog is called Rex.", ctx=run)
    await agent.run(user_msg="What is it called?", ctx=run)
    assert [message.role for message in llm.prompts[1]] == ["system", "user", "assistant", "user"]
    assert len({record.session for record in ctx.session(ctx.sessions()[0].session).history()}) == 1
    assert len(ctx.sessions()) == 1


async def test_runs_without_a_context_are_recalled_with_each_answer_at_its_question(ctx):
    said = {
        "Which port has production?": "Production has the port 8443.",
        "Which port has staging?": "Staging has the port 9000.",
    }
    agent = with_context(FunctionAgent(llm=RecordingLLM(list(said.values()))), ctx)
    with ctx.session("ports"):
        for question in said:
            await agent.run(user_msg=question)
    asked = {"role": "user", "content": "Which ports have production and staging?"}
    part = ctx.session("another").prepare([asked]).context.part
    lines = [line for line in part.splitlines() if line.startswith(("- user", "- assistant"))]
    assert lines == [
        line for q, answer in said.items() for line in (f"- user: {q}", f"- assistant: {answer}")
    ]


async def test_runs_of_several_users_on_one_agent_do_not_cross(server):
    llm = RecordingLLM()
    agent = with_context(FunctionAgent(llm=llm), server)

    async def ask(user: str) -> str:
        with server.session(f"chat of {user}", user=user):
            return (await agent.run(user_msg=f"What is my colour, {user}?")).metadata["ctxmw"][
                "record"
            ]

    records = await asyncio.gather(*(ask(user) for user in ("ada", "bob") * 4))
    for prompt in llm.prompts:
        text = "\n".join(message.content or "" for message in prompt)
        user = "ada" if "my colour, ada" in text else "bob"
        other = "bob" if user == "ada" else "ada"
        assert f"{user}-blue" in text
        assert f"{other}-blue" not in text
    for user, ref in zip(("ada", "bob") * 4, records, strict=True):
        assert server.why(ref, user=user).session == f"chat of {user}"


async def test_a_run_that_fails_is_raised_and_its_call_is_on_record(ctx):
    agent = with_context(
        FunctionAgent(llm=RecordingLLM([ValueError("no quota")])), ctx, session="s1"
    )
    with pytest.raises(ValueError, match="no quota"):
        await agent.run(user_msg=ASKED)
    (record,) = ctx.session("s1").history()
    assert (record.state, record.error) == ("failed", "ValueError: no quota")


async def test_a_wrapped_agent_can_be_a_member_of_a_workflow(ctx):
    llm = RecordingLLM()
    member = with_context(FunctionAgent(llm=llm), ctx)
    with ctx.session("s1"):
        await AgentWorkflow(agents=[member]).run(user_msg=ASKED)
    assert KNOWN in llm.prompts[0][0].content
    assert isinstance(member.llm, LLM)


@pytest.mark.parametrize(
    "given",
    [
        ((ASKED,), {}),
        ((ChatMessage(content=ASKED),), {}),
        ((), {"chat_history": [ChatMessage(content="Hello"), ChatMessage(content=ASKED)]}),
        ((None, [ChatMessage(content=ASKED)]), {}),
    ],
    ids=["positional", "message", "history", "positional history"],
)
async def test_the_question_is_found_however_a_run_is_given_it(ctx, given):
    agent = with_context(FunctionAgent(llm=RecordingLLM()), ctx, session="s1")
    args, kwargs = given
    await agent.run(*args, **kwargs)
    assert ASKED in [hit.text for hit in ctx.search(ASKED, kinds=["turn"])]


async def test_what_waited_has_arrived_with_the_first_step_even_if_the_next_one_fails(ctx):
    chat = ctx.session("s1")
    chat.collect("lint", "1", "Line 4 is too long.")
    llm = RecordingLLM([THOUGHT, ValueError("no quota")])
    agent = ReActAgent(llm=llm, tools=memory_tools(ctx), streaming=False)
    with pytest.raises(ValueError, match="no quota"):
        await with_context(agent, ctx, session="s1").run(user_msg=ASKED)
    assert all("Line 4 is too long." in str(prompt) for prompt in llm.prompts)
    assert chat.pending() == []
    assert [record.state for record in chat.history()] == ["answered", "failed"]

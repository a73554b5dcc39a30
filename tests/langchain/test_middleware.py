"""An agent with a memory: what its model is sent, what its state keeps, and what it may call."""

from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw_langchain import ContextAgentMiddleware, with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.models import REPLY, RecordingModel, calling
from tests.langchain.shapes import QUESTION, Verdict

ASKED = {"messages": [HumanMessage(QUESTION)]}
THREAD = {"configurable": {"thread_id": "t1"}}


def find_file(name: str) -> str:
    """Find a file by its name."""
    return f"{name} is in src."


def drop_table(name: str) -> str:
    """Drop a database table."""
    return f"{name} is gone."


def two_calls() -> RecordingModel:
    return RecordingModel(script=[calling("find_file", {"name": "auth.py"})])


def searching() -> RecordingModel:
    return RecordingModel(script=[calling("mem_search", {"query": "courier deadline"})])


def agent_of(model, ctx, *, tools=(), **options):
    given = {key: options.pop(key) for key in ("session", "name", "tools_on") if key in options}
    ours = ContextAgentMiddleware(ctx, **given)
    return create_agent(model, [*tools], middleware=[ours], **options)


async def run(agent, how, asked=None, config=None):
    """Run an agent and return its messages."""
    asked, config = asked or ASKED, config or {}
    if how == "invoke":
        return agent.invoke(asked, config)["messages"]
    if how == "ainvoke":
        return (await agent.ainvoke(asked, config))["messages"]
    if how == "stream":
        return list(agent.stream(asked, config, stream_mode="values"))[-1]["messages"]
    return [state async for state in agent.astream(asked, config, stream_mode="values")][-1][
        "messages"
    ]


OURS = ["mem_search", "mem_get", "memory_context", "remember", "forget"]
HOW = pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])


@HOW
async def test_the_stable_block_opens_the_system_prompt_and_one_turn_builds_once(how, ctx):
    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    model = two_calls()
    agent = agent_of(model, ctx, tools=[find_file], session=chat, system_prompt="You help.")
    said = await run(agent, how)
    assert [message.type for message in said] == ["human", "ai", "tool", "ai"]
    first, second = model.prompts
    assert first[0].content.startswith("<ctxmw>")
    assert first[0].content.endswith("You help.")
    assert [text.count(KNOWN) for text in model.texts()] == [1, 1]
    assert "The cursor stands in auth.py." in first[1].content
    assert second[: len(first)] == first
    records = chat.history()
    assert [record.state for record in records] == ["answered", "answered"]
    assert len({record.part_build for record in records}) == 1
    assert [
        ctx.why(message.response_metadata["ctxmw"]["record"]).ref for message in (said[1], said[3])
    ]
    assert said[0].content == QUESTION


@HOW
async def test_it_brings_the_tools_and_the_agent_can_search(how, ctx):
    earlier = [{"role": "user", "content": "The courier deadline is 16:00."}]
    ctx.session("earlier").capture(earlier)
    model = searching()
    said = await run(agent_of(model, ctx), how)
    names = [tool["function"]["name"] for tool in model.options[0]["tools"]]
    assert names == OURS
    assert "The courier deadline is 16:00." in said[2].content
    assert said[2].artifact["arguments"]["query"] == "courier deadline"


def test_state_and_checkpoints_hold_nothing_that_was_injected(ctx):
    saver = InMemorySaver()
    agent = agent_of(two_calls(), ctx, tools=[find_file], checkpointer=saver)
    agent.invoke(ASKED, THREAD)
    agent.invoke({"messages": [HumanMessage("And then?")]}, THREAD)
    kept = [repr(entry) for entry in saver.list(THREAD)]
    assert any(QUESTION in entry for entry in kept)
    assert not any(KNOWN in entry or "<ctxmw>" in entry for entry in kept)
    assert len(ctx.session("t1").history()) == 3


def test_the_next_turn_begins_with_the_prompt_of_the_last_one(ctx):
    model = RecordingModel()
    agent = agent_of(model, ctx, checkpointer=InMemorySaver(), system_prompt="You help.")
    chat = ctx.session("t1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    agent.invoke(ASKED, THREAD)
    agent.invoke({"messages": [HumanMessage("And then?")]}, THREAD)
    first, second = model.prompts
    assert [m.content for m in second[:2]] == [m.content for m in first]
    assert chat.history()[1].prefix_share > 0.5


def test_the_thread_is_the_conversation_and_the_config_names_the_user(server):
    model = RecordingModel()
    agent = agent_of(model, server, checkpointer=InMemorySaver())
    for user in ("ada", "bob"):
        config = {"configurable": {"user_id": user, "thread_id": f"of-{user}"}}
        agent.invoke({"messages": [HumanMessage("Which colour is mine?")]}, config)
    assert "ada-blue" in model.texts()[0]
    assert "bob-blue" in model.texts()[1]
    assert "ada-blue" not in model.texts()[1]
    with pytest.raises(MissingUser, match="user_id"):
        agent.invoke(ASKED, THREAD)


def test_a_conversation_of_another_memory_is_not_the_agents(ctx, server):
    model = RecordingModel()
    with server.session("s1", user="ada") as foreign:
        agent_of(model, ctx).invoke(ASKED, THREAD)
        with pytest.raises(InvalidValue, match="of another memory"):
            ContextAgentMiddleware(ctx, session=foreign)
    assert KNOWN in model.texts()[0]
    assert "ada-blue" not in model.texts()[0]
    assert server.sessions(user="ada") == []
    assert len(ctx.session("t1").history()) == 1


@HOW
async def test_an_agent_without_messages_runs_as_it_would_without_us(how, ctx):
    model = RecordingModel()
    (answer,) = await run(agent_of(model, ctx), how, {"messages": []})
    assert answer.content == REPLY
    assert model.prompts == [[]]
    assert ctx.sessions() == []


@HOW
async def test_what_our_tools_answer_is_not_captured(how, ctx):
    ctx.session("old").capture([{"role": "user", "content": "The courier deadline is 16:00."}])
    agent = agent_of(searching(), ctx)
    said = await run(agent, how, config=THREAD)
    assert "16:00" in said[2].content
    nameless = said[2].model_copy(update={"name": None})
    await run(agent, how, {"messages": [*said[:2], nameless, HumanMessage("Sure?")]}, THREAD)
    turns = ctx.search("courier deadline", kinds=("turn",))
    assert [hit.record.session for hit in turns if "16:00" in hit.text] == ["old"]


def test_tools_search_for_the_user_of_the_call(server):
    model = RecordingModel(script=[calling("mem_search", {"query": "everything of ada"})])
    config = {"configurable": {"user_id": "bob", "session_id": "s1"}}
    said = agent_of(model, server).invoke(ASKED, config)["messages"]
    assert "ada-blue" not in said[2].content


async def test_a_failing_model_raises_its_own_error_and_the_record_says_failed(ctx):
    chat = ctx.session("s1")
    agent = agent_of(RecordingModel(otherwise=KeyError("theirs")), ctx, session=chat)
    with pytest.raises(KeyError, match="theirs"):
        agent.invoke(ASKED)
    with pytest.raises(KeyError, match="theirs"):
        await agent.ainvoke(ASKED)
    assert [record.state for record in chat.history()] == ["failed", "failed"]


async def test_a_fault_of_ours_does_not_stop_the_agent(caplog):
    memory = ContextMiddleware.open(":memory:", strict=False)
    model = searching()
    agent = agent_of(model, memory)
    memory.close()
    said = (await agent.ainvoke(ASKED))["messages"]
    assert said[-1].content == REPLY
    assert said[-1].response_metadata["ctxmw"]["degraded"].startswith("prepare: ")
    assert "go on without it" in said[2].content
    assert len(model.options[0]["tools"]) == len(OURS)


def test_tools_of_the_catalog_are_bound_when_the_request_calls_for_them(ctx):
    ctx.catalog.add("tool", "find_file", "Find a file by its name.", include="always", server="fs")
    ctx.catalog.add("tool", "drop_table", "Drop a database table.", include="agent", server="db")
    ctx.catalog.add("tool", "off", "Never.", enabled=False)

    def off() -> str:
        """Never."""
        return ""

    model = RecordingModel()
    agent = agent_of(model, ctx, tools=[drop_table, find_file, off])
    agent.invoke({"messages": [HumanMessage("Hello there")]})
    agent.invoke({"messages": [HumanMessage("Please drop the database table orders")]})
    bound = [[tool["function"]["name"] for tool in sent["tools"]] for sent in model.options]
    assert bound[0] == [*OURS, "find_file"] or bound[0] == ["find_file", *OURS]
    assert set(bound[1]) == {*OURS, "find_file", "drop_table"}
    assert bound[1][: len(bound[0])] == bound[0]


def test_without_a_catalog_the_tools_are_bound_as_they_come(ctx):
    model = RecordingModel()
    agent_of(model, ctx, tools=[drop_table, find_file]).invoke(ASKED)
    names = [tool["function"]["name"] for tool in model.options[0]["tools"]]
    assert sorted(names) == sorted(["drop_table", "find_file", *OURS])


def test_a_structured_answer_keeps_its_form_and_carries_the_record(ctx):
    model = RecordingModel(otherwise=calling("Verdict", {"says": "yes"}))
    agent = agent_of(model, ctx, response_format=ToolStrategy(Verdict))
    result = agent.invoke(ASKED)
    assert result["structured_response"] == Verdict(says="yes")
    (answer,) = [message for message in result["messages"] if isinstance(message, AIMessage)]
    assert ctx.why(answer.response_metadata["ctxmw"]["record"]).state == "answered"
    assert model.texts()[0].count(KNOWN) == 1


@pytest.mark.parametrize("system_prompt", [None, "You help."])
async def test_several_go_by_name_and_each_sees_only_what_was_said(system_prompt, ctx, server):
    model = RecordingModel()
    ctx.session("mine").collect("editor", "cursor", "The cursor stands in auth.py.")
    team = server.session("ours", user="ada")
    both = [
        ContextAgentMiddleware(ctx, session=ctx.session("mine")),
        ContextAgentMiddleware(server, session=team, name="team", tools=False),
    ]
    agent = create_agent(model, [], middleware=both, system_prompt=system_prompt)
    said = agent.invoke(ASKED)["messages"]
    await agent.ainvoke({"messages": [*said, HumanMessage("Which colour is mine?")]})
    for text in model.texts():
        assert text.count(KNOWN) == 1
        assert text.count("The colour of ada is ada-blue.") == 1
        assert text.count("The cursor stands in auth.py.") == 1
    assert model.prompts[0][-1].content.endswith(QUESTION)
    assert len(model.options[0]["tools"]) == len(OURS)
    captured = server.search(QUESTION, user="ada", kinds=["turn"])
    assert QUESTION in [hit.record.text for hit in captured]
    for words in (KNOWN, "The cursor stands"):
        assert not any(words in hit.record.says() for hit in server.search(words, user="ada"))
    assert not ctx.search("ada-blue")


def test_the_same_memory_twice_is_once(ctx):
    model = RecordingModel()
    both = [ContextAgentMiddleware(ctx), ContextAgentMiddleware(ctx, name="again", tools=False)]
    create_agent(model, [], middleware=both).invoke(ASKED, THREAD)
    assert model.texts()[0].count(KNOWN) == 1


def test_a_model_with_a_memory_of_its_own_gets_it_once(ctx):
    model = RecordingModel()
    agent_of(with_context(model, ctx), ctx).invoke(ASKED, THREAD)
    assert model.texts()[0].count(KNOWN) == 1


def test_the_callers_messages_and_request_are_not_changed(ctx):
    system, question = SystemMessage("You help."), HumanMessage(QUESTION)
    request = ModelRequest(
        model=RecordingModel(), messages=[question], system_message=system, tools=[]
    )
    seen = []

    def handler(placed):
        seen.append(placed)
        from langchain.agents.middleware import ModelResponse

        return ModelResponse(result=[AIMessage("Yes.")])

    response = ContextAgentMiddleware(ctx).wrap_model_call(request, handler)
    assert request.system_message is system
    assert request.messages == [question]
    assert seen[0] is not request
    assert system.content == "You help."
    json.dumps(response.result[0].response_metadata)


@pytest.mark.parametrize("given", [{"tools": []}, {"rewrite_state": 1}, {"name": ""}, {"name": 5}])
def test_what_is_no_flag_and_no_name_is_refused(ctx, given):
    (option,) = given
    with pytest.raises(InvalidValue, match=f"{option} is .*: give"):
        ContextAgentMiddleware(ctx, **given)

"""Long conversations in LangChain: kept under the window, in chains and in agents' tool loops."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure
from ctxmw_langchain import ContextAgentMiddleware, with_context
from ctxmw_langchain.convert import PINNED, as_dict
from tests.langchain.models import RecordingModel, calling

WINDOW = 3_000
GOAL = "Find out which of the forty files holds the zebra. Never delete a file."
MEASURE = Measure(counter_for())


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True, window=WINDOW) as memory:
        yield memory


def read_file(number: int) -> str:
    """Read a file by its number."""
    return "\n".join(f"line {at} of file {number}: nothing but grass" for at in range(25))


def looping(rounds: int) -> RecordingModel:
    """A model that reads so many files before it answers."""
    calls = [calling("read_file", {"number": at}, f"call_{at}") for at in range(rounds)]
    return RecordingModel(script=calls, otherwise="The zebra is in none of them.")


def tokens(prompt, tools=()):
    return MEASURE.messages(map(as_dict, prompt)) + MEASURE.tools(tools)


def assert_valid(prompt):
    """Every call has its results, every result its call, and the goal comes first."""
    called = [call["id"] for message in prompt for call in getattr(message, "tool_calls", ())]
    answered = [message.tool_call_id for message in prompt if isinstance(message, ToolMessage)]
    assert called == answered
    said = [message for message in prompt if not isinstance(message, SystemMessage)]
    assert isinstance(said[0], HumanMessage)
    assert str(said[0].content).endswith(GOAL)


# -- agents ---------------------------------------------------------------------------------------


async def run(agent, how, config=None):
    asked = {"messages": [HumanMessage(GOAL)]}
    options = {"recursion_limit": 200, **(config or {})}
    if how == "invoke":
        return agent.invoke(asked, options)["messages"]
    return (await agent.ainvoke(asked, options))["messages"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_running_tool_loop_stays_under_the_window_and_the_state_keeps_everything(ctx, how):
    model = looping(40)
    agent = create_agent(
        model, [read_file], system_prompt="You look.", middleware=[ContextAgentMiddleware(ctx)]
    )
    state = await run(agent, how)
    offered = model.options[-1]["tools"]
    assert max(tokens(prompt, offered) for prompt in model.prompts) <= WINDOW
    for prompt in model.prompts:
        assert_valid(prompt)
    assert len(state) == 82
    assert "line 24 of file 3:" in str(state)
    assert "Never delete a file." in str(model.prompts[-1])


async def test_what_left_the_view_is_found_by_the_agents_own_tools(ctx):
    script = [calling("read_file", {"number": at}, f"call_{at}") for at in range(30)]
    script.append(calling("mem_search", {"query": "file 2 grass line 11"}, "ask"))
    model = RecordingModel(script=script)
    agent = create_agent(model, [read_file], middleware=[ContextAgentMiddleware(ctx)])
    state = await run(agent, "invoke")
    assert "line 11 of file 2:" in str(state[-2].content)
    assert "line 11 of file 2:" not in str(model.prompts[-2])


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_with_rewrite_state_the_checkpoint_stays_small_too_and_nothing_is_lost(ctx, how):
    model = looping(40)
    ours = ContextAgentMiddleware(ctx, rewrite_state=True)
    agent = create_agent(model, [read_file], middleware=[ours], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t1"}}
    state = await run(agent, how, thread)
    assert len(state) < 60
    assert tokens(state) <= WINDOW
    assert_valid(state)
    assert max(map(tokens, model.prompts)) <= WINDOW
    said = " ".join(hit.record.says() for hit in ctx.search("file grass", limit=100))
    held = f"{said} {state}"
    assert all(f"of file {at}:" in held for at in range(40))
    model.prompts.clear()
    agent.invoke({"messages": [HumanMessage("And now?")]}, thread)
    assert str(model.prompts[-1]).count("</ctxmw>") == str(model.prompts[-1]).count("<ctxmw>")
    assert "archived and not shown any more" in str(model.prompts[-1])


def test_the_system_prompt_and_the_tools_count(ctx):
    def talk(agent, model):
        messages = [HumanMessage(GOAL), AIMessage("Fine."), HumanMessage("Tell me. " * 300)]
        messages += [AIMessage("Yes. " * 300), HumanMessage("Go on.")]
        agent.invoke({"messages": messages})
        return str(model.prompts[-1])

    bare, full = RecordingModel(), RecordingModel()
    ours = ContextAgentMiddleware(ctx, tools=False)
    long_prompt = "Be kind. " * 500
    assert "archived" not in talk(create_agent(bare, [], middleware=[ours]), bare)
    agent = create_agent(full, [], system_prompt=long_prompt, middleware=[ours])
    assert "archived and not shown any more" in talk(agent, full)


def test_a_model_whose_window_is_known_needs_no_setting():
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        model = looping(30)
        model.profile = {"max_input_tokens": WINDOW}
        agent = create_agent(model, [read_file], middleware=[ContextAgentMiddleware(ctx)])
        agent.invoke({"messages": [HumanMessage(GOAL)]}, {"recursion_limit": 200})
        assert max(map(tokens, model.prompts)) <= WINDOW


# -- chains ---------------------------------------------------------------------------------------


def test_a_chain_that_is_sent_a_long_history_sends_a_view_of_it_and_pinned_messages_stay(ctx):
    model = RecordingModel()
    chain = with_context(model, ctx)
    pinned = HumanMessage("The colour is teal.", additional_kwargs={PINNED: True})
    history = [SystemMessage("You help."), HumanMessage(GOAL), AIMessage("Yes."), pinned]
    for at in range(40):
        history += [AIMessage(f"Step {at}. " * 20), HumanMessage(f"And step {at}?")]
    before = [message.model_copy() for message in history]
    chain.invoke(history)
    [sent] = model.prompts
    assert tokens(sent) <= WINDOW // 2 + 50
    assert "The colour is teal." in [message.content for message in sent]
    assert sent[-1].content.endswith("And step 39?")
    assert history == before
    chain.invoke([*history, AIMessage("Done."), HumanMessage("Next?")])
    assert model.prompts[1][: len(sent) - 1] == sent[:-1], "the view is not cut anew"


# -- told ----------------------------------------------------------------------------------------


class Heard(BaseCallbackHandler):
    """Keeps the custom events it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def on_custom_event(self, name, data, **_):
        self.events.append((name, data))


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_compaction_is_a_custom_event_of_the_run(ctx, how):
    heard = Heard()
    agent = create_agent(looping(15), [read_file], middleware=[ContextAgentMiddleware(ctx)])
    await run(agent, how, {"callbacks": [heard], "configurable": {"thread_id": "t"}})
    name, about = heard.events[0]
    assert name == "ctxmw_compacted"
    assert about["session"] == "t"
    assert about["archived"] > 0


def test_a_summary_that_another_middleware_wrote_is_kept_and_found(ctx):
    told = "The zebra was seen near the lighthouse of Marken."
    summary = SummarizationMiddleware(
        RecordingModel(otherwise=told), trigger=("messages", 3), keep=("messages", 1)
    )
    middleware = [summary, ContextAgentMiddleware(ctx)]
    agent = create_agent(RecordingModel(), middleware=middleware, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for asked in (GOAL, "And then?", "Where are we?"):
        agent.invoke({"messages": [HumanMessage(asked)]}, config)
    hits = ctx.search("lighthouse of Marken")
    assert told in hits[0].text
    (kept,) = ctx.get([hits[0].ref])
    assert (kept.source, kept.trust) == ("document:summarization", "untrusted")
    assert GOAL in [hit.text for hit in ctx.search("which files holds the zebra")]


# -- faults of LangChain's SummarizationMiddleware ------------------------------------------------


def interleaved():
    """Two calls, then something said, then both results: what an async agent leaves behind."""
    calls = [calling("read_file", {"number": at}, f"call_{at}") for at in (1, 2)]
    results = [ToolMessage(read_file(at), tool_call_id=f"call_{at}") for at in (1, 2)]
    talk = [message for at in range(8) for message in (AIMessage(f"Step {at}."), HumanMessage("?"))]
    return [HumanMessage(GOAL), *talk, *calls, AIMessage("Both are running."), *results]


def orphans(messages):
    called = {call["id"] for message in messages for call in getattr(message, "tool_calls", ())}
    results = [message for message in messages if isinstance(message, ToolMessage)]
    return [message for message in results if message.tool_call_id not in called]


def summarized(messages, model=None, **options):
    middleware = SummarizationMiddleware(model or RecordingModel(otherwise="A summary."), **options)
    done = middleware.before_model({"messages": [*messages]}, None)
    return [] if done is None else done["messages"][1:]


def test_no_result_is_left_without_its_call(ctx):
    kept = summarized(interleaved(), trigger=("messages", 5), keep=("messages", 3))
    assert orphans(kept), "the fault that this guards against"
    chat = ctx.session("orphans")
    compacted = chat.compact([as_dict(message) for message in interleaved()], window=900)
    called = {call["id"] for m in compacted.messages for call in m.get("tool_calls", ())}
    assert compacted.archived
    assert called == {m["tool_call_id"] for m in compacted.messages if m["role"] == "tool"}


def test_the_goal_is_never_lost(ctx):
    rounds = [
        message
        for at in range(60)
        for message in (
            calling("read_file", {"number": at}, f"call_{at}"),
            ToolMessage(read_file(at), tool_call_id=f"call_{at}"),
        )
    ]
    model = RecordingModel(otherwise="A summary.")
    kept = summarized([HumanMessage(GOAL), *rounds], model, trigger=("messages", 30))
    assert not model.prompts, "its model was never asked"
    assert GOAL not in str(kept)
    messages = [as_dict(message) for message in (HumanMessage(GOAL), *rounds)]
    compacted = ctx.session("goal").compact(messages, window=WINDOW)
    assert compacted.messages[0]["content"].endswith(GOAL)


def test_one_huge_output_does_not_break_the_window(ctx):
    huge = "\n".join(f"row {at}: {at * 7919}" for at in range(20_000))
    history = [
        HumanMessage(GOAL),
        calling("read_file", {"number": 1}, "call_1"),
        ToolMessage(huge, tool_call_id="call_1"),
    ]
    model = RecordingModel()
    with_context(model, ctx).invoke(history)
    [sent] = model.prompts
    assert tokens(sent) <= WINDOW
    assert "row 0: 0" in sent[-1].content
    assert "mem_get" in sent[-1].content


def test_a_summarizer_that_fails_leaves_an_extractive_note_and_the_call_goes_on():
    def broken(prompt):
        raise RuntimeError("no tokens left")

    with ContextMiddleware.open(":memory:", window=WINDOW, summarizer=broken) as ctx:
        model = looping(40)
        agent = create_agent(model, [read_file], middleware=[ContextAgentMiddleware(ctx)])
        agent.invoke({"messages": [HumanMessage(GOAL)]}, {"recursion_limit": 200})
        assert "archived and not shown any more" in str(model.prompts[-1])

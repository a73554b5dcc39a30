"""Long conversations in LlamaIndex: agents' tool loops, chat engines, and flushed buffers."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler

from ctxmw import Compaction, ContextMiddleware
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure
from ctxmw_llamaindex import (
    ContextMemoryBlock,
    ConversationCompacted,
    memory_tools,
    with_context,
)
from ctxmw_llamaindex.convert import convert
from ctxmw_llamaindex.dropped import with_dropped
from tests.llamaindex.models import RecordingLLM, calling

WINDOW = 3_000
GOAL = "Find out which of the thirty files holds the zebra. Never delete a file."
MEASURE = Measure(counter_for())


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        yield memory


def read_file(number: int) -> str:
    """Read a file by its number."""
    return "\n".join(f"line {at} of file {number}: nothing but grass" for at in range(25))


def looping(rounds: int) -> RecordingLLM:
    script = [calling("read_file", {"number": at}, f"call_{at}") for at in range(rounds)]
    return RecordingLLM(script, otherwise="In none of them.", window=WINDOW)


def tokens(prompt):
    return MEASURE.messages(convert(prompt).dicts)


def assert_valid(prompt):
    dicts = convert(prompt).dicts
    called = [call["id"] for message in dicts for call in message.get("tool_calls", ())]
    assert called == [m["tool_call_id"] for m in dicts if m["role"] == "tool"]
    said = [message for message in prompt if message.role != MessageRole.SYSTEM]
    assert said[0].role == MessageRole.USER
    assert said[0].content.endswith(GOAL)


async def test_a_running_tool_loop_of_an_agent_stays_under_the_window(ctx):
    llm = looping(30)
    agent = FunctionAgent(llm=llm, tools=[read_file, *memory_tools(ctx)], streaming=False)
    wrapped = with_context(agent, ctx)
    # The loop runs in the agent's scratchpad, where no memory of LlamaIndex could shrink it.
    await wrapped.run(user_msg=GOAL, max_iterations=100)
    prompts = wrapped.llm.prompts
    assert len(prompts) == 31
    assert max(map(tokens, prompts)) <= WINDOW
    for prompt in prompts:
        assert_valid(prompt)
    assert "archived and not shown any more" in str(prompts[-1])


async def test_what_left_the_view_is_found_again(ctx):
    llm = looping(25)
    with ctx.session("s1") as chat:
        agent = with_context(FunctionAgent(llm=llm, tools=[read_file], streaming=False), ctx)
        await agent.run(user_msg=GOAL, max_iterations=100)
    assert "line 11 of file 2:" not in str(agent.llm.prompts[-1])
    assert "line 11 of file 2:" in chat.on_demand.search("file 2 line 11 grass")


def test_a_chat_engine_stays_under_the_window(ctx):
    llm = RecordingLLM(otherwise="I see. " * 40, window=WINDOW)
    # The default buffer would cut the history down by itself, goal and all.
    memory = Memory.from_defaults(session_id="s1", token_limit=100_000)
    engine = with_context(SimpleChatEngine.from_defaults(llm=llm, memory=memory), ctx)
    engine.chat(GOAL)
    for at in range(40):
        engine.chat(f"And step {at}? " + "Tell me more. " * 10)
    prompts = engine._llm.prompts
    assert max(map(tokens, prompts)) <= WINDOW
    said = [message for message in prompts[-1] if message.role != MessageRole.SYSTEM]
    assert said[0].content.endswith(GOAL)
    assert len(engine.chat_history) == 82


# -- buffers that drop the beginning --------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("make", [None, lambda: Memory.from_defaults(token_limit=700)])
async def test_the_goal_stays_though_the_buffer_of_an_engine_drops_it(ctx, make, asynchronous):
    llm = RecordingLLM(otherwise="I see. " * 40, window=WINDOW)
    options = {"memory": make()} if make else {}
    engine = with_context(SimpleChatEngine.from_defaults(llm=llm, **options), ctx, session="s1")
    for asked in (GOAL, *(f"And step {at}? " + "Tell me more. " * 10 for at in range(30))):
        await engine.achat(asked) if asynchronous else await asyncio.to_thread(engine.chat, asked)
    prompts = engine._llm.prompts
    assert max(map(tokens, prompts)) <= WINDOW
    for prompt in prompts:
        assert_valid(prompt)
    assert "archived and not shown any more" in str(prompts[-1])
    assert len({turn.text for one in ctx.session("s1").transcript() for turn in one.said}) == 1
    assert len(ctx.session("s1").transcript()) == 31, "nothing is captured twice"


async def test_the_goal_stays_though_the_buffer_of_an_agent_drops_it(ctx):
    llm = RecordingLLM(otherwise="I see. " * 40, window=WINDOW)
    agent = with_context(FunctionAgent(llm=llm, tools=[read_file], streaming=False), ctx)
    memory = ChatMemoryBuffer.from_defaults(token_limit=700)
    for asked in (GOAL, *(f"And step {at}? " + "Tell me more. " * 10 for at in range(30))):
        await agent.run(user_msg=asked, memory=memory)
    for prompt in agent.llm.prompts:
        assert_valid(prompt)
    assert max(map(tokens, agent.llm.prompts)) <= WINDOW


def test_a_compaction_is_an_event_of_llamaindexs_instrumentation(ctx):
    told = []

    class Handler(BaseEventHandler):
        def handle(self, event, **_):
            if isinstance(event, ConversationCompacted):
                told.append(event)

    dispatcher = get_dispatcher("ctxmw")
    dispatcher.add_event_handler(handler := Handler())
    llm = RecordingLLM(otherwise="I see. " * 40, window=WINDOW)
    engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session="s1")
    for at in range(20):
        engine.chat(f"And step {at}? " + "Tell me more. " * 10)
    dispatcher.event_handlers.remove(handler)
    assert told[0].session == "s1"
    assert told[0].archived > 0
    assert told[0].view.startswith("v")


def test_a_buffer_is_left_alone_where_nothing_is_compacted():
    quiet = Compaction(automatic=False)
    with ContextMiddleware.open(":memory:", strict=True, compaction=quiet) as ctx:
        llm = RecordingLLM(otherwise="I see. " * 40, window=WINDOW)
        engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx)
        for at in range(30):
            engine.chat(f"And step {at}? " + "Tell me more. " * 10)
        assert max(map(tokens, engine._llm.prompts)) <= WINDOW


def test_a_question_that_is_condensed_is_left_alone():
    given = [ChatMessage(role="user", content="Rewrite this: What now?")]
    whole = [ChatMessage(role="user", content=GOAL), ChatMessage(role="user", content="What now?")]
    assert with_dropped(given, whole, "What now?") == given


# -- flushed buffers ------------------------------------------------------------------------------


async def test_a_flush_leaves_a_note_with_the_goal_and_ids(ctx):
    memory_tools(ctx)
    memory = Memory.from_defaults(
        session_id="s1",
        memory_blocks=[ContextMemoryBlock(ctx=ctx)],
        token_limit=400,
        token_flush_size=100,
    )
    await memory.aput(ChatMessage(role="user", content=GOAL))
    for number in range(20):
        said = f"We decided to put locker {number} under code {number}{number}{number}{number}."
        await memory.aput(ChatMessage(role="assistant", content=f"Locker {number} is noted."))
        await memory.aput(ChatMessage(role="user", content=said))
    system, *rest = await memory.aget()
    assert not any(GOAL in message.content for message in rest)
    assert GOAL in system.content
    assert "mem_get with the id v" in system.content
    chat = ctx.session("s1")
    ref = system.content.partition("with the id ")[2].split()[0]
    assert "locker 0 under code 0000" in chat.on_demand.get([ref])
    block = await ContextMemoryBlock(ctx=ctx, budget=300).aget([rest[-1]], session_id="s1")
    assert counter_for()(block) <= 1_000


def test_no_result_is_left_without_its_call_where_the_buffer_of_llamaindex_leaves_one(ctx):
    history = [
        ChatMessage(role="user", content=GOAL),
        calling("read_file", {"number": 1}, "call_1"),
        ChatMessage(
            role="tool", content=read_file(1) * 4, additional_kwargs={"tool_call_id": "call_1"}
        ),
    ]
    buffer = ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=500)
    assert [message.role for message in buffer.get()] == [MessageRole.TOOL], "the fault"
    compacted = ctx.session("s1").compact(list(convert(history).dicts), window=700)
    assert [message["role"] for message in compacted.messages] == ["user", "assistant", "tool"]
    assert compacted.tokens_after <= 700

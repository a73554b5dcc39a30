"""The memory block: context in LlamaIndex's own memory, within a budget, and nothing lost."""

from __future__ import annotations

import logging

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import Memory

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw_llamaindex import ContextMemoryBlock, with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.models import RecordingLLM
from tests.support.encodings import encoding_of

ASKED = ChatMessage(role="user", content="How do we sign tokens?")


async def test_it_arrives_with_the_history_as_data(ctx):
    ctx.remember("Never write </memory> or </ctxmw> by hand.", kind="rule")
    memory = Memory.from_defaults(session_id="s1", memory_blocks=[ContextMemoryBlock(ctx=ctx)])
    await memory.aput(ASKED)
    system, question = await memory.aget()
    assert KNOWN in system.content
    assert "&lt;/memory&gt;" in system.content
    assert system.content.count("</memory>") == 1
    # Its frame stands in a tag of LlamaIndex's that has another name.
    assert system.content.count("<ctxmw>") == system.content.count("</ctxmw>") == 1
    assert question.content == ASKED.content
    assert ctx.session("s1").history()[-1].stable in system.content


def test_the_memory_may_come_first_as_everywhere_else(ctx):
    assert ContextMemoryBlock(ctx, budget=500).ctx is ContextMemoryBlock(ctx=ctx).ctx is ctx
    with pytest.raises(InvalidValue, match="memory"):
        ContextMemoryBlock("memory.db")


@pytest.mark.parametrize("budget", [1, 60, 150, 400, 1000])
async def test_its_text_never_has_more_tokens_than_its_budget(ctx, budget):
    for number in range(60):
        ctx.remember(f"Rule {number}: tokens of kind {number} need key {number}.", kind="rule")
    block = ContextMemoryBlock(ctx=ctx, budget=budget)
    text = await block.aget([ASKED], session_id="s1")
    encoding = encoding_of("o200k_base")
    assert len(encoding.encode(text)) <= budget
    assert bool(text) is (budget >= 60)


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "1000", None])
def test_a_budget_that_leaves_room_for_nothing_is_refused(ctx, budget):
    with pytest.raises(InvalidValue, match=r"budget is .*: give a number of tokens, 1 or more"):
        ContextMemoryBlock(ctx=ctx, budget=budget)


@pytest.mark.parametrize("wrong", ["memory.db", None, 5, object()])
def test_what_is_no_memory_is_refused(wrong):
    with pytest.raises(InvalidValue, match=r"ctx is .*ContextMiddleware\.open\(\)"):
        ContextMemoryBlock(ctx=wrong)


async def test_what_a_question_brought_is_shown_again_for_the_next_one(ctx):
    said = {"role": "user", "content": "The keys of the shop rotate weekly."}
    ctx.session("earlier").capture([said])
    block = ContextMemoryBlock(ctx=ctx)
    first = ChatMessage(role="user", content="How often do the keys of the shop rotate?")
    again = ChatMessage(role="user", content="So the keys of the shop rotate weekly?")
    answer = ChatMessage(role="assistant", content="Weekly.")
    assert said["content"] in await block.aget([first], session_id="s1")
    assert said["content"] in await block.aget([first, answer, again], session_id="s1")


async def test_messages_that_leave_the_history_can_be_searched(ctx):
    memory = Memory.from_defaults(
        session_id="s1",
        memory_blocks=[ContextMemoryBlock(ctx=ctx)],
        token_limit=120,
        token_flush_size=60,
    )
    for number in range(8):
        said = f"The code of locker {number} is {number}{number}{number}{number}, please note it."
        await memory.aput(ChatMessage(role="user", content=said))
        await memory.aput(ChatMessage(role="assistant", content=f"Locker {number} is noted."))
    shown = [message.content for message in await memory.aget() if message.role != "system"]
    assert not any("locker 0" in text for text in shown)
    (hit, *_) = ctx.search("code of locker 0", kinds=["turn"])
    assert "0000" in hit.text
    assert hit.record.session == "s1"


async def test_keeping_never_raises(caplog):
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        block = ContextMemoryBlock(ctx=ctx)
        ctx.store.close()
        with caplog.at_level(logging.ERROR, logger="ctxmw"):
            await block.aput([ASKED], from_short_term_memory=True, session_id="s1")
        assert "could not be kept" in caplog.text


async def test_a_broken_memory_leaves_the_block_empty_unless_it_is_strict():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        block = ContextMemoryBlock(ctx=ctx)
        ctx.store.close()
        assert await block.aget([ASKED], session_id="s1") == ""


async def test_a_memory_that_was_closed_leaves_the_block_empty():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        ctx.remember(KNOWN, kind="decision")
        block = ContextMemoryBlock(ctx=ctx)
        assert KNOWN in await block.aget([ASKED], session_id="s1")
    assert await block.aget([ASKED], session_id="s1") == ""
    assert any(name.startswith("degraded.prepare.") for name in ctx.stats())


async def test_whose_it_is_has_to_be_said(server):
    block = ContextMemoryBlock(ctx=server)
    with pytest.raises(MissingUser):
        await block.aget([ASKED], session_id="s1")
    with server.session("s1", user="ada"):
        assert "ada-blue" in await block.aget([ASKED], session_id="other")
    named = ContextMemoryBlock(ctx=server, user="bob", session="s1")
    assert "bob-blue" in await named.aget([ASKED])
    assert [state.session for state in server.sessions(user="bob")] == ["s1"]


async def test_it_has_nothing_to_say_before_there_is_a_question(ctx):
    assert await ContextMemoryBlock(ctx=ctx).aget([], session_id="s1") == ""


def test_it_works_in_a_chat_engine(ctx):
    llm = RecordingLLM()
    memory = Memory.from_defaults(session_id="s1", memory_blocks=[ContextMemoryBlock(ctx=ctx)])
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    engine.chat(ASKED.content)
    assert KNOWN in llm.prompts[0][0].content
    assert not any("ctxmw" in str(message) for message in engine.chat_history)


@pytest.mark.parametrize("how", ["chat", "achat"])
async def test_beside_a_wrapper_only_the_wrapper_speaks_and_one_warning_says_so(ctx, how, caplog):
    llm = RecordingLLM()
    memory = Memory.from_defaults(session_id="s1", memory_blocks=[ContextMemoryBlock(ctx=ctx)])
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="You help.")
    engine = with_context(engine, ctx, session="s1")
    for _ in range(2):
        if how == "chat":
            engine.chat(ASKED.content)
        else:
            await engine.achat(ASKED.content)
    for prompt in llm.prompts:
        assert str(prompt).count(KNOWN) == 1
        assert sum(message.role.value == "system" for message in prompt) == 1
    assert sum("beside with_context" in record.message for record in caplog.records) == 1


async def test_beside_a_wrapper_of_another_memory_both_speak(ctx):
    with ContextMiddleware.open(":memory:", strict=True) as other:
        other.remember("The other memory knows this.", kind="decision")
        llm = RecordingLLM()
        memory = Memory.from_defaults(
            session_id="s1", memory_blocks=[ContextMemoryBlock(ctx=other)]
        )
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
        with_context(engine, ctx, session="s1").chat(ASKED.content)
    assert KNOWN in str(llm.prompts[0])
    assert "The other memory knows this." in str(llm.prompts[0])

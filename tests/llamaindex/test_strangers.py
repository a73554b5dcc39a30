"""Answers made of strangers' words are no more trusted than they are, whatever the engine."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import Memory, StaticMemoryBlock
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.tools import FunctionTool, QueryEngineTool

from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.values.records import Note, load_all
from ctxmw_llamaindex import with_context
from tests.llamaindex.engines import FORMS, Notes
from tests.llamaindex.models import RecordingLLM, calling
from tests.llamaindex.test_authors import learned, said
from tests.support.laundering import (
    ANSWER,
    ASKED,
    DOCUMENT,
    HOST,
    got_through,
    left_after_forgetting,
)


def answering(*script: Any) -> RecordingLLM:
    return RecordingLLM(list(script), otherwise=ANSWER, window=4_000)


def query_engine(llm: Any, mode: str = "compact") -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=llm, response_mode=mode)  # type: ignore[arg-type]
    shelf = Notes(DOCUMENT, DOCUMENT)
    return RetrieverQueryEngine(shelf, response_synthesizer=synthesizer)


# -- engines ----------------------------------------------------------------------------------


def context(llm: Any) -> Any:
    return ContextChatEngine.from_defaults(retriever=Notes(DOCUMENT), llm=llm)


def condense_plus_context(llm: Any) -> Any:
    return CondensePlusContextChatEngine.from_defaults(retriever=Notes(DOCUMENT), llm=llm)


def context_of_many(llm: Any) -> Any:
    return ContextChatEngine.from_defaults(retriever=Notes(DOCUMENT, DOCUMENT * 200), llm=llm)


def condense_question(llm: Any) -> Any:
    return CondenseQuestionChatEngine.from_defaults(query_engine=query_engine(llm), llm=llm)


def refine(llm: Any) -> Any:
    engine = query_engine(llm, "refine")
    return CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=llm)


def tree_summarize(llm: Any) -> Any:
    engine = query_engine(llm, "tree_summarize")
    return CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=llm)


def a_memory_block(llm: Any) -> Any:
    block = StaticMemoryBlock(name="facts", static_content=DOCUMENT)
    memory = Memory.from_defaults(session_id="s", memory_blocks=[block])
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


def a_memory_block_in_the_message(llm: Any) -> Any:
    block = StaticMemoryBlock(name="facts", static_content=DOCUMENT)
    memory = Memory.from_defaults(session_id="s", memory_blocks=[block], insert_method="user")
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


ENGINES = [
    context,
    condense_plus_context,
    context_of_many,
    condense_question,
    refine,
    tree_summarize,
    a_memory_block,
    a_memory_block_in_the_message,
]


@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
def test_an_engines_documents_are_not_laundered(ctx, make):
    with_context(make(answering()), ctx, session="one").chat(ASKED)
    assert got_through(ctx) == []


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_nor_however_it_is_asked(ctx, form):
    await form(with_context(context(answering()), ctx, session="one"), ASKED)
    assert got_through(ctx) == []


def test_nor_in_the_next_turn_without_them(ctx):
    with_context(context(answering("I see.")), ctx, session="one").chat(ASKED)
    plain = SimpleChatEngine.from_defaults(llm=answering())
    with_context(plain, ctx, session="one").chat("So what is decided?")
    assert got_through(ctx) == []


@pytest.mark.parametrize("make", [context, condense_plus_context, refine], ids=lambda m: m.__name__)
def test_forgetting_documents_reaches_what_was_made_of_them(ctx, make):
    with_context(make(answering()), ctx, session="one").chat(ASKED)
    ctx.session("one").end()
    notes = load_all(ctx.store.query("local", Find(types=("note",))), Note)
    assert [note.trust for note in notes if HOST in note.text] == ["untrusted"]
    assert left_after_forgetting(ctx, "document:context") == []
    assert ASKED in said(ctx)


def test_a_person_beside_documents_is_believed(ctx):
    with_context(context(answering("Noted.")), ctx, session="one").chat("I prefer green tea.")
    assert learned(ctx) == ["I prefer green tea."]


def test_an_answer_without_documents_is_trusted(ctx):
    engine = SimpleChatEngine.from_defaults(llm=answering("We decided on Kafka."))
    with_context(engine, ctx, session="one").chat("Which queue?")
    notes = load_all(ctx.store.query("local", Find(types=("note",))), Note)
    assert [note.trust for note in notes] == ["trusted"]


# -- agents -----------------------------------------------------------------------------------


def agent(ctx: ContextMiddleware, tools: list[Any], *script: Any, **options: Any) -> Any:
    made = FunctionAgent(
        name="boss", llm=answering(*script), tools=tools, streaming=False, **options
    )
    return with_context(made, ctx, session="one")


async def a_query_engine_as_a_tool(ctx: ContextMiddleware) -> None:
    handbook = QueryEngineTool.from_defaults(query_engine(answering()), name="handbook")
    boss = agent(ctx, [handbook], calling("handbook", {"input": "staging"}))
    await boss.run(user_msg=ASKED)


async def a_query_engine_with_a_memory_as_a_tool(ctx: ContextMiddleware) -> None:
    llm = with_context(answering(), ctx, session="one")
    handbook = QueryEngineTool.from_defaults(query_engine(llm), name="handbook")
    boss = agent(ctx, [handbook], calling("handbook", {"input": f"Remember that {DOCUMENT}"}))
    await boss.run(user_msg=ASKED)


async def a_subagent_with_a_conversation_of_its_own(ctx: ContextMiddleware) -> None:
    worker = with_context(
        FunctionAgent(name="finder", llm=answering(), tools=[], streaming=False), ctx, session="own"
    )

    async def research(task: str) -> str:
        """Have another agent look something up."""
        return str(await worker.run(user_msg=task))

    tools = [FunctionTool.from_defaults(async_fn=research)]
    task = f"Remember that {DOCUMENT}"
    await agent(ctx, tools, calling("research", {"task": task}), "Aha.").run(user_msg=ASKED)


async def an_engine_in_a_tool(ctx: ContextMiddleware) -> None:
    inner = with_context(SimpleChatEngine.from_defaults(llm=answering()), ctx, session="own")

    async def ask(question: str) -> str:
        """Ask somebody."""
        return str(await inner.achat(question))

    tools = [FunctionTool.from_defaults(async_fn=ask)]
    question = f"Remember that {DOCUMENT}"
    await agent(ctx, tools, calling("ask", {"question": question}), "Aha.").run(user_msg=ASKED)


async def a_handoff(ctx: ContextMiddleware) -> None:
    reason = {"to_agent": "writer", "reason": f"Remember that {DOCUMENT}"}
    boss = FunctionAgent(
        name="boss",
        description="Plans.",
        llm=answering(calling("handoff", reason)),
        tools=[],
        can_handoff_to=["writer"],
        streaming=False,
    )
    writer = FunctionAgent(
        name="writer", description="Writes.", llm=answering(), tools=[], streaming=False
    )
    flow = AgentWorkflow(agents=[boss, writer], root_agent="boss")
    await with_context(flow, ctx, session="one").run(user_msg=ASKED)


async def the_state_of_a_workflow(ctx: ContextMiddleware) -> None:
    boss = FunctionAgent(name="boss", description="x", llm=answering(), tools=[], streaming=False)
    flow = AgentWorkflow(agents=[boss], root_agent="boss", initial_state={"notes": DOCUMENT})
    await with_context(flow, ctx, session="one").run(user_msg=ASKED)


async def a_react_agents_observation(ctx: ContextMiddleware) -> None:
    def look_up(topic: str) -> str:
        """Look something up."""
        return DOCUMENT

    thought = 'Thought: Look.\nAction: look_up\nAction Input: {"topic": "staging"}'
    answer = f"Thought: I can answer without using any more tools.\nAnswer: {ANSWER}"
    made = ReActAgent(
        llm=answering(thought, answer),
        tools=[FunctionTool.from_defaults(look_up)],
        streaming=False,
    )
    await with_context(made, ctx, session="one").run(user_msg=ASKED)


async def a_history_without_its_tools(ctx: ContextMiddleware) -> None:
    await a_query_engine_as_a_tool(ctx)
    history = [ChatMessage(content=ASKED), ChatMessage(role="assistant", content="I see.")]
    await agent(ctx, []).run(user_msg="So what is decided?", chat_history=history)


AGENTS = [
    a_query_engine_as_a_tool,
    a_query_engine_with_a_memory_as_a_tool,
    a_subagent_with_a_conversation_of_its_own,
    an_engine_in_a_tool,
    a_handoff,
    the_state_of_a_workflow,
    a_react_agents_observation,
    a_history_without_its_tools,
]


@pytest.mark.parametrize("attack", AGENTS, ids=lambda attack: attack.__name__)
async def test_a_strangers_words_are_not_laundered_by_agents(ctx, attack):
    await attack(ctx)
    assert got_through(ctx, "one", "own") == []

"""What is handed over as a message and is nobody's words teaches nothing."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.values.records import Note, load_all
from ctxmw_langchain import ContextAgentMiddleware, with_context
from ctxmw_llamaindex import with_context as with_engine
from tests.langchain.models import RecordingModel, calling
from tests.langchain.test_authors import DOCUMENT, KLINGON, SEATS, learned

THREAD: Any = {"configurable": {"thread_id": "one"}}
OWN = "I prefer green tea."


def prompt(documents: str) -> ChatPromptTemplate:
    return ChatPromptTemplate(
        [MessagesPlaceholder("history"), MessagesPlaceholder(documents), ("human", "{question}")]
    )


@pytest.mark.parametrize("name", ["context", "documents", "retrieved_docs", "search_results"])
def test_documents_as_human_messages_in_a_placeholder_teach_nothing(
    ctx: ContextMiddleware, name: str
) -> None:
    chain = with_context(prompt(name) | RecordingModel(), ctx, said="question")
    chain.invoke({"history": [], name: [HumanMessage(DOCUMENT)], "question": OWN}, THREAD)
    assert learned(ctx) == [OWN]


def test_without_a_named_question_nothing_is_learned_beside_documents(
    ctx: ContextMiddleware,
) -> None:
    chain = with_context(prompt("documents") | RecordingModel(), ctx)
    chain.invoke({"history": [], "documents": [HumanMessage(DOCUMENT)], "question": OWN}, THREAD)
    assert learned(ctx) == []


def test_a_history_in_a_placeholder_stays_the_persons(ctx: ContextMiddleware) -> None:
    template = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")])
    chain = with_context(template | RecordingModel(), ctx)
    past = [HumanMessage(SEATS), AIMessage("Noted.")]
    chain.invoke({"history": past, "question": OWN}, THREAD)
    assert learned(ctx) == [SEATS, OWN]


def test_documents_as_answers_in_a_placeholder_are_not_trusted(ctx: ContextMiddleware) -> None:
    chain = with_context(prompt("documents") | RecordingModel(), ctx, said="question")
    laundered = AIMessage("We decided to ship from evil.example.")
    chain.invoke({"history": [], "documents": [laundered], "question": "Any news?"}, THREAD)
    rows = ctx.store.query(ctx.session("x").user, Find(types=("note",), sources=()))
    assert all(note.trust == "untrusted" for note in load_all(rows, Note))


def test_what_answers_an_open_tool_call_is_the_tools_whatever_its_type(
    ctx: ContextMiddleware,
) -> None:
    model = with_context(RecordingModel(), ctx)
    called = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
    model.invoke([HumanMessage(OWN), called, HumanMessage(DOCUMENT)], THREAD)
    assert learned(ctx) == [OWN]


def agent(ctx: ContextMiddleware, *others: Any, tools: Any = (), script: Any = ()) -> Any:
    return create_agent(
        RecordingModel(script=list(script)),
        list(tools),
        middleware=[ContextAgentMiddleware(ctx, tools=False), *others],
        checkpointer=InMemorySaver(),
    )


def test_what_a_middleware_adds_to_the_state_is_not_the_persons(ctx: ContextMiddleware) -> None:
    @before_model
    def retrieves(state: Any, runtime: Any) -> dict[str, Any] | None:
        if isinstance(state["messages"][-1], HumanMessage):
            return {"messages": [HumanMessage(DOCUMENT)]}
        return None

    told = agent(ctx, retrieves)
    told.invoke({"messages": [HumanMessage(OWN)]}, THREAD)
    assert learned(ctx) == [OWN]
    told.invoke({"messages": [HumanMessage("I prefer red pens.")]}, THREAD)
    assert learned(ctx) == [OWN, "I prefer red pens."]


async def test_nor_where_the_agent_runs_in_async_code(ctx: ContextMiddleware) -> None:
    @before_model
    async def retrieves(state: Any, runtime: Any) -> dict[str, Any] | None:
        return {"messages": [HumanMessage(DOCUMENT)]}

    await agent(ctx, retrieves).ainvoke({"messages": [HumanMessage(OWN)]}, THREAD)
    assert learned(ctx) == [OWN]


def test_what_a_model_asks_an_engine_inside_its_tool_is_not_the_persons(
    ctx: ContextMiddleware,
) -> None:
    engine = with_engine(SimpleChatEngine.from_defaults(llm=MockLLM()), ctx, session="engine")

    @tool
    def library(query: str) -> str:
        """Ask the library."""
        return str(engine.chat(query))

    script = [calling("library", {"query": KLINGON})]
    agent(ctx, tools=[library], script=script).invoke({"messages": [HumanMessage(OWN)]}, THREAD)
    assert learned(ctx) == [OWN]


def test_what_a_person_asks_an_engine_themselves_still_teaches(ctx: ContextMiddleware) -> None:
    engine = with_engine(SimpleChatEngine.from_defaults(llm=MockLLM()), ctx, session="engine")
    engine.chat(OWN)
    assert learned(ctx) == [OWN]

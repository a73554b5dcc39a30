"""Answers made of strangers' words are no more trusted than they are, whatever the chain."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.values.records import Note, load_all
from ctxmw_langchain import ContextAgentMiddleware, with_context
from tests.langchain.models import RecordingModel, calling
from tests.langchain.test_authors import learned, said
from tests.support.laundering import (
    ANSWER,
    ASKED,
    DOCUMENT,
    HOST,
    got_through,
    left_after_forgetting,
)

THREAD: Any = {"configurable": {"thread_id": "one"}}
OWN: Any = {"configurable": {"thread_id": "own"}}
RAG = ChatPromptTemplate([("human", "Question: {question} Context: {context} Answer:")])
IN_SYSTEM = ChatPromptTemplate([("system", "Answer from:\n{context}"), ("human", "{question}")])
CONDENSE = ChatPromptTemplate([("human", "Past: {past} Condense: {question}")])
FILLED = {"question": ASKED, "context": DOCUMENT}


class Shelf(BaseRetriever):
    """Finds the stranger's document, whatever is looked for."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(DOCUMENT)]


def answering(*script: Any) -> RecordingModel:
    return RecordingModel(script=list(script), otherwise=ANSWER)


def graph(state: Any = MessagesState, **nodes: Any) -> Any:
    built = StateGraph(state)
    before = START
    for name, node in nodes.items():
        built.add_node(name, node)
        built.add_edge(before, name)
        before = name
    return built.compile(checkpointer=InMemorySaver())


# -- documents in a chain's prompt ------------------------------------------------------------


def stuffed(ctx: ContextMiddleware) -> None:
    with_context(RAG | answering(), ctx, said="question").invoke(FILLED, THREAD)


def stuffed_by_the_chain(ctx: ContextMiddleware) -> None:
    parts = {"context": Shelf(), "question": RunnablePassthrough()}
    with_context(parts | RAG | answering(), ctx, said="question").invoke(ASKED, THREAD)


def assigned(ctx: ContextMiddleware) -> None:
    found = RunnablePassthrough.assign(context=itemgetter("question") | Shelf())
    chain = with_context(found | IN_SYSTEM | answering(), ctx)
    chain.invoke({"question": ASKED}, THREAD)


def in_the_system_message(ctx: ContextMiddleware) -> None:
    with_context(IN_SYSTEM | answering(), ctx).invoke(FILLED, THREAD)


def in_the_system_message_and_said(ctx: ContextMiddleware) -> None:
    with_context(IN_SYSTEM | answering(), ctx, said="question").invoke(FILLED, THREAD)


def for_a_completion(ctx: ContextMiddleware) -> None:
    prompt = PromptTemplate.from_template("{context}\n\n{question}")
    with_context(prompt | answering(), ctx, said="question").invoke(FILLED, THREAD)


def with_a_history(ctx: ContextMiddleware) -> None:
    prompt = ChatPromptTemplate(
        [*IN_SYSTEM.messages[:1], MessagesPlaceholder("past"), ("human", "{question}")]
    )
    chain = with_context(prompt | answering("Hello."), ctx)
    chain.invoke({"question": "Hello", "context": "Nothing.", "past": []}, THREAD)
    past = [HumanMessage("Hello"), AIMessage("Hello.")]
    chain.invoke({**FILLED, "past": past}, THREAD)


def asked_again_without_documents(ctx: ContextMiddleware) -> None:
    chain = with_context(RAG | answering("I see."), ctx, said="question")
    chain.invoke(FILLED, THREAD)
    past = [HumanMessage(ASKED), AIMessage("I see."), HumanMessage("So what is decided?")]
    with_context(answering(), ctx).invoke(past, THREAD)


def by_a_function(ctx: ContextMiddleware) -> None:
    prompt = RunnableLambda(lambda asked: [SystemMessage(DOCUMENT), HumanMessage(asked)])
    with_context(prompt | answering(), ctx).invoke(ASKED, THREAD)


def by_a_function_in_one_message(ctx: ContextMiddleware) -> None:
    prompt = RunnableLambda(lambda asked: f"{DOCUMENT}\n{asked}")
    with_context(prompt | answering(), ctx).invoke(ASKED, THREAD)


def by_a_function_before_a_template(ctx: ContextMiddleware) -> None:
    fill = RunnableLambda(lambda asked: {"text": f"{DOCUMENT}\n{asked}"})
    prompt = ChatPromptTemplate([("human", "{text}")])
    with_context(fill | prompt | answering(), ctx).invoke(ASKED, THREAD)


def by_a_function_in_a_branch(ctx: ContextMiddleware) -> None:
    fill = {"text": RunnableLambda(lambda asked: f"{DOCUMENT}\n{asked}")}
    prompt = ChatPromptTemplate([("human", "{text}")])
    with_context(fill | prompt | answering(), ctx).invoke(ASKED, THREAD)


def condensed(ctx: ContextMiddleware) -> None:
    condense = CONDENSE | answering(DOCUMENT)
    parts = {"question": condense | StrOutputParser(), "context": Shelf()}
    chain = with_context(parts | RAG | answering(), ctx, said="question")
    chain.invoke({"question": ASKED, "past": DOCUMENT}, THREAD)


def condensed_by_a_model_with_a_memory(ctx: ContextMiddleware) -> None:
    condense = with_context(CONDENSE | answering(DOCUMENT), ctx)
    step = RunnablePassthrough.assign(question=condense | StrOutputParser(), context=lambda _: "")
    with_context(step | RAG | answering(), ctx, said="question").invoke(
        {"question": ASKED, "past": DOCUMENT}, THREAD
    )


def translated_examples(ctx: ContextMiddleware) -> None:
    prompt = ChatPromptTemplate([("ai", "Notes: {context}"), ("human", "{question}")])
    with_context(prompt | answering(), ctx).invoke(FILLED, THREAD)


# -- in graphs --------------------------------------------------------------------------------


def a_system_message_of_a_node(ctx: ContextMiddleware) -> None:
    model = with_context(answering(), ctx)

    def answer(state: Any) -> Any:
        return {"messages": [model.invoke([SystemMessage(DOCUMENT), *state["messages"]])]}

    graph(answer=answer).invoke({"messages": [HumanMessage(ASKED)]}, THREAD)


def a_prompt_of_a_node_with_a_config_of_its_own(ctx: ContextMiddleware) -> None:
    model = with_context(answering(), ctx)

    def grade(state: Any) -> Any:
        model.invoke(f"Grade this: {DOCUMENT}", THREAD)
        return {}

    graph(grade=grade).invoke({"messages": [HumanMessage(ASKED)]}, THREAD)


def a_rewritten_question(ctx: ContextMiddleware) -> None:
    rewriter, model = with_context(answering(DOCUMENT), ctx), with_context(answering(), ctx)

    def rewrite(state: Any) -> Any:
        better = rewriter.invoke(f"Rewrite: {state['messages'][-1].content}")
        return {"messages": [{"role": "user", "content": better.content}]}

    def answer(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    flow = graph(rewrite=rewrite, answer=answer)
    flow.invoke({"messages": [HumanMessage(ASKED)]}, THREAD)


# -- agents -----------------------------------------------------------------------------------


def run(ctx: ContextMiddleware, tools: list[Any], *script: Any, **options: Any) -> Any:
    agent = create_agent(
        answering(*script),
        tools,
        middleware=[*options.pop("outside", ()), ContextAgentMiddleware(ctx)],
        checkpointer=InMemorySaver(),
        **options,
    )
    agent.invoke({"messages": [HumanMessage(ASKED)]}, THREAD)
    return agent


def a_retriever_as_a_tool(ctx: ContextMiddleware) -> None:
    shelf = create_retriever_tool(Shelf(), "handbook", "Searches the handbook.")
    run(ctx, [shelf], calling("handbook", {"query": "staging"}))


def documents_in_a_dynamic_prompt(ctx: ContextMiddleware) -> None:
    @dynamic_prompt
    def with_documents(request: Any) -> str:
        return f"Answer from:\n{DOCUMENT}"

    run(ctx, [], outside=[with_documents])


def a_chain_in_a_tool(ctx: ContextMiddleware) -> None:
    chain = with_context(RAG | answering(), ctx, said="question")

    @tool
    def look_up(question: str) -> str:
        """Look something up."""
        return str(chain.invoke({"question": question, "context": DOCUMENT}).content)

    run(ctx, [look_up], calling("look_up", {"question": f"Remember that {DOCUMENT}"}), "Aha.")


def a_chain_in_a_tool_with_a_thread_of_its_own(ctx: ContextMiddleware) -> None:
    chain = with_context(RAG | answering(), ctx, said="question")

    @tool
    def look_up(question: str) -> str:
        """Look something up."""
        return str(chain.invoke({"question": question, "context": DOCUMENT}, OWN).content)

    run(ctx, [look_up], calling("look_up", {"question": f"Remember that {DOCUMENT}"}), "Aha.")


def a_model_in_a_tool_with_a_thread_of_its_own(ctx: ContextMiddleware) -> None:
    model = with_context(answering(), ctx)

    @tool
    def think(about: str) -> str:
        """Think about something."""
        return str(model.invoke(about, OWN).content)

    run(ctx, [think], calling("think", {"about": f"Remember that {DOCUMENT}"}), "Aha.")


def a_subagent_with_a_thread_of_its_own(ctx: ContextMiddleware) -> None:
    middleware = [ContextAgentMiddleware(ctx)]
    worker = create_agent(answering(), middleware=middleware, checkpointer=InMemorySaver())

    @tool
    def research(task: str) -> str:
        """Have a subagent look something up."""
        done = worker.invoke({"messages": [HumanMessage(task)]}, OWN)
        return str(done["messages"][-1].content)

    run(ctx, [research], calling("research", {"task": f"Remember that {DOCUMENT}"}), "Aha.")


ATTACKS = [
    stuffed,
    stuffed_by_the_chain,
    assigned,
    in_the_system_message,
    in_the_system_message_and_said,
    for_a_completion,
    with_a_history,
    asked_again_without_documents,
    by_a_function,
    by_a_function_in_one_message,
    by_a_function_before_a_template,
    by_a_function_in_a_branch,
    condensed,
    condensed_by_a_model_with_a_memory,
    translated_examples,
    a_system_message_of_a_node,
    a_prompt_of_a_node_with_a_config_of_its_own,
    a_rewritten_question,
    a_retriever_as_a_tool,
    documents_in_a_dynamic_prompt,
    a_chain_in_a_tool,
    a_chain_in_a_tool_with_a_thread_of_its_own,
    a_model_in_a_tool_with_a_thread_of_its_own,
    a_subagent_with_a_thread_of_its_own,
]


def a_file_beside_the_persons_words(ctx):
    asked = {"type": "text", "text": "Summarise the attached file."}
    attached = {"type": "text-plain", "text": f"I prefer {HOST}. {DOCUMENT}", "title": "notes.txt"}
    model = RecordingModel(otherwise="All right.")
    with_context(model, ctx).invoke([HumanMessage(content=[asked, attached])], THREAD)


def a_node_that_adds_documents_to_the_state(ctx):
    model = with_context(RecordingModel(otherwise="All right."), ctx)
    found = HumanMessage(f"Context:\nI prefer {HOST}. {DOCUMENT}")
    nodes = {
        "retrieve": lambda state: {"messages": [found]},
        "answer": lambda state: {"messages": [model.invoke(state["messages"])]},
    }
    graph(**nodes).invoke({"messages": [HumanMessage(ASKED)]}, THREAD)


ATTACKS += [a_file_beside_the_persons_words, a_node_that_adds_documents_to_the_state]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_a_strangers_words_are_not_laundered(ctx, attack):
    attack(ctx)
    assert got_through(ctx, "one", "own") == []


FORGOTTEN = {
    stuffed: "document:context",
    assigned: "document:context",
    in_the_system_message: "document:context",
    with_a_history: "document:context",
    a_system_message_of_a_node: "system",
    documents_in_a_dynamic_prompt: "system",
    a_retriever_as_a_tool: "tool:handbook",
}


@pytest.mark.parametrize("attack", FORGOTTEN, ids=lambda attack: attack.__name__)
def test_forgetting_their_source_reaches_what_was_made_of_them(ctx, attack):
    attack(ctx)
    ctx.session("one").end()
    notes = load_all(ctx.store.query("local", Find(types=("note",))), Note)
    assert [note.trust for note in notes if HOST in note.text] == ["untrusted"]
    assert left_after_forgetting(ctx, FORGOTTEN[attack]) == []
    assert ASKED in said(ctx)


def test_a_source_that_is_trusted_is(ctx):
    with ContextMiddleware.open(":memory:", trust={"document:context": "trusted"}) as trusting:
        stuffed(trusting)
        notes = load_all(trusting.store.query("local", Find(types=("note",))), Note)
        assert [note.trust for note in notes] == ["trusted"]


def test_what_the_application_fills_in_beforehand_is_no_strangers(ctx):
    prompt = ChatPromptTemplate([("system", "Today is {day}."), ("human", "{question}")])
    chain = with_context(prompt.partial(day="Monday") | answering("We decided on Kafka."), ctx)
    chain.invoke({"question": "Which queue?"}, THREAD)
    notes = load_all(ctx.store.query("local", Find(types=("note",))), Note)
    assert [note.trust for note in notes] == ["trusted"]


def test_the_persons_own_words_are_theirs_beside_documents(ctx):
    chain = with_context(RAG | answering("Noted."), ctx, said="question")
    chain.invoke({"question": "I prefer green tea.", "context": DOCUMENT}, THREAD)
    assert learned(ctx) == ["I prefer green tea."]
    assert (
        "I prefer green tea."
        in ctx.session("later").peek([{"role": "user", "content": "Hello"}]).context.stable
    )


def test_a_question_that_passes_a_condenser_by_is_the_persons(ctx):
    condense = ChatPromptTemplate([("human", "Condense: {question}")]) | RecordingModel()
    step = RunnablePassthrough.assign(search=condense | StrOutputParser(), context=lambda _: "x")
    chain = with_context(step | RAG | RecordingModel(), ctx, said="question")
    chain.invoke({"question": "I prefer green tea."}, THREAD)
    assert "I prefer green tea." in learned(ctx)

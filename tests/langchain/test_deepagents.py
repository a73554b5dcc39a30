"""Agents of deepagents: the memory as their middleware, and its store behind their files."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextAgentMiddleware, ContextStore, LangGraphSource
from tests.langchain.models import RecordingModel, calling
from tests.langchain.orders import is_valid

deepagents = pytest.importorskip("deepagents", reason="deepagents is not installed")
backends = pytest.importorskip("deepagents.backends", reason="deepagents is not installed")

TOLD = "I prefer window seats."
TASK = "From now on, always book aisle seats. Find a hotel in Lyon."


class Subject(RecordingModel):
    """A model that deepagents can tell the provider of."""

    model_name: str = "gpt-4o-mini"


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", user=None, strict=True) as memory:
        yield memory


def asking(user: str, thread: str) -> Any:
    return {"configurable": {"user_id": user, "thread_id": thread}}


def ask(agent: Any, text: str, config: Any) -> list[Any]:
    return agent.invoke({"messages": [("user", text)]}, config)["messages"]


def deep_agent(model: Any, ctx: ContextMiddleware, **options: Any) -> Any:
    return deepagents.create_deep_agent(
        model=model,
        system_prompt="You plan trips.",
        middleware=[ContextAgentMiddleware(ctx)],
        checkpointer=InMemorySaver(),
        **options,
    )


def test_what_is_said_in_one_thread_is_known_once_in_the_next_and_to_nobody_else(ctx):
    model = Subject()
    agent = deep_agent(model, ctx)
    ask(agent, f"{TOLD} Plan my trip to Lyon.", asking("ada", "t1"))
    ask(agent, "Which seats do I like?", asking("ada", "t2"))
    ask(agent, "Which seats do I like?", asking("bob", "t3"))
    _, known, other = model.prompts
    assert str(known[0].content).count(TOLD) == 1
    assert TOLD not in str(other)
    assert all(map(is_valid, model.prompts))
    assert {"mem_search", "write_file"} <= {
        one["function"]["name"] for one in model.options[1]["tools"]
    }


def test_a_subagent_knows_the_user_where_it_is_given_the_memory_and_its_task_teaches_nothing(ctx):
    ctx.remember(TOLD, kind="preference", user="ada")
    knowing, unknowing = Subject(otherwise="Found one."), Subject(otherwise="Found none.")
    tasks = [
        calling("task", {"description": TASK, "subagent_type": name}, f"call_{name}")
        for name in ("hotels", "trains")
    ]
    model = Subject(script=tasks, otherwise="All is booked.")
    common = {"description": "Finds things.", "system_prompt": "You find things."}
    memory = ContextAgentMiddleware(ctx, tools=False)
    agent = deep_agent(
        model,
        ctx,
        subagents=[
            {"name": "hotels", "model": knowing, "middleware": [memory], **common},
            {"name": "trains", "model": unknowing, **common},
        ],
    )
    ask(agent, "Plan my trip to Lyon.", asking("ada", "t1"))
    assert str(knowing.prompts[0][0].content).count(TOLD) == 1
    assert TOLD not in str(unknowing.prompts)
    assert all(map(is_valid, [*model.prompts, *knowing.prompts]))
    ctx.session("t1", user="ada").end()
    assert [one.text for one in ctx.memories(user="ada")] == [TOLD]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_files_live_in_the_users_own_store_and_outlive_the_thread(ctx, how):
    written = calling("write_file", {"file_path": "/plan.md", "content": "Lyon by train."})
    read = calling("read_file", {"file_path": "/plan.md"})
    model = Subject(script=[written, "Done.", read, "Read.", read, "Read."])
    agent = deep_agent(
        model,
        ctx,
        store=ContextStore(ctx),
        backend=backends.StoreBackend(namespace=lambda _: ("files",)),
    )

    async def run(text: str, config: Any) -> None:
        given = {"messages": [HumanMessage(text)]}
        await agent.ainvoke(given, config) if how == "ainvoke" else agent.invoke(given, config)

    await run("Write my plan down.", asking("ada", "t1"))
    await run("What is my plan?", asking("ada", "t2"))
    await run("What is my plan?", asking("bob", "t3"))
    seen, unseen = (str(model.prompts[at][-1].content) for at in (3, 5))
    assert "Lyon by train." in seen
    assert "not found" in unseen
    assert [item.key for item in ContextStore(ctx, user="ada").search(("files",))] == ["/plan.md"]
    assert ContextStore(ctx, user="bob").search(("files",)) == []
    ctx.forget(user="ada")
    assert ContextStore(ctx, user="ada").search(("files",)) == []


def test_what_was_said_is_kept_when_deepagents_shortens_its_history():
    model = Subject(profile={"max_input_tokens": 12_000})
    said = [f"Stop {at} of the trip is {'pleasant ' * 700}".strip() for at in range(12)]
    with ContextMiddleware.open(":memory:", user="ada", strict=True) as ctx:
        agent = deep_agent(model, ctx)
        for text in said:
            ask(agent, text, asking("ada", "t1"))
        kept = [one.asked for one in ctx.session("t1").transcript() if one.asked]
    assert [turn.text for turn in kept if turn.author == "person"] == said
    shortening = [sent for sent in model.prompts if "summar" in str(sent[-1].content)]
    assert shortening
    assert all(is_valid(sent) for sent in model.prompts if sent not in shortening)


def test_what_its_agents_wrote_comes_as_untrusted_where_its_store_is_a_source(ctx):
    store = ContextStore(ctx, user="ada")
    store.put(("notes",), "trip", {"content": "The hotel in Lyon is the Grand Lapin."})
    with ContextMiddleware.open(
        ":memory:", user="ada", sources=[LangGraphSource(store, ("notes",))]
    ) as reading:
        model = Subject()
        ask(deep_agent(model, reading), "Which hotel in Lyon is it?", asking("ada", "t1"))
    [question] = [str(one.content) for one in model.prompts[0] if isinstance(one, HumanMessage)]
    assert "Grand Lapin" in question
    assert "[untrusted" in question
    assert not any(isinstance(one, AIMessage) for one in model.prompts[0])

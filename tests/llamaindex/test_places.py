"""Who a LlamaIndex run is for, and where it takes place: by arguments, and by its Context."""

from __future__ import annotations

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.workflow import Context

from ctxmw import ContextMiddleware, InvalidValue, WrongUser
from ctxmw_llamaindex import with_context
from tests.llamaindex.models import RecordingLLM

DECIDED = "Ship releases on Tuesdays."


@pytest.fixture
def server():
    with ContextMiddleware.open(":memory:", user=None, strict=True, index_folders=False) as ctx:
        for user in ("ada", "bob"):
            decided = f"{DECIDED} ({user})"
            ctx.remember(decided, kind="decision", scope="project:shop", user=user)
        yield ctx


@pytest.fixture
def llm():
    return RecordingLLM()


def agent(llm):
    return FunctionAgent(name="one", description="Answers.", llm=llm, tools=[])


def workflow(llm):
    return AgentWorkflow(agents=[agent(llm)], root_agent="one")


async def context_of(target, **said):
    context = Context(target)
    for key, value in said.items():
        await context.store.set(key, value)
    return context


def texts(llm):
    return ["\n".join(str(message.content) for message in sent) for sent in llm._prompts]


def test_an_engine_is_told_the_project_or_the_folder(llm, server, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    engine = SimpleChatEngine.from_defaults(llm=llm)
    for number, place in enumerate([{"project": "shop"}, {"cwd": tmp_path}, {}]):
        chat = with_context(engine, server, user="ada", session=f"s{number}", **place)
        chat.chat("Hello there.")
    assert [f"{DECIDED} (ada)" in text for text in texts(llm)] == [True, True, False]


@pytest.mark.parametrize("make", [agent, workflow])
async def test_the_context_of_a_run_says_who_and_where(make, llm, server):
    wrapped = with_context(make(llm), server)
    for user in ("ada", "bob"):
        context = await context_of(wrapped, user_id=user, session_id="s1", project="shop")
        await wrapped.run("Hello there.", ctx=context)
    first, second = texts(llm)
    assert f"{DECIDED} (ada)" in first
    assert f"{DECIDED} (bob)" in second
    assert "(bob)" not in first
    assert [one.session for one in server.sessions(user="ada")] == ["s1"]


async def test_a_context_that_says_nothing_leaves_all_as_it_was(llm, server):
    wrapped = with_context(agent(llm), server, user="ada", project="shop")
    await wrapped.run("Hello there.", ctx=await context_of(wrapped, state={"userId": 3}))
    assert f"{DECIDED} (ada)" in texts(llm)[0]


async def test_a_context_that_names_another_user_is_refused(llm, server):
    wrapped = with_context(agent(llm), server, user="ada")
    with pytest.raises(WrongUser, match=r"'bob'.*'ada'"):
        wrapped.run("Hello there.", ctx=await context_of(wrapped, user_id="bob"))


async def test_a_name_that_is_almost_ours_is_an_error_that_tells_the_right_one(llm, server):
    wrapped = with_context(agent(llm), server, user="ada")
    for name, meant in {"userId": "user_id", "projct": "project", "ctxmw_cwd": "cwd"}.items():
        with pytest.raises(InvalidValue, match=rf"'{name}'.*'{meant}'"):
            wrapped.run("Hello there.", ctx=await context_of(wrapped, **{name: "ada"}))


async def test_names_of_others_are_left_alone(llm, server):
    wrapped = with_context(agent(llm), server, user="ada")
    await wrapped.run("Hi.", ctx=await context_of(wrapped, projects=["a"], project_name="Shop"))
    assert len(texts(llm)) == 1


@pytest.mark.parametrize("place", [{"project": ""}, {"project": 3}, {"cwd": 3}])
def test_a_place_that_makes_no_sense_is_refused_where_it_is_given(place, llm, server):
    with pytest.raises(InvalidValue, match=next(iter(place))):
        with_context(agent(llm), server, user="ada", **place)


def test_a_conversation_has_its_own_place(llm, server):
    chat = server.session("t1", user="ada")
    with pytest.raises(InvalidValue, match=r"ctx\.session\('t1', project="):
        with_context(agent(llm), server, session=chat, project="shop")

"""Where a LangChain call takes place, in each of the ways to say it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw_langchain import ContextAgentMiddleware, pre_model_hook, with_context
from ctxmw_langchain.conversations import Conversations
from tests.langchain.models import RecordingModel

DECIDED = "Ship releases on Tuesdays."
ASKED = {"messages": [HumanMessage("Hello there.")]}


@dataclass
class Caller:
    user_id: str = "ada"
    project: Any = None


@pytest.fixture
def server():
    with ContextMiddleware.open(":memory:", user=None, strict=True, index_folders=False) as ctx:
        for user in ("ada", "bob"):
            decided = f"{DECIDED} ({user})"
            ctx.remember(decided, kind="decision", scope="project:shop", user=user)
        yield ctx


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    return tmp_path


@pytest.fixture
def model():
    return RecordingModel()


def agent(model, ctx, **place):
    middleware = [ContextAgentMiddleware(ctx, **place)]
    return create_agent(model, middleware=middleware, context_schema=Any)


def graph(model, ctx, **place):
    wrapped = with_context(model, ctx, **place)
    made = StateGraph(MessagesState, context_schema=Any)
    made.add_node("ask", lambda state: {"messages": [wrapped.invoke(state["messages"])]})
    made.add_edge(START, "ask")
    return made.compile()


def hooked(model, ctx, **place):
    hook = pre_model_hook(ctx, **place)
    made = StateGraph(MessagesState, context_schema=Any)

    def ask(state, config):
        sent = hook.invoke(state, config)["llm_input_messages"]
        return {"messages": [model.invoke(sent)]}

    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    return made.compile()


MAKERS = [agent, graph, hooked]


def config(**said):
    return {"configurable": {"user_id": "ada", "thread_id": "t1", **said}}


@pytest.mark.parametrize("make", MAKERS)
def test_the_wrapper_says_the_project(make, model, server):
    make(model, server, project="shop").invoke(ASKED, config())
    assert f"{DECIDED} (ada)" in model.texts()[0]
    assert "(bob)" not in model.texts()[0]


@pytest.mark.parametrize("make", MAKERS)
def test_the_wrapper_says_the_folder(make, model, server, folder):
    make(model, server, cwd=folder).invoke(ASKED, config())
    assert DECIDED in model.texts()[0]


@pytest.mark.parametrize("make", MAKERS)
def test_the_call_says_the_project_and_wins_over_the_wrapper(make, model, server):
    asked = make(model, server, project="other")
    asked.invoke(ASKED, config(project="shop"))
    asked.invoke(ASKED, config(thread_id="t2"))
    assert [DECIDED in text for text in model.texts()] == [True, False]


@pytest.mark.parametrize("make", MAKERS)
def test_the_call_says_the_folder(make, model, server, folder):
    make(model, server).invoke(ASKED, config(cwd=folder))
    assert DECIDED in model.texts()[0]


@pytest.mark.parametrize("make", MAKERS)
def test_the_runtimes_context_says_the_project(make, model, server):
    make(model, server).invoke(ASKED, config(), context=Caller(project="shop"))
    make(model, server).invoke(ASKED, config(thread_id="t2"), context={"project": "shop"})
    assert all(DECIDED in text for text in model.texts())


def test_a_conversation_that_was_entered_moves_with_the_call(model, server):
    chain = with_context(model, server)
    with server.session("t1", user="ada", project="other"):
        chain.invoke("Hello there.")
        chain.invoke("Hello again.", config(project="shop"))
    assert [DECIDED in text for text in model.texts()] == [False, True]


def test_two_places_that_differ_are_an_error(model, server):
    with pytest.raises(InvalidValue, match=r"project twice .*'a' in config.*'b' in context"):
        graph(model, server).invoke(ASKED, config(project="a"), context={"project": "b"})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"userId": "ada"}, "user_id"),
        ({"USER-ID": "ada"}, "user_id"),
        ({"user_id": "ada", "threadId": "t1"}, "thread_id"),
        ({"thread_id": "t1", "userId": "ada"}, "user_id"),
        ({"user_id": "ada", "Project": "shop"}, "project"),
        ({"user_id": "ada", "projct": "shop"}, "project"),
        ({"usre_id": "ada"}, "user_id"),
        ({"user_id": "ada", "laern": False}, "learn"),
        ({"user_id": "ada", "ctxmw_projct": "shop"}, "project"),
        ({"user_id": "ada", "ctxmw_zzz": "shop"}, "it takes user_id"),
    ],
)
def test_a_name_that_is_almost_ours_is_an_error_that_tells_the_right_one(
    said, meant, model, server
):
    with pytest.raises(InvalidValue, match=meant):
        with_context(model, server).invoke("Hi.", {"configurable": said})


def test_so_is_one_in_the_context(model, server):
    for name in ("userId", "uesr_id"):
        with pytest.raises(InvalidValue, match=rf"context has '{name}'.*'user_id'"):
            graph(model, server).invoke(ASKED, {"configurable": {}}, context={name: "ada"})


def test_so_is_one_on_its_way_through_an_agent(model, server):
    agent = create_agent(model, tools=[], middleware=[ContextAgentMiddleware(server)])
    with pytest.raises(InvalidValue, match=r"'projct'.*'project'"):
        agent.invoke(ASKED, config(projct="shop"))


def test_names_of_others_are_left_alone(model, server):
    said = config(team="shop", userId="ada", model_name="x", checkpoint_id=None)
    said["configurable"] |= {"projects": ["shop"], "threat_id": "t9", "project_name": "Shop"}
    with_context(model, server).invoke("Hi.", said)
    graph(model, server).invoke(ASKED, config(), context={"user_name": "Ada", "user_id": "ada"})
    assert len(model.prompts) == 2


@pytest.mark.parametrize(
    ("named", "context"),
    [
        ({"user_id": "ada", "thread_id": "t1", "sessionId": "browser-7"}, {}),
        ({"user_id": "ada", "session_id": "t1", "threadId": 7}, {}),
        ({"langgraph_auth_user_id": "ada", "userId": 7}, {}),
        ({"userId": 7}, {"user_id": "ada"}),
        ({"user_id": "ada"}, {"userId": 7, "Project": None}),
        ({"user_id": "ada", "project": "shop"}, {"Project": "Spring"}),
        # Nothing of ours: a conversation is said in the config alone.
        ({"user_id": "ada"}, {"sessionId": "browser-7", "learns": 1}),
    ],
)
def test_what_a_call_has_said_is_not_meant_by_a_name_of_the_application(
    named, context, model, server
):
    graph(model, server).invoke(ASKED, {"configurable": named}, context=context)
    assert len(model.prompts) == 1


@pytest.mark.parametrize("place", [{"project": ""}, {"project": 3}, {"cwd": 3}])
@pytest.mark.parametrize("make", MAKERS)
def test_a_place_that_makes_no_sense_is_refused_where_it_is_given(make, place, model, server):
    with pytest.raises(InvalidValue, match=next(iter(place))):
        make(model, server, **place)


def test_a_conversation_has_its_own_place(model, server):
    chat = server.session("t1", user="ada")
    with pytest.raises(InvalidValue, match=r"ctx\.session\('t1', project="):
        with_context(model, server, session=chat, project="shop")


def test_copies_and_other_processes_keep_the_place(tmp_path):
    with ContextMiddleware.open(tmp_path / "m.db", index_folders=False) as ctx:
        place = Conversations(ctx, project="shop")
        assert copy.deepcopy(place).place == {"project": "shop"}
        back = pickle.loads(pickle.dumps(place))
        assert back.place == {"project": "shop"}
        back.ctx.close()


def test_wrapping_again_says_a_new_place(model, server):
    once = with_context(model, server, project="other")
    with_context(once, server, project="shop").invoke("Hello there.", config())
    with_context(once, server).invoke("Hello there.", config(thread_id="t2"))
    assert [DECIDED in text for text in model.texts()] == [True, False]

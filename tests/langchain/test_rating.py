"""A thumb on an answer reaches the record of the call behind it, whatever names the answer."""

from __future__ import annotations

from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tracers.context import collect_runs

from ctxmw import ContextMiddleware, InvalidValue, NotFound
from ctxmw_langchain import ContextAgentMiddleware, arate, rate, with_context
from tests.langchain.models import RecordingModel
from tests.langchain.test_http import client
from tests.support.openai_stub import OpenAIStub

ASKED = {"messages": [HumanMessage("How do I write this?")]}


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", user="ada", strict=True) as memory:
        memory.remember("Prefer early returns.", kind="preference")
        yield memory


class ModelRuns(BaseCallbackHandler):
    """What an application keeps beside an answer: the id of the model's run."""

    def __init__(self):
        self.ids = []

    def on_chat_model_start(self, serialized, messages, *, run_id, **_):
        self.ids.append(run_id)


def test_by_the_message_the_record_or_the_run(ctx):
    chain = with_context(
        ChatPromptTemplate.from_messages([("user", "{q}")]) | RecordingModel(), ctx
    )
    runs = ModelRuns()
    answer = chain.invoke({"q": "How?"}, {"callbacks": [runs]})
    record = ctx.why(answer.response_metadata["ctxmw"]["record"])
    bare = answer.model_copy(update={"response_metadata": {}})
    for name in (answer, bare, record, record.ref, answer.id, runs.ids[-1], str(runs.ids[-1])):
        assert rate(ctx, name, value=1).record == record.ref


@pytest.mark.parametrize("stream", [False, True])
def test_by_the_models_run_inside_an_agent(ctx, stream):
    runs = ModelRuns()
    with OpenAIStub(["With early returns."]) as server:
        agent = create_agent(client(server), [], middleware=[ContextAgentMiddleware(ctx)])
        if stream:
            list(agent.stream(ASKED, {"callbacks": [runs]}))
        else:
            agent.invoke(ASKED, {"callbacks": [runs]})
    (preference,) = ctx.memories()
    rated = rate(ctx, runs.ids[-1], preference.ref, -1, note="not in Go")
    assert rated.record == ctx.why("With early returns.").ref
    assert (rated.about, rated.value, rated.note) == (preference.ref, -1, "not in Go")


def test_by_the_run_of_a_whole_chain_as_tracers_have_it(ctx):
    ask = ChatPromptTemplate.from_messages([("user", "{q}")])
    with collect_runs() as traced:
        answer = with_context(ask | RecordingModel(), ctx).invoke({"q": "How?"})
    root = max(traced.traced_runs, key=lambda run: len(run.child_runs))
    assert str(root.id) not in answer.id
    assert rate(ctx, root, value=1).record == answer.response_metadata["ctxmw"]["record"]


async def test_it_has_an_async_twin_and_takes_what_was_missing(ctx):
    answer = await with_context(RecordingModel(), ctx).ainvoke("How?")
    rated = await arate(ctx, answer, missing="the office plan", user="ada")
    assert rated.missing == "the office plan"


@pytest.mark.parametrize("name", [uuid4(), "nothing", AIMessage("never said", id="x")])
def test_what_is_not_known_is_named(ctx, name):
    with pytest.raises(NotFound, match="no call of this user is known by"):
        rate(ctx, name, value=1)


def test_another_users_answer_cannot_be_rated(ctx):
    answer = with_context(RecordingModel(), ctx).invoke("How?")
    with pytest.raises(NotFound):
        rate(ctx, answer, value=1, user="bob")


def test_what_names_no_answer_is_refused(ctx):
    with pytest.raises(InvalidValue, match="give a message"):
        rate(ctx, 5, value=1)

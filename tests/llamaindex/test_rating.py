"""A thumb on an answer reaches the record of the call behind it, whatever names the answer."""

from __future__ import annotations

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import Field

from ctxmw import ContextMiddleware, InvalidValue, NotFound
from ctxmw_llamaindex import ContextPrepared, arate, rate, with_context
from tests.llamaindex.engines import simple
from tests.llamaindex.models import REPLY, RecordingLLM

ASKED = "How do I write this?"


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", user="ada", strict=True) as memory:
        memory.remember("Prefer early returns.", kind="preference")
        yield memory


class Heard(BaseEventHandler):
    """What an application keeps that follows the instrumentation."""

    events: list[ContextPrepared] = Field(default_factory=list)

    def handle(self, event, **_):
        if isinstance(event, ContextPrepared):
            self.events.append(event)


def test_by_the_response_its_text_its_event_or_the_record(ctx, monkeypatch):
    heard = Heard()
    root = get_dispatcher()
    monkeypatch.setattr(root, "event_handlers", [*root.event_handlers, heard])
    response = with_context(simple(RecordingLLM()), ctx).chat(ASKED)
    record = ctx.why(REPLY)
    assert heard.events[-1].span_id
    for name in (response, REPLY, heard.events[-1], record, record.ref):
        assert rate(ctx, name, value=1).record == record.ref


async def test_by_what_an_agent_returned(ctx):
    agent = with_context(FunctionAgent(llm=RecordingLLM(), tools=[]), ctx)
    answer = await agent.run(user_msg=ASKED)
    (preference,) = ctx.memories()
    rated = await arate(ctx, answer, preference.ref, -1, note="not in Go")
    assert rated.record == ctx.why(REPLY).ref
    assert (rated.about, rated.value, rated.note) == (preference.ref, -1, "not in Go")


def test_by_the_answer_of_a_model_alone(ctx):
    response = with_context(RecordingLLM(), ctx, session="s1").chat([ChatMessage(ASKED)])
    assert rate(ctx, response, value=1).record == ctx.why(REPLY).ref


def test_what_is_not_known_is_named(ctx):
    with pytest.raises(NotFound, match="no call of this user is known by 'never said'"):
        rate(ctx, "never said", value=1)
    response = with_context(simple(RecordingLLM()), ctx).chat(ASKED)
    with pytest.raises(NotFound):
        rate(ctx, response, value=1, user="bob")


@pytest.mark.parametrize("name", [None, 5, {"record": "c1"}])
def test_what_names_no_answer_is_refused(ctx, name):
    with pytest.raises(InvalidValue, match="give a response"):
        rate(ctx, name, value=1)

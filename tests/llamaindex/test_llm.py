"""A bare model with a memory: still the model it was, in the conversation it is called in."""

from __future__ import annotations

import copy
import pickle

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMChatStartEvent
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw_llamaindex import ContextPrepared, with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.engines import FORMS, Notes
from tests.llamaindex.models import REPLY, CompletingLLM, RecordingLLM, calling

ASKED = [ChatMessage(role="user", content="How do we sign tokens?")]


async def chat(llm, messages):
    return llm.chat(messages).message.content


async def achat(llm, messages):
    return (await llm.achat(messages)).message.content


async def stream_chat(llm, messages):
    return list(llm.stream_chat(messages))[-1].message.content


async def astream_chat(llm, messages):
    chunks = [chunk async for chunk in await llm.astream_chat(messages)]
    return chunks[-1].message.content


MODEL_FORMS = [chat, achat, stream_chat, astream_chat]


@pytest.mark.parametrize("form", MODEL_FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("make", [RecordingLLM, CompletingLLM], ids=["chat", "completion"])
async def test_it_is_recorded_once_and_captures_nothing(ctx, make, form):
    inner = make()
    llm = with_context(inner, ctx)
    with ctx.session("s1") as talk:
        assert await form(llm, ASKED) == REPLY
    (record,) = talk.history()
    assert (record.state, record.reply) == ("answered", "")
    assert ctx.why(REPLY).ref == record.ref
    assert ctx.search("sign tokens", kinds=["turn"]) == []
    (prompt,) = inner.prompts
    text = prompt if isinstance(prompt, str) else prompt[0].content
    assert text.count(KNOWN) == 1


async def test_without_a_conversation_it_says_what_is_missing(ctx):
    llm = with_context(RecordingLLM(), ctx)
    with pytest.raises(InvalidValue, match="with chat:"):
        llm.chat(ASKED)
    named = with_context(RecordingLLM(), ctx, session="s1")
    named.chat(ASKED)
    assert len(ctx.session("s1").history()) == 1


def test_a_server_has_to_say_who_it_is_for_even_when_it_forgives():
    with ContextMiddleware.open(":memory:", user=None, strict=False) as ctx:
        engine = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx)
        with pytest.raises(MissingUser):
            engine.chat("Hello")
        named = with_context(RecordingLLM(), ctx, session="s1")
        with pytest.raises(MissingUser):
            named.chat(ASKED)
        told = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx, user="ada")
        assert told.chat("Hello").metadata["ctxmw"]["record"]


def test_its_class_and_what_it_was_given_stay(ctx):
    inner = RecordingLLM()
    llm = with_context(inner, ctx, session="s1")
    assert isinstance(llm, RecordingLLM)
    assert isinstance(llm, FunctionCallingLLM)
    assert type(llm).__name__ == "RecordingLLM"
    assert llm.unwrap() is inner
    assert with_context(llm, ctx, session="s2").unwrap() is inner
    assert llm.model_dump() == inner.model_dump()
    before = copy.deepcopy(ASKED)
    history = [ChatMessage(role="assistant", content="Hello."), *ASKED]
    llm.chat(history)
    assert before == ASKED
    assert inner.given[0][1] is history[0]


class Algorithm(BaseModel):
    """How tokens are signed."""

    name: str


def test_structured_prediction_goes_through_the_memory(ctx):
    inner = RecordingLLM([calling("Algorithm", {"name": "RS256"})])
    llm = with_context(inner, ctx, session="s1")
    found = llm.structured_predict(
        Algorithm, PromptTemplate("Which algorithm signs {what}?"), what="tokens"
    )
    assert found == Algorithm(name="RS256")
    assert KNOWN in inner.prompts[0][0].content
    assert "Which algorithm signs tokens?" in inner.prompts[0][-1].content


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_a_model_that_completes_gets_the_block_before_the_prompt(ctx, form):
    inner = CompletingLLM()
    engine = ContextChatEngine.from_defaults(retriever=Notes("A note."), llm=inner)
    response = await form(with_context(engine, ctx, session="s1"), "How do we {sign} tokens?")
    (prompt,) = inner.prompts
    assert prompt.startswith("<ctxmw>\n")
    assert prompt.count(KNOWN) == 1
    assert "A note." in prompt
    assert "How do we {sign} tokens?" in prompt
    assert response.metadata["ctxmw"]["record"] == ctx.session("s1").history()[-1].ref


def test_an_unformatted_prompt_is_left_alone(ctx):
    inner = CompletingLLM()
    llm = with_context(inner, ctx, session="s1")
    llm.complete("Rewrite the question.")
    assert inner.prompts == ["Rewrite the question."]
    assert ctx.session("s1").history() == []


@pytest.mark.parametrize("form", [stream_chat, astream_chat], ids=lambda form: form.__name__)
async def test_what_waits_arrives_with_the_first_chunk_even_if_the_rest_is_not_wanted(ctx, form):
    llm = with_context(RecordingLLM(), ctx)
    with ctx.session("s1") as talk:
        talk.collect("lint", "1", "Line 4 is too long.")
        if form is stream_chat:
            stream = llm.stream_chat(ASKED)
            next(stream)
            assert talk.pending() == []
            stream.close()
        else:
            stream = await llm.astream_chat(ASKED)
            await anext(stream)
            assert talk.pending() == []
            await stream.aclose()
    assert talk.history()[-1].state == "abandoned"
    assert talk.pending() == []


@pytest.mark.parametrize("form", MODEL_FORMS, ids=lambda form: form.__name__)
async def test_an_error_of_the_model_is_raised_and_recorded_and_what_waited_waits_again(ctx, form):
    llm = with_context(RecordingLLM([ValueError("no quota")]), ctx)
    with ctx.session("s1") as talk:
        talk.collect("lint", "1", "Line 4 is too long.")
        with pytest.raises(ValueError, match="no quota"):
            await form(llm, ASKED)
        (record,) = talk.history()
        assert (record.state, record.error) == ("failed", "ValueError: no quota")
        assert len(talk.pending()) == 1
        assert await form(llm, ASKED) == REPLY
    assert len({record.part_build for record in talk.history()}) == 1


def test_copies_and_pickles_keep_the_memory(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", strict=True) as ctx:
        ctx.remember(KNOWN, kind="decision")
        llm = with_context(MockLLM(max_tokens=3), ctx, session="s1")
        twins = [
            copy.copy(llm),
            copy.deepcopy(llm),
            llm.model_copy(),
            llm.model_copy(deep=True),
            llm.model_copy(update={"max_tokens": 5}),
            pickle.loads(pickle.dumps(llm)),
        ]
        for number, twin in enumerate(twins, 1):
            assert isinstance(twin, MockLLM)
            assert type(twin) is type(llm)
            twin.chat(ASKED)
            assert len(ctx.session("s1").history()) == number
        unpickled = twins[-1]._ctxmw.ctx
        assert unpickled is not ctx
        unpickled.close()


def test_a_wrapped_engine_can_be_copied(ctx):
    engine = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx, session="s1")
    twin = copy.copy(engine)
    twin.chat("Hello")
    assert len(ctx.session("s1").history()) == 1
    assert twin.unwrap() is engine.unwrap()


def test_a_model_whose_system_prompt_is_the_users_gets_one_opening_message(ctx):
    class Plain(RecordingLLM):
        @property
        def metadata(self):
            return super().metadata.model_copy(update={"system_role": MessageRole.USER})

    inner = Plain()
    engine = SimpleChatEngine.from_defaults(llm=inner, system_prompt="You help.")
    with_context(engine, ctx).chat("Hello")
    opening, question = inner.prompts[0]
    assert (opening.role, question.role) == (MessageRole.USER, MessageRole.USER)
    assert KNOWN in opening.content
    assert opening.content.endswith("You help.")
    bare = SimpleChatEngine.from_defaults(llm=Plain())
    with_context(bare, ctx).chat("Hello")


class Kept(BaseEventHandler):
    """Keeps every event."""

    seen: list = []  # noqa: RUF012 - pydantic copies it

    def handle(self, event, **_):
        self.seen.append(event)


async def test_each_call_is_announced_in_its_span(ctx):
    handler = Kept()
    root = get_dispatcher()
    root.add_event_handler(handler)
    try:
        llm = with_context(RecordingLLM(), ctx)
        with ctx.session("s1") as talk:
            await llm.achat(ASKED)
            list(llm.stream_chat(ASKED))
    finally:
        root.event_handlers.remove(handler)
    told = [event for event in handler.seen if isinstance(event, ContextPrepared)]
    assert [event.record for event in told] == [record.ref for record in talk.history()]
    assert all(event.span_id for event in told)
    assert told[0].session == "s1"
    assert told[0].summary == talk.history()[0].summary()
    started = [event for event in handler.seen if isinstance(event, LLMChatStartEvent)]
    assert KNOWN in started[0].messages[0].content
    assert any(isinstance(event, LLMChatEndEvent) for event in handler.seen)

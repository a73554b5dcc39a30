"""Chat engines: turns, histories, failures and streams."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import (
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.query_engine import RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.response_synthesizers import (
    ResponseMode,
    get_response_synthesizer,
)

from ctxmw import ContextMiddleware, InvalidValue, MissingUser
from ctxmw_llamaindex import with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.engines import FORMS, Notes
from tests.llamaindex.models import REPLY, RecordingLLM

ASKED = "How do we sign tokens?"


def crossing(names, refs, server, prompts):
    """Check that nothing of one user got into a record, a memory or a prompt of another."""
    for user, ref in zip(names, refs, strict=True):
        other = "bob" if user == "ada" else "ada"
        record = server.why(ref, user=user)
        assert record.session == f"chat of {user}"
        assert f"{user}-blue" in record.text
        assert f"{other}-blue" not in record.text
        said = [hit.text for hit in server.search("what is my colour", user=user, kinds=["turn"])]
        assert said
        assert not any(other in text for text in said)
    for prompt in prompts:
        text = "\n".join(message.content or "" for message in prompt)
        assert ("ada" in text) is not ("bob" in text)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_concurrent_turns_of_several_users_on_one_engine_never_cross(server, form):
    inner = RecordingLLM()
    # A Memory whose database is in memory loses messages that are put at the same time.
    memory = ChatMemoryBuffer.from_defaults()
    engine = with_context(SimpleChatEngine.from_defaults(llm=inner, memory=memory), server)

    async def ask(user: str) -> str:
        with server.session(f"chat of {user}", user=user):
            return (await form(engine, f"What is my colour, {user}?")).metadata["ctxmw"]["record"]

    names = ("ada", "bob") * 3
    refs = await asyncio.gather(*(ask(user) for user in names))
    crossing(names, refs, server, inner.prompts)
    for user in ("ada", "bob"):
        with server.session(f"chat of {user}", user=user):
            assert len(engine.chat_history) == 6
            asked = [message for message in engine.chat_history if message.role == "user"]
            assert [message.content for message in asked] == [f"What is my colour, {user}?"] * 3


def test_concurrent_turns_in_threads_never_cross(server):
    inner = RecordingLLM()
    # The database of a Memory belongs to one event loop, and each thread has its own.
    memory = ChatMemoryBuffer.from_defaults()
    engine = with_context(SimpleChatEngine.from_defaults(llm=inner, memory=memory), server)
    start = threading.Barrier(4)

    def ask(user: str) -> str:
        start.wait()
        with server.session(f"chat of {user}", user=user):
            return engine.chat(f"What is my colour, {user}?").metadata["ctxmw"]["record"]

    names = ("ada", "bob") * 2
    with ThreadPoolExecutor(4) as pool:
        refs = list(pool.map(ask, names))
    crossing(names, refs, server, inner.prompts)


def test_a_conversation_is_the_engines_own_named_or_entered(ctx):
    llm = RecordingLLM()
    own = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx)
    own.chat("One.")
    own.chat("Two.")
    other = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx)
    other.chat("Three.")
    assert len(ctx.sessions()) == 2
    named = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session="named")
    named.chat("Four.")
    with ctx.session("entered"):
        named.chat("Five.")
    assert len(ctx.session("named").history()) == 1
    assert len(ctx.session("entered").history()) == 1


def test_a_history_that_was_there_before_stays(ctx):
    memory = Memory.from_defaults(chat_history=[ChatMessage(content="My name is Ada.")])
    llm = RecordingLLM()
    bare = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    engine = with_context(bare, ctx, session="s1")
    engine.chat("What is my name?")
    assert "My name is Ada." in llm.prompts[0][1].content
    with ctx.session("s2"):
        engine.chat("What is my name?")
        assert len(engine.chat_history) == 2
        engine.reset()
        assert engine.chat_history == []
    with ctx.session("s1"):
        assert len(engine.chat_history) == 3


def test_an_answer_made_in_several_calls_is_built_once_and_only_the_last_was_said(ctx):
    llm = RecordingLLM(
        ["A first draft of tokens.", "A second draft of tokens.", REPLY], window=1500
    )
    notes = Notes(*("word " * 600 for _ in range(3)))
    engine = ContextChatEngine.from_defaults(retriever=notes, llm=llm)
    response = with_context(engine, ctx, session="s1").chat(ASKED)
    records = ctx.session("s1").history()
    assert len(records) == len(llm.prompts) == 3
    assert {record.state for record in records} == {"answered"}
    assert len({(record.stable_build, record.part_build) for record in records}) == 1
    assert response.metadata["ctxmw"]["record"] == records[-1].ref
    said = [hit.text for hit in ctx.search("draft of tokens, token", kinds=["turn"])]
    assert REPLY in said
    assert not any("draft" in text for text in said)


@pytest.mark.parametrize("mode", [ResponseMode.TREE_SUMMARIZE, ResponseMode.SIMPLE_SUMMARIZE])
def test_a_query_engine_answers_with_memory_whatever_its_synthesizer(ctx, mode):
    llm = RecordingLLM()
    synthesizer = get_response_synthesizer(llm=llm, response_mode=mode)
    inner = RetrieverQueryEngine(Notes("A note."), response_synthesizer=synthesizer)
    query_engine = TransformQueryEngine(inner, query_transform=IdentityQueryTransform())
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=query_engine, llm=llm)
    with_context(engine, ctx).chat(ASKED)
    assert KNOWN in llm.prompts[0][0].content
    assert synthesizer._llm is llm


class Fixed(BaseQueryEngine):
    """A query engine of one's own."""

    def __init__(self, llm) -> None:
        super().__init__(callback_manager=None)
        self._model = llm

    def _query(self, query_bundle):
        asked = ChatMessage(content=query_bundle.query_str)
        return Response(self._model.chat([asked]).message.content)

    async def _aquery(self, query_bundle):
        return self._query(query_bundle)

    def _get_prompt_modules(self):
        return {}


def test_a_query_engine_whose_model_is_out_of_reach_is_refused_unless_built_with_memory(ctx):
    llm = RecordingLLM()
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=Fixed(llm), llm=llm)
    with pytest.raises(InvalidValue, match=r"with_context\(llm, ctx\)"):
        with_context(engine, ctx)
    reached = Fixed(with_context(llm, ctx))
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=reached, llm=llm)
    response = with_context(engine, ctx).chat(ASKED)
    assert KNOWN in llm.prompts[0][0].content
    assert response.metadata["ctxmw"]["record"]
    assert ASKED in [hit.text for hit in ctx.search(ASKED, kinds=["turn"])]


class Echo(BaseChatEngine):
    """A chat engine without a model."""

    chat_history: list = []  # noqa: RUF012 - nothing is put in

    def reset(self):
        pass

    def chat(self, message, chat_history=None):
        return AgentChatResponse(response=message)

    stream_chat = achat = astream_chat = chat


def test_what_cannot_be_wrapped_is_refused_with_what_can(ctx):
    with pytest.raises(InvalidValue, match="Echo has no model"):
        with_context(Echo(), ctx)
    with pytest.raises(InvalidValue, match="FunctionAgent"):
        with_context("a text", ctx)


@pytest.mark.parametrize("ctx", ["memory.db", None])
def test_a_memory_that_is_none_is_refused_and_named(ctx):
    for target in (RecordingLLM(), SimpleChatEngine.from_defaults(llm=RecordingLLM())):
        with pytest.raises(InvalidValue, match=f"ctx is {ctx!r}: give a memory"):
            with_context(target, ctx)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_an_error_of_the_model_is_raised_and_the_turn_can_be_tried_again(ctx, form):
    llm = RecordingLLM([ValueError("no quota")])
    engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session="s1")
    chat = ctx.session("s1")
    chat.collect("lint", "1", "Line 4 is too long.")
    with pytest.raises(ValueError, match="no quota"):
        await form(engine, ASKED)
    (record,) = chat.history()
    assert (record.state, record.error) == ("failed", "ValueError: no quota")
    assert len(chat.pending()) == 1
    assert [hit.text for hit in ctx.search(ASKED, kinds=["turn"])] == [ASKED]
    engine.reset()
    await form(engine, ASKED)
    assert chat.pending() == []
    assert chat.history()[-1].part_build == record.part_build


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_a_broken_memory_does_not_stop_an_engine_unless_it_is_strict(form, caplog):
    told = []
    options = {"on_error": lambda stage, error: told.append(stage)}
    with ContextMiddleware.open(":memory:", **options) as ctx:
        llm = RecordingLLM()
        engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session="s1")
        ctx.store.close()
        response = await form(engine, ASKED)
        assert str(response) == REPLY
        assert [message.content for message in llm.prompts[0]] == [ASKED]
        assert response.metadata["ctxmw"]["degraded"].startswith("prepare: ")
        # Nothing could be prepared, and what was said could not be kept either.
        assert told == ["prepare", "capture"]
        assert sum("goes on without memory" in record.message for record in caplog.records) == 2


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
async def test_a_memory_that_is_closed_between_or_during_calls_does_not_stop_an_engine(form):
    for closing in ("between", "during"):
        ctx = ContextMiddleware.open(":memory:")
        close = ctx.close if closing == "during" else str
        llm = RecordingLLM(answer=lambda _, close=close: (close(), REPLY)[1])
        engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session="s1")
        if closing == "between":
            assert (await form(engine, ASKED)).metadata["ctxmw"]["degraded"] == ""
            ctx.close()
        response = await form(engine, ASKED)
        assert str(response) == REPLY
        stage = "prepare" if closing == "between" else "finish"
        assert response.metadata["ctxmw"]["degraded"].startswith(f"{stage}: ")


async def test_a_strict_memory_raises_what_is_wrong_with_it():
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        engine = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx)
        ctx.store.close()
        for form in FORMS:
            with pytest.raises(Exception, match="closed"):
                await form(engine, ASKED)


def test_a_memory_of_many_users_cannot_be_used_without_a_user(server):
    engine = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), server)
    with pytest.raises(MissingUser, match=r"`with chat:`.*with_context\(.*user='...'\)"):
        engine.chat(ASKED)


async def test_an_unread_stream_is_recorded_all_the_same(ctx):
    engine = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx, session="s1")
    response = await engine.astream_chat(ASKED)
    await response.awrite_response_to_history_task
    assert ctx.session("s1").history()[-1].state == "answered"
    response = engine.stream_chat("Anything else?")
    response.write_response_to_history_thread.join()
    assert ctx.session("s1").history()[-1].state == "answered"


def test_a_call_inside_the_turn_of_another_memory_stays_with_its_own(ctx):
    with ContextMiddleware.open(":memory:", strict=True) as other:
        inner = with_context(SimpleChatEngine.from_defaults(llm=RecordingLLM()), ctx, session="s1")
        asking = RecordingLLM(answer=lambda _: str(inner.chat("What is inside?")))
        outer = with_context(SimpleChatEngine.from_defaults(llm=asking), other, session="s2")
        outer.chat("What is outside?")
        assert len(ctx.session("s1").history()) == 1
        assert len(other.session("s2").history()) == 1
        assert KNOWN not in asking.prompts[0][0].content

"""A wrapped runnable: whose memory it is, how calls end, and what cannot be wrapped."""

from __future__ import annotations

import asyncio
import copy
import pickle
import warnings
from uuid import UUID

import pytest
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.graph import END, START, MessagesState, StateGraph

from ctxmw import ContextMiddleware, CtxmwError, InvalidValue, MissingUser
from ctxmw_langchain import ContextModel, memory_tools, with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.models import REPLY, RecordingModel
from tests.langchain.shapes import PROMPT, QUESTION, SHAPES, Verdict, find_file
from tests.support.waiting import PATIENCE

ASKED = {"question": QUESTION}


def of(user: str | None = None, **named: str) -> dict:
    return {"configurable": ({"user_id": user} if user else {}) | named}


class Broken:
    """A source that fails."""

    name = "broken"

    def items(self, situation, /):
        raise OSError("the disk is gone")


# Whose conversation


def test_the_config_names_user_and_conversation(server):
    model = RecordingModel()
    chain = with_context(PROMPT | model, server)
    chain.invoke(ASKED, of("ada", session_id="s1", thread_id="t1"))
    chain.invoke(ASKED, of("bob", thread_id="t1"))
    assert "ada-blue" in model.texts()[0]
    assert "bob-blue" in model.texts()[1]
    assert "ada-blue" not in model.texts()[1]
    assert len(server.session("s1", user="ada").history()) == 1
    assert len(server.session("t1", user="bob").history()) == 1


def test_else_the_conversation_around_the_call_then_the_one_given_then_one_of_its_own(ctx):
    given, around = ctx.session("given"), ctx.session("around")
    chain = with_context(PROMPT | RecordingModel(), ctx, session=given)
    with around:
        chain.invoke(ASKED)
        chain.invoke(ASKED, of(session_id="named"))
    chain.invoke(ASKED)
    own = with_context(PROMPT | RecordingModel(), ctx)
    own.invoke(ASKED)
    own.invoke({"question": "And a second one?"})
    for chat in (around, given, ctx.session("named")):
        assert len(chat.history()) == 1
    (fresh,) = {state.session for state in ctx.sessions()} - {"given", "around", "named"}
    assert len(ctx.session(fresh).history()) == 2


def test_two_wrappers_have_two_conversations_of_their_own(ctx):
    for _ in range(2):
        with_context(RecordingModel(), ctx).invoke(QUESTION)
    assert len(ctx.sessions()) == 2


def test_a_memory_of_many_users_asks_for_one(server):
    chain = with_context(PROMPT | RecordingModel(), server)
    with pytest.raises(MissingUser, match="user_id"):
        chain.invoke(ASKED)
    with pytest.raises(MissingUser, match="user_id"):
        chain.invoke(ASKED, of(session_id="s1"))
    with pytest.raises(InvalidValue):
        chain.invoke(ASKED, {"configurable": {"user_id": "", "session_id": "s1"}})


def test_a_missing_user_is_raised_by_a_forgiving_memory_too():
    with ContextMiddleware.open(":memory:", user=None, strict=False) as memory:
        chain = with_context(PROMPT | RecordingModel(), memory)
        with pytest.raises(MissingUser):
            chain.invoke(ASKED)


def test_a_user_in_the_config_never_gets_the_conversation_of_another(server):
    model = RecordingModel()
    chain = with_context(model, server)
    with server.session("s2", user="ada"):
        chain.invoke(QUESTION, of("bob"))
    assert "ada-blue" not in model.texts()[0]
    assert server.sessions(user="ada") == []
    assert len(server.sessions(user="bob")) == 1


@pytest.fixture
def other():
    """Another memory, with a secret."""
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        memory.remember("The secret word is swordfish.", kind="fact")
        yield memory


def test_a_conversation_of_another_memory_around_the_call_is_not_taken_over(ctx, other):
    model, given = RecordingModel(), ctx.session("given")
    with other.session("x"):
        with_context(model, ctx).invoke("What is the secret word?")
        with_context(model, ctx, session=given).invoke("What is the secret word?")
    assert [text.count(KNOWN) for text in model.texts()] == [1, 1]
    assert not any("swordfish" in text for text in model.texts())
    assert other.sessions() == []
    assert len(given.history()) == 1


def test_a_user_of_another_memory_around_the_call_is_no_user_of_this(server, other):
    chain = with_context(RecordingModel(), server)
    with other.session("x"), pytest.raises(MissingUser, match="user_id"):
        chain.invoke(QUESTION)


def test_a_given_conversation_of_another_memory_is_refused_by_name(ctx, other):
    with pytest.raises(InvalidValue, match=r"Session\('x'.* of another memory"):
        with_context(RecordingModel(), ctx, session=other.session("x"))


def test_numbers_and_uuids_in_the_config_are_names(server):
    chain, uuid = with_context(RecordingModel(), server), UUID(int=7)
    chain.invoke(QUESTION, {"configurable": {"user_id": 5, "session_id": 0}})
    chain.invoke(QUESTION, {"configurable": {"user_id": uuid, "thread_id": uuid}})
    assert [state.session for state in server.sessions(user="5")] == ["0"]
    assert [state.session for state in server.sessions(user=str(uuid))] == [str(uuid)]


@pytest.mark.parametrize("key", ["user_id", "session_id", "thread_id"])
@pytest.mark.parametrize("value", ["", True, 1.5, object()])
def test_what_is_no_name_in_the_config_is_refused_by_its_key(key, value, ctx):
    with pytest.raises(
        InvalidValue, match=rf'config\["configurable"\]\["{key}"\] is .*: give text'
    ):
        with_context(RecordingModel(), ctx).invoke(QUESTION, {"configurable": {key: value}})


async def test_two_users_in_a_batch_of_a_hundred_do_not_cross(server):
    model = RecordingModel(answer=lambda messages: f"You said: {messages[-1].content[-40:]}")
    chain = with_context(PROMPT | model | StrOutputParser(), server)
    users = ["ada" if number % 2 else "bob" for number in range(100)]
    asked = [{"question": f"Which blue is for {user} in {n}?"} for n, user in enumerate(users)]
    configs = [of(user, session_id=f"s{n % 10}") for n, user in enumerate(users)]
    answers = await chain.abatch(asked, configs)
    for question, answer in zip(asked, answers, strict=True):
        assert question["question"] in answer
    for text in model.texts():
        mine, other = ("ada", "bob") if "for ada in" in text else ("bob", "ada")
        assert f"{mine}-blue" in text
        assert f"{other}-blue" not in text
    for user in ("ada", "bob"):
        sessions = server.sessions(user=user)
        records = [
            record
            for state in sessions
            for record in server.session(state.session, user=user).history()
        ]
        assert [record.state for record in records] == ["answered"] * 50


# What stays as it was


def test_untouched_messages_are_the_same_objects_and_touched_ones_are_copies(ctx):
    model = RecordingModel()
    given = [HumanMessage("Hello"), AIMessage("Hi"), HumanMessage(QUESTION, id="mine")]
    with_context(model, ctx).invoke(given)
    system, hello, hi, question = model.prompts[0]
    assert KNOWN in system.content
    assert (hello, hi) == (given[0], given[1])
    assert question.id == "mine"
    assert [message.content for message in given] == ["Hello", "Hi", QUESTION]


def test_callbacks_tags_and_metadata_arrive_and_no_run_is_added(ctx):
    seen = []

    class Listener(BaseCallbackHandler):
        def on_chain_start(self, *_, name=None, **__):
            seen.append(name)

        def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **_):
            seen.append((tags, metadata["mine"], metadata.get("ctxmw", "")))

    config = {"callbacks": [Listener()], "tags": ["t"], "metadata": {"mine": 1}}
    chat = ctx.session("s1")
    with_context(PROMPT | RecordingModel(), ctx, session=chat).invoke(ASKED, config)
    (record,) = chat.history()
    assert seen == ["RunnableSequence", "ChatPromptTemplate", (["seq:step:2", "t"], 1, record.ref)]


def test_an_answer_is_not_marked_in_place(ctx):
    shared = AIMessage("The same object every time")
    model = RecordingModel(otherwise=shared)
    chain = with_context(model, ctx)
    first, second = chain.invoke("One?"), chain.invoke("Two?")
    assert first.response_metadata["ctxmw"]["record"] != second.response_metadata["ctxmw"]["record"]
    assert shared.response_metadata == {}


def test_langchains_cache_tells_prompts_with_different_memories_apart(ctx):
    model = RecordingModel(cache=InMemoryCache())
    chain = with_context(model, ctx)
    chain.invoke("What do we know?", of(session_id="s1"))
    ctx.remember("Deploy on Fridays never.", kind="rule")
    chain.invoke("What do we know?", of(session_id="s2"))
    assert len(model.prompts) == 2


def test_the_stamp_is_plain_and_leads_to_the_record(ctx):
    reply = with_context(PROMPT | RecordingModel(), ctx).invoke(ASKED)
    mark = reply.response_metadata["ctxmw"]
    record = ctx.why(mark["record"])
    assert record is not None
    assert KNOWN in record.text
    assert mark == {
        "record": record.ref,
        "summary": record.summary(),
        "tokens": record.tokens,
        "degraded": "",
    }
    assert ctx.why(REPLY).ref == record.ref


def test_the_first_chunk_carries_the_stamp_and_the_whole_keeps_it(ctx):
    chunks = list(with_context(PROMPT | RecordingModel(), ctx).stream(ASKED))
    marked = ["ctxmw" in chunk.response_metadata for chunk in chunks]
    assert marked == [True, *[False] * (len(chunks) - 1)]
    whole = chunks[0] + chunks[1:]
    assert ctx.why(whole.response_metadata["ctxmw"]["record"]).state == "answered"


def test_a_wrapped_model_takes_tools_and_structured_output_afterwards(ctx):
    model = RecordingModel(otherwise=AIMessage("", tool_calls=[call("Verdict", {"says": "yes"})]))
    wrapped = with_context(model, ctx)
    assert wrapped.with_structured_output(Verdict).invoke(QUESTION) == Verdict(says="yes")
    assert wrapped.bind_tools([find_file]).invoke(QUESTION).tool_calls
    assert [text.count(KNOWN) for text in model.texts()] == [1, 1]
    assert model.options[1]["tools"][0]["function"]["name"] == "find_file"
    assert wrapped.disable_streaming is False
    assert not hasattr(wrapped, "generate")


def call(name, args):
    return {"name": name, "args": args, "id": "c1"}


def test_wrapping_again_with_a_conversation_moves_to_it(ctx):
    chat = ctx.session("later")
    with_context(with_context(RecordingModel(), ctx), ctx, session=chat).invoke(QUESTION)
    assert len(chat.history()) == 1


def test_a_deep_copy_of_a_wrapped_chain_has_the_same_memory(ctx):
    model = RecordingModel()
    copied = copy.deepcopy(with_context(PROMPT | model, ctx))
    assert ctx.why(copied.invoke(ASKED).response_metadata["ctxmw"]["record"])


PORTABLE = [name for name in SHAPES if name not in ("assign", "branch")]
"""What LangChain itself lets one pickle."""


@pytest.mark.parametrize("name", PORTABLE)
def test_a_pickled_runnable_opens_its_memory_again(name, tmp_path):
    shape = SHAPES[name]
    with ContextMiddleware.open(tmp_path / "memory.db", strict=True) as memory:
        memory.remember(KNOWN, kind="decision")
        chat = memory.session("s1")
        bare = shape.build(RecordingModel(otherwise=shape.reply))
        pickle.dumps(bare)
        wrapped = with_context(bare, memory, session=chat)
        pickle.loads(pickle.dumps(wrapped)).invoke(shape.given)
        records = chat.history()
    assert [record.state for record in records] == ["answered"] * shape.calls
    assert all(KNOWN in record.text for record in records)


def test_a_pickled_model_goes_on_with_its_own_conversation(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", strict=True) as memory:
        wrapped = with_context(RecordingModel(), memory)
        wrapped.invoke(QUESTION)
        again = pickle.loads(pickle.dumps(wrapped))
        again.invoke("And a second one?")
        again.conversations.ctx.close()
        (state,) = memory.sessions()
        assert len(memory.session(state.session).history()) == 2


def test_a_model_has_one_memory(ctx, server):
    with pytest.raises(InvalidValue, match="another memory"):
        with_context(with_context(RecordingModel(), ctx), server)


# How calls end


def test_retries_and_fallbacks_of_a_turn_build_once_and_keep_every_attempt(ctx):
    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    failing = RecordingModel(otherwise=ValueError("down"))
    once = RecordingModel(script=[ValueError("down")])
    chain = (PROMPT | failing).with_fallbacks(
        [PROMPT | once.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)]
    )
    with_context(chain, ctx, session=chat).invoke(ASKED)
    sent = failing.prompts + once.prompts
    assert len(sent) == 3
    assert sent[0] == sent[1] == sent[2]
    assert "The cursor stands in auth.py." in failing.texts()[0]
    records = chat.history()
    assert [record.state for record in records] == ["failed", "failed", "answered"]
    assert records[0].error == "ValueError: down"
    assert len({record.part_build for record in records}) == 1
    assert chat.pending() == []


async def test_a_failing_model_raises_its_own_error_everywhere(ctx):
    chat = ctx.session("s1")
    model = with_context(RecordingModel(otherwise=KeyError("theirs")), ctx, session=chat)
    with pytest.raises(KeyError, match="theirs"):
        model.invoke(QUESTION)
    with pytest.raises(KeyError, match="theirs"):
        list(model.stream(QUESTION))
    with pytest.raises(KeyError, match="theirs"):
        await model.ainvoke(QUESTION)
    with pytest.raises(KeyError, match="theirs"):
        [chunk async for chunk in model.astream(QUESTION)]
    assert [record.state for record in chat.history()] == ["failed"] * 4


@pytest.mark.filterwarnings("ignore:.*is in beta")
async def test_typed_streams_keep_how_they_end(ctx):
    chat = ctx.session("s1")
    model = with_context(RecordingModel(otherwise=KeyError("theirs")), ctx, session=chat)
    with pytest.raises(KeyError, match="theirs"):
        list(model.stream_events(QUESTION, version="v3"))
    events = await model.astream_events(QUESTION, version="v3")
    with pytest.raises(KeyError, match="theirs"):
        await events
    left = with_context(RecordingModel(), ctx, session=chat)
    async with await left.astream_events(QUESTION, version="v3") as events:
        async for _ in events:
            break
    assert [record.state for record in chat.history()][:2] == ["failed", "failed"]


def test_entries_have_arrived_with_the_first_chunk_and_a_closed_stream_is_abandoned(ctx):
    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    chunks = with_context(PROMPT | RecordingModel(), ctx, session=chat).stream(ASKED)
    assert len(chat.pending()) == 1
    next(chunks)
    assert chat.pending() == []
    chunks.close()
    assert [record.state for record in chat.history()] == ["abandoned"]


async def test_an_async_stream_that_is_closed_early_is_abandoned(ctx):
    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    chunks = with_context(RecordingModel(), ctx, session=chat).astream(QUESTION)
    await anext(chunks)
    assert chat.pending() == []
    await chunks.aclose()
    assert [record.state for record in chat.history()] == ["abandoned"]


async def test_a_chains_async_stream_that_is_closed_early_is_abandoned_soon(ctx):
    chat = ctx.session("s1")
    chunks = with_context(PROMPT | RecordingModel(), ctx, session=chat).astream(ASKED)
    await anext(chunks)
    await chunks.aclose()
    # LangChain's sequence lets go of its steps; the event loop closes them.
    async with asyncio.timeout(PATIENCE):
        while chat.history()[0].state != "abandoned":  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)


async def test_a_cancelled_call_is_abandoned_and_its_entries_wait_on(ctx):
    started = asyncio.Event()

    class Slow(RecordingModel):
        async def _agenerate(self, *_, **__):
            started.set()
            await asyncio.sleep(PATIENCE)

    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    task = asyncio.create_task(with_context(Slow(), ctx, session=chat).ainvoke(QUESTION))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [record.state for record in chat.history()] == ["abandoned"]
    assert len(chat.pending()) == 1


async def test_a_fault_of_ours_does_not_stop_the_call(caplog):
    told = []
    options = {"strict": False, "sources": [Broken()], "on_error": lambda *what: told.append(what)}
    with ContextMiddleware.open(":memory:", **options) as memory:
        model = RecordingModel()
        chain = with_context(PROMPT | model, memory)
        replies = [chain.invoke(ASKED), await chain.ainvoke(ASKED)]
        replies += [next(iter(chain.stream(ASKED)))]
        for reply in replies:
            assert reply.response_metadata["ctxmw"]["degraded"] == "source broken: OSError"
        assert {sent[-1].content for sent in model.prompts} == {QUESTION}
        assert memory.stats()["degraded.source broken.OSError"] == 3
        assert len(told) == 3
    assert len(caplog.records) == 1


def test_a_strict_memory_raises_it():
    with ContextMiddleware.open(":memory:", strict=True, sources=[Broken()]) as memory:
        model = with_context(RecordingModel(), memory)
        with pytest.raises(CtxmwError, match="disk"):
            model.invoke(QUESTION)


@pytest.mark.parametrize("strict", [False, True])
async def test_a_call_without_messages_goes_to_the_model_as_it_is(strict, caplog):
    with ContextMiddleware.open(":memory:", strict=strict) as memory:
        model = RecordingModel()
        wrapped = with_context(model, memory)
        replies = [wrapped.invoke([]), await wrapped.ainvoke([])]
        replies += [*wrapped.stream([])][:1]
        replies += [chunk async for chunk in wrapped.astream([])][:1]
        assert model.prompts == [[]] * 4
        assert [reply.response_metadata.get("ctxmw") for reply in replies] == [None] * 4
        assert not any(name.startswith("degraded") for name in memory.stats())
        assert memory.sessions() == []
        failing = with_context(RecordingModel(otherwise=KeyError("theirs")), memory)
        with pytest.raises(KeyError, match="theirs"):
            failing.invoke([])
        with pytest.raises(KeyError, match="theirs"):
            await failing.ainvoke([])
    assert caplog.records == []


# What hides its model


def graph_of(model):
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    return graph.compile()


def with_history(chain, **keys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        kept = InMemoryChatMessageHistory()
        return RunnableWithMessageHistory(chain, lambda session_id: kept, **keys)


HIDING = {
    "a compiled graph": (graph_of, "CompiledStateGraph.*inside its node"),
    "a function": (
        lambda model: RunnableLambda(lambda given: model.invoke(given).content, name="my_function"),
        "my_function.*RecordingModel.*inside it",
    ),
    "a function in a chain": (lambda model: PROMPT | (lambda given: 1), "RunnableLambda"),
    "a message history": (
        with_history,
        r"RunnableWithMessageHistory.*Wrap the chain inside.*RunnablePassthrough\(\) \| model",
    ),
    "configurable fields": (
        lambda model: model.configurable_fields(otherwise=ConfigurableField(id="o")),
        "RunnableConfigurableFields.*wrap each model",
    ),
    "configurable alternatives": (
        lambda model: PROMPT | model.configurable_alternatives(ConfigurableField(id="m"), b=model),
        "RunnableConfigurableAlternatives.*wrap each model",
    ),
    "a text model": (lambda model: FakeListLLM(responses=["a"]), "FakeListLLM.*chat model"),
    "no model": (lambda model: PROMPT, "ChatPromptTemplate.*Give with_context a chat model"),
}


@pytest.mark.parametrize("name", HIDING)
def test_what_hides_its_model_is_refused_by_name_with_the_way_to_do_it(name, ctx):
    build, told = HIDING[name]
    with pytest.raises(InvalidValue, match=told):
        with_context(build(RecordingModel()), ctx)


def test_the_ways_that_refusals_point_to_work(ctx):
    model = RecordingModel()
    wrapped = with_context(model, ctx)
    assert isinstance(wrapped, ContextModel)
    graph_of(wrapped).invoke({"messages": [HumanMessage(QUESTION)]})
    RunnableLambda(wrapped.invoke).invoke(QUESTION)
    chain = with_context(RunnablePassthrough() | model, ctx)
    history = with_history(chain)
    history.invoke([HumanMessage(QUESTION)], of(session_id="s1"))
    assert [said.content for said in history.get_session_history("s1").messages] == [
        QUESTION,
        REPLY,
    ]
    choice = PROMPT | wrapped.configurable_alternatives(
        ConfigurableField(id="which"), other=with_context(model, ctx)
    )
    choice.invoke(ASKED)
    choice.invoke(ASKED, of(which="other"))
    with_context(choice, ctx).invoke(ASKED)
    assert [text.count(KNOWN) for text in model.texts()] == [1] * 6


BEFORE_A_HISTORY = {
    "a passthrough": (lambda model: RunnablePassthrough() | model, {}, lambda text: text),
    "a prompt": (
        lambda model: (
            ChatPromptTemplate([MessagesPlaceholder("past"), ("human", "{asked}")]) | model
        ),
        {"input_messages_key": "asked", "history_messages_key": "past"},
        lambda text: {"asked": text},
    ),
}


@pytest.mark.parametrize("name", BEFORE_A_HISTORY)
def test_a_message_history_around_a_wrapped_chain_holds_what_was_said_alone(name, ctx):
    build, keys, asking = BEFORE_A_HISTORY[name]
    model = RecordingModel(otherwise="Yes.")
    history = with_history(with_context(build(model), ctx), **keys)
    for text in ("Is it done?", "Is it tested?"):
        history.invoke(asking(text), of(session_id="s1"))
    said = [message.content for message in history.get_session_history("s1").messages]
    assert said == ["Is it done?", "Yes.", "Is it tested?", "Yes."]
    assert [text.count(KNOWN) for text in model.texts()] == [1, 1]
    assert [message.content for message in model.prompts[1]][1:] == said[:3]
    assert len(ctx.session("s1").history()) == 2


def test_wrong_arguments_are_named(ctx):
    with pytest.raises(InvalidValue, match="ctx is str"):
        with_context(RecordingModel(), "memory.db")
    with pytest.raises(InvalidValue, match="session is str"):
        with_context(RecordingModel(), ctx, session="s1")
    with pytest.raises(InvalidValue, match="int: give text"):
        with_context(RecordingModel(), ctx).invoke(3)


def test_only_a_model_that_is_offered_the_tools_is_told_of_them(ctx):
    told = "The courier deadline is 16:00. " + "Parcels go by van to town. " * 60
    ctx.session("old").capture([{"role": "user", "content": told}])
    plain, bound = RecordingModel(), RecordingModel()
    asked = "When is the courier deadline?"
    with_context(plain, ctx, session=ctx.session("s1")).invoke(asked)
    offered = with_context(bound, ctx, session=ctx.session("s2")).bind_tools(memory_tools(ctx))
    offered.invoke(asked)
    assert "16:00" in plain.texts()[0]
    assert "mem_get" not in plain.texts()[0]
    assert "mem_get" in bound.texts()[0]

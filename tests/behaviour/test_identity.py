"""Nobody gets the memory of another: whose a call is, through either adapter."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine

import ctxmw_llamaindex
from ctxmw import ContextMiddleware, InvalidValue, MissingUser, WrongUser
from tests.behaviour.test_adapters import ADAPTERS, LANGCHAIN, told
from tests.llamaindex.models import RecordingLLM

USERS = ("alice", "bob")


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request):
    return request.param


@pytest.fixture
def server():
    with ContextMiddleware.open(":memory:", user=None, strict=True) as memory:
        for user in USERS:
            memory.remember(f"The colour of {user} is {user}-blue.", kind="fact", user=user)
        yield memory


def named(adapter, server, user):
    """A wrapper that was made for one user."""
    if adapter is LANGCHAIN:
        return adapter.make(server, session=server.session("main", user=user))
    return adapter.make(server, session="main", user=user)


def asked_by(server, user):
    return sorted(hit.text for hit in server.search("favourite colour", user=user, kinds=["turn"]))


def question(user):
    return f"What is the favourite colour of {user}?"


async def test_a_user_that_is_named_gets_nothing_of_a_generator_somebody_broke_off(adapter, server):
    async def steps():
        with server.session("main", user="alice"):
            yield 1
            yield 2

    async for _ in steps():
        break
    wrapped, model = named(adapter, server, "bob")
    await adapter.aask(wrapped, told(question("bob")))
    # The same while the generator is kept, and in a task.
    kept = steps()
    await anext(kept)
    await asyncio.create_task(adapter.aask(wrapped, told(question("bob"))))
    await kept.aclose()
    assert "alice" not in str(adapter.sent(model))
    assert "bob-blue" in str(adapter.sent(model)[0])
    assert question("bob") in asked_by(server, "bob")
    assert asked_by(server, "alice") == []


async def test_who_names_nobody_is_not_taken_for_a_generators_user(adapter, server):
    async def steps():
        with server.session("main", user="alice"):
            yield 1
            yield 2

    wrapped, model = adapter.make(server)
    async for _ in steps():
        with pytest.raises(MissingUser):
            await adapter.aask(wrapped, told(question("bob")))
        break
    with pytest.raises(MissingUser):
        await adapter.aask(wrapped, told(question("bob")))
    assert model.prompts == []


async def test_generators_that_take_turns_ask_each_for_their_own_user(adapter, server):
    wrapped, model = adapter.make(server)

    async def steps(user):
        with server.session("main", user=user):
            for number in range(3):
                yield await adapter.aask(wrapped, told(f"{question(user)} ({number})"))

    one, two = steps("alice"), steps("bob")
    for _ in range(3):
        await anext(one)
        await anext(two)
    await one.aclose()
    await two.aclose()
    assert len(model.prompts) == 6
    for sent in map(str, adapter.sent(model)):
        assert ("alice" in sent) is not ("bob" in sent)
    for user, other in (USERS, USERS[::-1]):
        said = " ".join(asked_by(server, user))
        assert question(user) in said
        assert other not in said


async def test_a_task_that_may_be_of_either_generator_is_refused(adapter, server):
    wrapped, model = adapter.make(server)

    async def steps(user):
        with server.session("main", user=user):
            for _ in range(2):
                # As chains do that run each of their steps in a task.
                yield await asyncio.create_task(adapter.aask(wrapped, told(question(user))))

    one, two = steps("alice"), steps("bob")
    await anext(one)
    await anext(two)
    with pytest.raises(InvalidValue, match="a task of its own"):
        await anext(one)
    await anext(two)
    # Who names a user is not kept waiting for others to be told apart.
    other, _ = named(adapter, server, "bob")
    await asyncio.create_task(adapter.aask(other, told(question("bob"))))
    await two.aclose()
    assert len(model.prompts) == 3
    for user, other in (USERS, USERS[::-1]):
        assert other not in " ".join(asked_by(server, user))


@pytest.mark.parametrize("form", ["ask", "stream"])
def test_the_user_of_a_wrapper_wins_over_a_conversation_of_another_around_it(adapter, server, form):
    wrapped, model = named(adapter, server, "bob")
    with server.session("main", user="alice") as entered:
        getattr(adapter, form)(wrapped, told(question("bob")))
    assert "bob-blue" in str(adapter.sent(model))
    assert "alice-blue" not in str(adapter.sent(model))
    assert entered.history() == []
    assert question("bob") in asked_by(server, "bob")


def test_a_conversation_of_the_same_user_around_a_wrapper_is_the_calls(adapter, server):
    wrapped, _ = named(adapter, server, "bob")
    with server.session("other", user="bob") as entered:
        adapter.ask(wrapped, told(question("bob")))
    assert len(entered.history()) == 1


# --- what LlamaIndex takes ---


def test_a_model_for_one_user_is_no_part_of_the_turn_of_another(server):
    inner = RecordingLLM()
    for_bob = ctxmw_llamaindex.with_context(inner, server, session="main", user="bob")

    def answer(_):
        for_bob.chat([ChatMessage(role="user", content=question("bob"))])
        return "Done."

    engine = SimpleChatEngine.from_defaults(llm=RecordingLLM(answer=answer))
    with server.session("main", user="alice"):
        ctxmw_llamaindex.with_context(engine, server).chat(question("alice"))
    assert "bob-blue" in str(inner.prompts)
    assert "alice" not in str(inner.prompts)
    (record,) = server.session("main", user="bob").history()
    assert record.state == "answered"


def test_a_wrapper_cannot_be_made_for_two_users(server):
    with pytest.raises(WrongUser, match=r"user is 'bob', but session is Session\('main'.*alice"):
        ctxmw_llamaindex.with_context(
            RecordingLLM(), server, session=server.session("main", user="alice"), user="bob"
        )


def test_a_wrapper_cannot_be_made_for_a_conversation_of_another_memory(server):
    with ContextMiddleware.open(":memory:") as other:
        with pytest.raises(InvalidValue, match="of another memory"):
            ctxmw_llamaindex.with_context(RecordingLLM(), server, session=other.session("s1"))


@pytest.mark.parametrize("given", [{"session": ""}, {"session": 5}, {"user": ""}, {"user": 5}])
def test_a_wrong_name_is_refused_where_the_wrapper_is_made(server, given):
    with pytest.raises(InvalidValue):
        ctxmw_llamaindex.with_context(RecordingLLM(), server, **given)
    with pytest.raises(InvalidValue):
        ctxmw_llamaindex.ContextMemoryBlock(ctx=server, **given)

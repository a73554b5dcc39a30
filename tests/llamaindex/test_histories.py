"""Whose chat history an engine shows to whom."""

from __future__ import annotations

import pickle

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import (
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    FactExtractionMemoryBlock,
    Memory,
    SimpleComposableMemory,
)
from llama_index.core.storage.chat_store import SimpleChatStore

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw_llamaindex import with_context
from tests.llamaindex.models import RecordingLLM

SECRET = "My PIN is 4711."


def engine_over(memory):
    llm = RecordingLLM()
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory), llm


def buffer_in(store):
    return ChatMemoryBuffer.from_defaults(token_limit=3000, chat_store=store, chat_store_key="app")


def sent(llm):
    return "\n".join(message.content or "" for prompt in llm.prompts for message in prompt)


KEYED = [
    Memory.from_defaults,
    lambda: ChatMemoryBuffer.from_defaults(token_limit=3000),
    lambda: ChatSummaryMemoryBuffer.from_defaults(llm=RecordingLLM(), token_limit=3000),
]


@pytest.mark.parametrize("make", KEYED)
@pytest.mark.parametrize("owner", [None, "local", "ada"])
def test_two_wrappers_of_one_engine_for_two_users_share_nothing(make, owner):
    with ContextMiddleware.open(":memory:", user=owner, strict=True) as memory:
        engine, llm = engine_over(make())
        ada = with_context(engine, memory, session="c", user="ada")
        bob = with_context(engine, memory, session="c", user="bob")
        ada.chat(SECRET)
        llm.prompts.clear()
        bob.chat("hello")
        assert "4711" not in sent(llm)
        assert len(bob.chat_history) == len(ada.chat_history) == 2


def test_two_wrappers_of_one_engine_for_two_conversations_share_nothing(ctx):
    engine, _ = engine_over(ChatMemoryBuffer.from_defaults(token_limit=3000))
    one = with_context(engine, ctx, session="one")
    two = with_context(engine, ctx, session="two")
    fresh = with_context(engine, ctx)
    one.chat(SECRET)
    assert two.chat_history == fresh.chat_history == []
    with ctx.session("one"):
        assert two.chat_history == one.chat_history != []


@pytest.mark.parametrize("entered", [True, False])
def test_whoever_comes_first_after_a_restart_gets_only_what_is_theirs(server, entered):
    store = SimpleChatStore()

    def worker(user, said):
        engine, llm = engine_over(buffer_in(store))
        if entered:
            with server.session("c", user=user):
                with_context(engine, server).chat(said)
        else:
            with_context(engine, server, session="c", user=user).chat(said)
        return sent(llm)

    worker("ada", SECRET)
    assert "4711" not in worker("bob", "hello")
    assert "4711" in worker("ada", "What is my PIN?")


def test_messages_of_nobody_known_are_shown_to_no_user_of_a_server(server):
    store = SimpleChatStore()
    store.set_messages("app", [ChatMessage(content=SECRET)])
    engine, llm = engine_over(buffer_in(store))
    with_context(engine, server, session="c", user="bob").chat("hello")
    assert "4711" not in sent(llm)


def test_wrapping_again_gives_no_one_the_history_of_another(server):
    engine, llm = engine_over(ChatMemoryBuffer.from_defaults(token_limit=3000))
    once = with_context(engine, server)
    with server.session("c", user="ada"):
        once.chat(SECRET)
    llm.prompts.clear()
    again = with_context(once, server)
    with server.session("c", user="bob"):
        again.chat("hello")
    assert "4711" not in sent(llm)
    with server.session("c", user="ada"):
        assert len(again.chat_history) == 2


def test_names_with_separators_in_them_are_not_mixed_up(server):
    engine, _ = engine_over(ChatMemoryBuffer.from_defaults(token_limit=3000))
    wrapped = with_context(engine, server)
    names = [("a", "b/c"), ("a/b", "c"), ('a", "b', "c"), ("a", 'b", "c')]
    for user, session in names:
        with server.session(session, user=user):
            assert wrapped.chat_history == []
            wrapped.chat(SECRET)


UNKEYED = [
    lambda: SimpleComposableMemory.from_defaults(ChatMemoryBuffer.from_defaults(token_limit=3000)),
    lambda: Memory.from_defaults(memory_blocks=[FactExtractionMemoryBlock(llm=RecordingLLM())]),
]


@pytest.mark.parametrize("make", UNKEYED)
def test_a_memory_that_cannot_keep_conversations_apart_has_one(server, make):
    engine, _ = engine_over(make())
    ada = with_context(engine, server, session="c", user="ada")
    bob = with_context(engine, server, session="c", user="bob")
    ada.chat(SECRET)
    assert len(ada.chat_history) == 2
    with pytest.raises(InvalidValue, match="an engine for each conversation"):
        bob.chat("hello")


def test_an_engine_is_pickled_with_its_memory_and_its_history(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", strict=True) as ctx:
        engine, _ = engine_over(buffer_in(SimpleChatStore()))
        wrapped = with_context(engine, ctx, session="c")
        wrapped.chat(SECRET)
        twin = pickle.loads(pickle.dumps(wrapped))
        with twin._ctxmw.ctx:
            assert twin.chat_history == wrapped.chat_history
            twin.chat("What is my PIN?")
        assert len(ctx.session("c").history()) == 2
        assert len(wrapped.chat_history) == 2

"""The record is the truth about the prompt: all of ours in it, and hashes of every message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw import ContextMiddleware, memory_tools
from ctxmw.conversation.sent import LINKS, hashes_of, sent_hashes
from ctxmw.values.messages import message_text


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        yield memory


def talk(chat, history, asked, answer="I see.", **options):
    history.append(user(asked))
    prepared = chat.prepare(history, **options)
    chat.finish(prepared, answer)
    history.append(assistant(answer))
    return prepared


def said_before(ctx, text):
    ctx.session("past").capture([user(text)])


def test_parts_of_earlier_turns_are_listed_where_the_prompt_shows_them_again(ctx):
    said_before(ctx, "Yesterday the courier deadline was 16:00.")
    chat, history = ctx.session("s1"), []
    first = talk(chat, history, "When is the courier deadline?")
    (fact,) = [used.ref for used in first.context.used if used.shown != "none"]
    later = talk(chat, history, "Good morning to the whole team!").context
    for record in (later, chat.history()[-1], ctx.why(later.ref)):
        (again,) = [used for used in record.used if used.ref == fact]
        assert (again.block, again.shown) == ("replayed", "full")
    assert "16:00" in later.explain() or fact in later.explain()


def test_what_our_tools_answered_is_listed_in_the_record_of_the_next_call(ctx):
    said_before(ctx, "Yesterday the courier deadline was 16:00.")
    chat, asked = ctx.session("s1"), user("Good morning, all!")
    chat.prepare([asked])
    search, *_ = memory_tools(chat)
    answer = search(query="courier deadline")
    assert "16:00" in answer
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "mem_search"}]}
    result = {"role": "tool", "content": answer, "tool_call_id": "1"}
    chat.prepare([asked, call, result])
    fetched = [used for used in chat.history()[-1].used if used.block == "fetched"]
    assert len(fetched) == 1
    assert "16:00" in fetched[0].words
    assert [used.block for used in chat.history()[0].used] == []


def test_what_is_forgotten_leaves_the_records_that_showed_it_again(ctx):
    said_before(ctx, "Yesterday the courier deadline was 16:00.")
    chat, history = ctx.session("s1"), []
    talk(chat, history, "When is the courier deadline?")
    talk(chat, history, "Good morning to the whole team!")
    ctx.forget(session="past")
    assert "16:00" not in str([record.used for record in chat.history()])


def test_a_past_prompt_has_the_turns_own_steps_and_nothing_that_came_later(ctx):
    chat = ctx.session("s1")
    call = {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "1", "name": "look"}],
    }
    talk = [user("Where is the tea?"), call]
    talk.append({"role": "tool", "content": "In the tin.", "tool_call_id": "1"})
    first = chat.prepare(talk[:1])
    chat.finish(first, call)
    second = chat.prepare(talk)
    chat.finish(second, "In the tin, I think.")
    for prepared, record in zip((first, second), chat.history(), strict=True):
        said = chat.prompt(record)
        assert [(one.role, one.text) for one in said] == [
            (one["role"], message_text(one)) for one in prepared.messages
        ]
        assert all(one.exact for one in said)


def test_a_past_prompt_says_what_is_not_stored(ctx):
    ctx.remember("Answer in German.", kind="rule")
    chat = ctx.session("s1")
    secret = "My key is sk-ant-api03-" + "a1B2" * 20
    chat.prepare([{"role": "system", "content": "You help."}, user(secret)])
    system, asked = chat.prompt(chat.history()[-1])
    assert (system.exact, "German" in system.ours, system.theirs) == (False, True, "")
    assert (asked.exact, "REDACTED" in asked.theirs) == (False, True)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["go on", "branch", "again"]), st.integers(0, 3)),
        min_size=1,
        max_size=8,
    )
)
def test_the_hashes_of_a_record_are_those_of_the_messages_it_was_made_for(steps):
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        ctx.remember("The team drinks tea.", kind="fact")
        chat, history, expected = ctx.session("s1"), [], {}
        for number, (step, back) in enumerate(steps):
            if step == "branch":
                del history[2 * back :]
            if step != "again" or not history:
                history += [user(f"Is tea number {number} there?")]
            prepared = chat.prepare(history)
            expected[prepared.context.ref] = hashes_of(prepared.messages)
            if history[-1]["role"] == "user":
                chat.finish(prepared, f"Yes, {number}.")
                history.append(assistant(f"Yes, {number}."))
        store = chat._journal.store
        found = {one.ref: sent_hashes(store, one) for one in chat.history()}
        assert found == expected


def test_records_of_a_long_conversation_keep_few_hashes(ctx):
    chat, history = ctx.session("s1"), []
    for number in range(2 * LINKS):
        talk(chat, history, f"Number {number}?", f"Yes, {number}.")
    kept = [len(record.sent) for record in chat.history()]
    assert sorted(kept)[len(kept) // 2] <= 4
    assert sum(size > 4 for size in kept) <= 3

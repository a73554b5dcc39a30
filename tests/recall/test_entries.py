"""Entries that wait for the next call: shown once, never lost, in exactly one record."""

from __future__ import annotations

import threading
from random import Random

import pytest

from ctxmw import Budget, ContextMiddleware, InvalidValue, memory_tools
from ctxmw.testing import FixedClock


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def ctx(tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def chat(ctx):
    return ctx.session("s1")


def test_an_entry_is_shown_in_the_next_call_and_committed_by_its_answer(chat):
    chat.collect("linter", "unused", "Variable x is unused.")
    prepared = chat.prepare([user("Hi there")])
    assert "linter: Variable x is unused." in prepared.context.part
    record = chat.finish(prepared, "Thanks.")
    assert chat.pending() == []
    assert list(record.entries) == [used.ref for used in record.used if used.kind == "notice"]


def test_an_entry_is_shown_once(chat):
    chat.collect("linter", "unused", "Variable x is unused.")
    first = chat.prepare([user("Hi there")])
    chat.finish(first, "Thanks.")
    later = [user("Hi there"), {"role": "assistant", "content": "Thanks."}, user("Next")]
    second = chat.prepare(later)
    assert "unused" not in second.context.part
    assert str(second.messages).count("Variable x is unused.") == 1


def test_the_same_source_and_id_replaces_what_waits(chat):
    chat.collect("linter", "unused", "Variable x is unused.")
    chat.collect("linter", "unused", "Variable y is unused.")
    assert [entry.text for entry in chat.pending()] == ["Variable y is unused."]


def test_entries_come_by_priority_then_oldest_first(chat, clock):
    for priority in ("low", "normal", "critical", "high"):
        chat.collect("hook", priority, f"This is {priority}.", priority=priority)
        clock.advance(minutes=1)
    chat.collect("hook", "second", "This is critical too.", priority="critical")
    expected = ["critical", "second", "high", "normal", "low"]
    assert [entry.name for entry in chat.pending()] == expected


def notices(prepared):
    return [line for line in prepared.context.part.splitlines() if line.startswith("- hook: ")]


def test_entries_have_a_heading_of_their_own_at_the_top_of_the_part(ctx, chat):
    chat.finish(chat.prepare([user("Hi there")]), "Hello.")
    ctx.remember("The courier comes at 16:00.", kind="fact")  # too late for the stable block
    chat.collect("hook", "a", "The courier is late today.")
    lines = chat.prepare([user("When does the courier come?")]).context.part.splitlines()
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[0] == "## Notices"
    assert len(headings) > 1
    assert lines[lines.index("## Notices") + 1] == "- hook: The courier is late today."


@pytest.mark.parametrize("seed", range(8))
def test_the_prompt_shows_them_by_priority_and_in_the_order_of_collecting(tmp_path, seed):
    with ContextMiddleware.open(
        tmp_path / "memory.db", clock=FixedClock(), random=Random(seed)
    ) as ctx:
        chat = ctx.session("s1")
        for number, priority in enumerate(("low", "normal", "critical", "high") * 2):
            chat.collect("hook", f"n{number}", f"{priority} {number}", priority=priority)
        shown = notices(chat.prepare([user("Hi there")]))
    expected = ["critical 2", "critical 6", "high 3", "high 7", "normal 1", "normal 5"]
    assert shown == [f"- hook: {each}" for each in (*expected, "low 0", "low 4")]


def test_what_a_failed_call_gave_back_keeps_its_place(chat):
    for number in range(4):
        chat.collect("hook", f"n{number}", f"Notice {number}.")
    prepared = chat.prepare([user("Hi there")])
    chat.collect("hook", "n4", "Notice 4.")
    chat.finish(prepared, error="timeout")
    shown = notices(chat.prepare([user("Something else")]))
    assert shown == [f"- hook: Notice {number}." for number in range(5)]


def test_a_failed_call_gives_its_entries_back(chat):
    chat.collect("hook", "a", "Remember the milk.")
    prepared = chat.prepare([user("Hi there")])
    assert chat.pending() == []
    chat.finish(prepared, error="timeout")
    assert [entry.name for entry in chat.pending()] == ["a"]
    other = chat.prepare([user("Something else")])
    assert "milk" in other.context.part


def test_a_call_that_never_ends_gives_its_entries_back_when_the_lease_is_over(chat, clock):
    chat.collect("hook", "a", "Remember the milk.")
    chat.prepare([user("Hi there")])
    assert "milk" not in chat.prepare([user("Another branch")]).context.part
    clock.advance(minutes=6)
    assert "milk" in chat.prepare([user("A third branch")]).context.part


def test_a_retry_of_the_turn_shows_the_entry_again_and_commits_it_once(chat):
    chat.collect("hook", "a", "Remember the milk.")
    first = chat.prepare([user("Hi there")])
    chat.finish(first, error="timeout")
    second = chat.prepare([user("Hi there")])
    assert second.messages == first.messages
    chat.finish(second, "Done.")
    assert chat.pending() == []


def test_the_first_chunk_commits(chat):
    chat.collect("hook", "a", "Remember the milk.")
    prepared = chat.prepare([user("Hi there")])
    chat.began(prepared)
    chat.finish(prepared, error="the stream was cut")
    assert chat.pending() == []


def test_what_does_not_fit_stays_until_it_expires(ctx, clock):
    chat = ctx.session("small", budget=Budget(total=120))
    chat.collect("hook", "a", "word " * 400)
    chat.collect("hook", "b", "Small one.")
    prepared = chat.prepare([user("Hi there")])
    assert "Small one." in prepared.context.part
    chat.finish(prepared, "Fine.")
    assert [entry.name for entry in chat.pending()] == ["a"]
    clock.advance(days=2)
    assert chat.pending() == []


def test_clear_discards_what_waits(chat):
    chat.collect("hook", "a", "Remember the milk.")
    assert chat.clear() == 1
    assert "milk" not in chat.prepare([user("Hi there")]).context.part


def test_entries_belong_to_one_conversation_of_one_user(ctx, chat):
    chat.collect("hook", "a", "Remember the milk.")
    assert "milk" not in ctx.session("s2").prepare([user("Hi")]).context.text
    assert "milk" not in ctx.session("s1", user="bob").prepare([user("Hi")]).context.text


def test_an_unknown_priority_is_named(chat):
    with pytest.raises(InvalidValue, match=r"'urgent'.*critical, high, normal, low"):
        chat.collect("hook", "a", "text", priority="urgent")


def test_an_entry_from_another_process_or_opening_arrives(ctx, chat, tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock) as other:
        other.session("s1").collect("editor", "save", "File a.py was saved.")
    assert "a.py was saved" in chat.prepare([user("Hi there")]).context.part


def test_many_threads_deliver_every_entry_in_exactly_one_committed_record(ctx):
    chat = ctx.session("busy")
    failures = []

    def work(number):
        try:
            chat.collect("hook", f"n{number}", f"Entry number {number}.")
            prepared = chat.prepare([user(f"Question {number}")])
            chat.finish(prepared, f"Answer {number}.")
        except Exception as error:  # noqa: BLE001 - whatever it is, the test reports it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    left = [entry.ref for entry in chat.pending()]
    used = [ref for record in chat.history() for ref in record.entries]
    assert len(used) == len(set(used))
    assert len(used) + len(left) == 32


def test_a_long_entry_is_shown_briefly_and_mem_get_brings_the_whole(ctx):
    chat = ctx.session("small", budget=Budget(total=400))
    text = "This is important. " + "And there is more to it. " * 60
    entry = chat.collect("hook", "long", text, priority="critical")
    mem_get = memory_tools(chat)[1]
    prepared = chat.prepare([user("Hi there")])
    chat.finish(prepared, "Fine.")
    assert f"This is important. ({entry.ref}, " in prepared.context.part
    assert chat.pending() == []
    assert "And there is more to it." in mem_get(ids=[entry.ref])

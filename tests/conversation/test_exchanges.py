"""Whatever lists a conversation is told in, a question and its answer stay together, by time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from ctxmw import ContextMiddleware, SqliteStore, memory_tools
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock
from ctxmw.values.records import Turn, load_all

PRODUCTION = ("Which port has production?", "It has the port 8443.")
STAGING = ("Which port has staging?", "It has the port 9000.")
TESTS = ("Which port have the tests?", "They have the port 7000.")
TURNS = Find(types=("turn",), newest_first=False)
ALL = "Which port has production, which port has staging, and which port have the tests?"


def user(text, **more):
    return {"role": "user", "content": text, **more}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def exchange(said):
    return [user(said[0]), assistant(said[1])]


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def ctx(tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock) as opened:
        yield opened


def told(text):
    """Return the lines of what was said, as a prompt or an answer of ours shows them.

    An answer tells the id of each line, a prompt does not.
    """
    said = re.compile(r"- (?:t\w{6} )?((?:user|assistant): .*)")
    return [f"- {found[1]}" for line in text.splitlines() if (found := said.match(line))]


def lines(*exchanges):
    return [
        line for asked, said in exchanges for line in (f"- user: {asked}", f"- assistant: {said}")
    ]


def recalled(ctx, question=ALL):
    return told(ctx.session("another").prepare([user(question)]).context.part)


# --- where it shows ---


def test_exchanges_captured_one_by_one_are_recalled_one_after_the_other(ctx, clock):
    chat = ctx.session("s1")
    for said in (PRODUCTION, STAGING, TESTS):
        chat.capture(exchange(said))
        clock.advance(minutes=1)
    assert recalled(ctx) == lines(PRODUCTION, STAGING, TESTS)


def test_so_are_exchanges_of_one_moment(ctx):
    chat = ctx.session("s1")
    for said in (PRODUCTION, STAGING, TESTS):
        chat.capture(exchange(said))
    assert recalled(ctx) == lines(PRODUCTION, STAGING, TESTS)


def test_so_are_exchanges_that_were_told_of_later(ctx, clock):
    chat = ctx.session("s1")
    chat.capture(exchange(STAGING), at=clock.now)
    chat.capture(exchange(PRODUCTION), at=clock.now - timedelta(hours=2))
    assert recalled(ctx) == lines(PRODUCTION, STAGING)


def test_mem_search_answers_with_questions_before_their_answers(ctx):
    for said in (PRODUCTION, STAGING):
        ctx.session("s1").capture(exchange(said))
    answer = memory_tools(ctx.session("another"))[0](query=ALL)
    assert told(answer) == lines(PRODUCTION, STAGING)


def test_a_search_with_a_budget_returns_questions_before_their_answers(ctx):
    for said in (PRODUCTION, STAGING):
        ctx.session("s1").capture(exchange(said))
    hits = ctx.search(ALL, budget=400)
    assert [hit.record.text for hit in hits] == [*PRODUCTION, *STAGING]


def test_the_transcript_has_each_answer_at_its_question(ctx, clock):
    chat = ctx.session("s1")
    late = clock.now + timedelta(hours=1)
    # The answer to the first comes when the second is asked and answered.
    chat.capture([user(PRODUCTION[0]), assistant(PRODUCTION[1], at=late)])
    clock.advance(minutes=1)
    chat.capture(exchange(STAGING))
    found = [(one.asked.text, *(said.text for said in one.said)) for one in chat.transcript()]
    assert found == [PRODUCTION, STAGING]


def test_a_summary_does_not_answer_the_first_question_with_the_last_answer(ctx):
    chat = ctx.session("s1")
    for said in (PRODUCTION, STAGING):
        chat.capture(exchange(said))
    assert chat.end().text == "Which port has production? Last answer: It has the port 9000."


def test_a_summary_of_one_exchange_is_the_question_and_its_answer(ctx):
    chat = ctx.session("s1")
    chat.capture(exchange(PRODUCTION))
    assert chat.end().text == " ".join(PRODUCTION)


# --- what belongs together ---


def test_an_answer_after_midnight_stands_at_its_question(ctx):
    asked = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    chat = ctx.session("s1")
    chat.capture(
        [
            user(PRODUCTION[0], at=asked),
            assistant(PRODUCTION[1], at=asked + timedelta(minutes=2)),
        ]
    )
    question = "Which is the port of production?"
    part = ctx.session("another").prepare([user(question)]).context.part
    assert "\n".join(["### 2026-03-01", *lines(PRODUCTION)]) in part
    assert "2026-03-02" not in part


def test_steps_of_an_exchange_stay_in_it_though_another_is_answered_meanwhile(ctx):
    chat = ctx.session("s1")
    call = {"id": "c1", "name": "ports", "args": {"of": "production"}}
    first = [user(PRODUCTION[0]), assistant("I look it up.", tool_calls=[call])]
    chat.capture(first)
    chat.capture(exchange(STAGING))
    result = {"role": "tool", "content": "8443", "tool_call_id": "c1", "name": "ports"}
    chat.capture([*first, result, assistant(PRODUCTION[1])])
    found = [(one.asked.text, *(said.text for said in one.said)) for one in chat.transcript()]
    assert found == [(PRODUCTION[0], "I look it up.", "8443", PRODUCTION[1]), STAGING]


def test_a_list_holds_its_order_whatever_its_times_say(ctx, clock):
    early = clock.now - timedelta(days=1)
    history = [*exchange(PRODUCTION), user(STAGING[0], at=early), assistant(STAGING[1])]
    ctx.session("s1").capture(history)
    assert recalled(ctx) == lines(PRODUCTION, STAGING)


def test_a_history_that_is_captured_again_and_again_stays_in_order(ctx, clock):
    chat = ctx.session("s1")
    history = [{"role": "system", "content": "Help."}]
    for said in (PRODUCTION, STAGING, TESTS):
        history += exchange(said)
        chat.capture(history)
    assert recalled(ctx) == lines(PRODUCTION, STAGING, TESTS)


def test_conversations_of_a_day_come_by_time_and_not_by_name(ctx, clock):
    for name, said in (("z", PRODUCTION), ("a", STAGING), ("m", TESTS)):
        ctx.session(name).capture(exchange(said))
        clock.advance(minutes=5)
    assert recalled(ctx) == lines(PRODUCTION, STAGING, TESTS)


def test_a_turn_that_is_written_again_keeps_its_place(ctx):
    chat = ctx.session("s1")
    for said in (PRODUCTION, STAGING):
        chat.capture(exchange(said))
    # As forgetting does that cuts words out of it.
    ctx.store.put(ctx.store.query("local", TURNS)[:1])
    assert recalled(ctx) == lines(PRODUCTION, STAGING)


def test_turns_of_an_earlier_version_are_sorted_by_their_time(clock):
    now = clock.now

    def turn(ref, role, text, minutes, position):
        at = now + timedelta(minutes=minutes)
        return Turn(
            user="local", ref=ref, at=at, session="s1", role=role, text=text, position=position
        )

    with ContextMiddleware(SqliteStore(":memory:"), user="local", clock=clock) as ctx:
        old = [
            turn("t4", "user", PRODUCTION[0], 0, 0),
            turn("t3", "assistant", PRODUCTION[1], 0, 1),
            turn("t2", "user", STAGING[0], 1, 0),
            turn("t1", "assistant", STAGING[1], 1, 1),
        ]
        ctx.store.put([one.row() for one in reversed(old)])
        assert recalled(ctx) == lines(PRODUCTION, STAGING)


def test_numbers_of_turns_only_grow(ctx):
    chat = ctx.session("s1")
    for said in (PRODUCTION, STAGING, TESTS):
        chat.capture(exchange(said))
    turns = load_all(ctx.store.query("local", TURNS), Turn)
    numbers = [turn.order for turn in turns]
    assert numbers == sorted(set(numbers))
    assert [turn.exchange for turn in turns] == [n for n in numbers[::2] for _ in range(2)]

"""Memories in time: when they hold, what is shown when, and what held on another day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Learning, memory_tools

WEDNESDAY = datetime(2026, 11, 18, 12, tzinfo=UTC)
ASKED = [{"role": "user", "content": "Which server do we use for staging?"}]


class Clock:
    def __init__(self) -> None:
        self.now = WEDNESDAY

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ctx(clock):
    with ContextMiddleware.open(":memory:", clock=clock, random=Random(1), deadline=None) as opened:
        yield opened


def prompt(chat, messages=ASKED):
    return "\n".join(str(one["content"]) for one in chat.prepare(messages).messages)


def test_what_has_run_out_is_not_shown_and_stays_findable_as_past(ctx, clock):
    kept = ctx.remember("Use the server at staging-two until Friday.", kind="rule")
    assert kept.until == datetime(2026, 11, 21, tzinfo=UTC)
    assert "staging-two until Friday. (until 2026-11-20)" in prompt(ctx.session("before"))
    clock.now += timedelta(days=4)
    later = ctx.session("after")
    assert "staging-two" not in prompt(later)
    (hit,) = ctx.search("staging server", kinds=["rule"])
    assert (hit.ref, hit.past) == (kept.ref, True)
    assert "past: " in ctx.search("staging server", budget=200, kinds=["rule"])[0].text
    search, get, context = memory_tools(later)[:3]
    assert "past: Use the server at staging-two" in search(query="staging server")
    assert "past" in get(ids=[kept.ref])
    assert "staging-two" not in context(query="staging server")
    assert "staging-two" not in context()


def test_a_conversation_that_goes_on_stops_showing_what_runs_out(ctx, clock):
    ctx.remember("Use the server staging-two.", kind="rule", until=clock.now + timedelta(minutes=5))
    ctx.remember("The staging key is in the vault today.", scope="project:shop")
    chat = ctx.session("one", project="shop")
    first = chat.prepare(ASKED)
    assert "staging-two" in str(first.messages)
    chat.finish(first, "staging-two.")
    clock.now += timedelta(minutes=10)
    asked = [*ASKED, {"role": "assistant", "content": "staging-two."}]
    second = chat.prepare([*asked, {"role": "user", "content": "And where is its key?"}])
    ours = [second.context.stable, second.context.part]
    assert not any("staging-two" in text for text in ours)
    assert "vault" in "".join(ours)
    assert chat.state.began == "changed"


def test_what_begins_later_opens_no_prompt_before_and_is_found_with_its_day(ctx, clock):
    ctx.remember("Staging runs on the server kamal.", since=date(2026, 11, 23), kind="rule")
    chat = ctx.session("before").prepare(ASKED)
    assert "kamal" not in chat.context.stable
    assert "kamal. (from 2026-11-23)" in chat.context.part
    clock.now += timedelta(days=6)
    assert "kamal" in ctx.session("after").prepare(ASKED).context.stable


def test_a_list_of_the_best_holds_until_something_begins_or_ends(ctx, clock):
    lasting = ctx.remember("We use tabs.", kind="rule")
    ctx.remember("We use spaces.", kind="rule", until=clock.now + timedelta(hours=1))
    ctx.remember("We use both.", kind="rule", since=clock.now + timedelta(hours=2))
    shown = []
    for hours in (0, 1.5, 1.5):
        clock.now += timedelta(hours=hours)
        shown.append(ctx.session().prepare(ASKED).context.stable)
    assert ["spaces" in text for text in shown] == [True, False, False]
    assert ["both" in text for text in shown] == [False, False, True]
    assert all(lasting.text in text for text in shown)


def test_what_ends_does_not_take_the_place_of_what_lasts(ctx, clock):
    lasting = ctx.remember("Call me Robert.", key="name")
    ctx.remember("Call me Bob until Friday.", key="name")
    assert {memory.text for memory in ctx.memories()} == {
        "Call me Robert.",
        "Call me Bob until Friday.",
    }
    clock.now += timedelta(days=5)
    assert [memory.ref for memory in ctx.memories()] == [lasting.ref]
    ctx.remember("Call me Rob.", key="name")
    assert [memory.text for memory in ctx.memories()] == ["Call me Rob."]


def test_what_begins_later_lets_the_old_one_hold_until_then(ctx, clock):
    ctx.remember("Standup is at nine.", key="standup")
    ctx.remember("Standup is at ten.", key="standup", since=date(2026, 11, 23))
    assert [memory.text for memory in ctx.memories()] == ["Standup is at nine."]
    assert [m.text for m in ctx.memories(as_of=date(2026, 11, 24))] == ["Standup is at ten."]
    clock.now += timedelta(days=7)
    assert [memory.text for memory in ctx.memories()] == ["Standup is at ten."]


def test_it_answers_as_of_a_day(ctx, clock):
    ctx.remember("The queue is Kafka.", key="queue")
    ctx.session("old").capture([{"role": "user", "content": "The queue was slow this morning."}])
    clock.now += timedelta(days=10)
    ctx.remember("The queue is RabbitMQ.", key="queue")
    ctx.session("new").capture([{"role": "user", "content": "The queue is fast again."}])
    clock.now += timedelta(days=10)
    ctx.remember("The queue is RabbitMQ.", key="queue")
    then, later = date(2026, 11, 20), date(2026, 11, 29)
    assert [memory.text for memory in ctx.memories()] == ["The queue is RabbitMQ."]
    assert [memory.text for memory in ctx.memories(as_of=then)] == ["The queue is Kafka."]
    assert [memory.text for memory in ctx.memories(as_of=later)] == ["The queue is RabbitMQ."]
    assert ctx.memories(as_of=date(2026, 11, 1)) == []
    found = [hit.text for hit in ctx.search("which queue", as_of=then)]
    assert "The queue is Kafka." in found
    assert "The queue was slow this morning." in found
    assert not any("Rabbit" in text or "again" in text for text in found)
    texts = [hit.text for hit in ctx.search("which queue", as_of=later)]
    assert "The queue is RabbitMQ. (was: The queue is Kafka.)" in texts
    assert "The queue is Kafka." not in texts
    now = [hit.text for hit in ctx.search("which queue")]
    assert any("RabbitMQ" in text for text in now)
    at = WEDNESDAY + timedelta(hours=1)
    assert [memory.text for memory in ctx.memories(as_of=at)] == ["The queue is Kafka."]


async def test_memories_are_listed_by_kind_scope_words_source_and_time(ctx, clock):
    ctx.remember("Prefers dark mode.", kind="preference")
    clock.now += timedelta(days=1)
    ctx.remember("The shop is blue.", scope="project:shop", source="mail")
    ctx.remember("Berlin is grey today.", kind="fact")
    assert [m.text for m in ctx.memories(kind="preference")] == ["Prefers dark mode."]
    assert [m.text for m in ctx.memories(scope="project:shop")] == ["The shop is blue."]
    assert [m.text for m in ctx.memories(text="BLUE shop")] == ["The shop is blue."]
    assert [m.text for m in ctx.memories(source="mail")] == ["The shop is blue."]
    assert len(ctx.memories(since=WEDNESDAY + timedelta(hours=1))) == 2
    assert [m.text for m in await ctx.amemories(limit=1)] == ["Berlin is grey today."]
    clock.now += timedelta(days=2)
    assert len(ctx.memories()) == 2
    assert len(ctx.memories(everything=True)) == 3
    assert ctx.memories(user="bob") == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"since": "Friday"}, "since is 'Friday': give a date"),
        ({"until": datetime(2026, 11, 18)}, "until is .*: give a date or an aware"),  # noqa: DTZ001
        ({"since": date(2026, 11, 19), "until": date(2026, 11, 18)}, "before since"),
        ({"until": date.max}, "no day after it"),
    ],
)
def test_a_period_that_makes_no_sense_is_refused(ctx, given, says):
    with pytest.raises(InvalidValue, match=says):
        ctx.remember("Something.", **given)
    assert ctx.memories() == []


@pytest.mark.parametrize(
    "given", [{"as_of": "today"}, {"kind": "poem"}, {"limit": -1}, {"text": " "}, {"everything": 1}]
)
def test_a_list_that_makes_no_sense_is_refused(ctx, given):
    with pytest.raises(InvalidValue):
        ctx.memories(**given)


def test_a_day_is_held_to_its_end_and_an_edit_keeps_it(ctx):
    memory = ctx.remember("Use port 9000.", until=date(2026, 11, 19))
    assert memory.until == datetime(2026, 11, 20, tzinfo=UTC)
    assert ctx.edit(memory.ref, "Use port 9001.").until == memory.until
    again = ctx.edit(ctx.memories()[0].ref, "Use port 9002 until Sunday.")
    assert again.until == datetime(2026, 11, 23, tzinfo=UTC)


def test_what_was_said_and_has_run_out_is_not_brought_as_it_was_said(clock):
    ctx = ContextMiddleware.open(
        ":memory:", clock=clock, deadline=None, learn=Learning(summaries=False)
    )
    said = "I prefer the server staging-two until Friday."
    ctx.session("old").capture([{"role": "user", "content": said}])
    assert [memory.until.day for memory in ctx.memories()] == [21]
    assert "staging-two" in prompt(ctx.session("before"))
    clock.now += timedelta(days=4)
    assert "staging-two" not in prompt(ctx.session("after"))
    found = ctx.search("staging server", budget=300)
    assert any("staging-two" in hit.text for hit in found)
    ctx.close()

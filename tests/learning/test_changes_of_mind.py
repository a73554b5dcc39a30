"""The current one wins: in the memory, in prompts, in recalled turns and in the record."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.learning import measured_lines
from ctxmw import ContextMiddleware, InvalidValue, Learning, memory_tools
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock
from ctxmw.values.record_items import OUTDATED
from ctxmw.values.records import Memory, SessionSummary, Turn, load_as


@pytest.fixture
def ctx() -> Any:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def says(ctx: ContextMiddleware, session: str, *texts: str) -> None:
    messages = [{"role": role, "content": text} for role, text in zip("ua", texts, strict=False)]
    roles = {"u": "user", "a": "assistant"}
    ctx.session(session).capture([{**one, "role": roles[one["role"]]} for one in messages])


def current(ctx: ContextMiddleware) -> list[Memory]:
    rows = ctx.store.query("local", Find(types=("memory",)))
    return [load_as(row, Memory) for row in rows]


@pytest.mark.parametrize("part", ["seen", "held"])
def test_pairs_that_were_written_before_the_rules(part: str) -> None:
    both = []
    pairs = list(measured_lines("changes_of_mind", part))
    for first, second, _ in pairs:
        with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
            says(ctx, "s1", first)
            before = {memory.ref for memory in current(ctx)}
            says(ctx, "s2", second)
            if not before or before & {memory.ref for memory in current(ctx)}:
                both.append((first, second))
    assert len(both) <= 1, both


@pytest.mark.parametrize("part", ["fresh_d", "fresh_e", "held_e"])
def test_changes_that_are_told_by_what_they_are_about(part: str) -> None:
    both = []
    for first, second, _ in measured_lines("changes_of_mind", part):
        with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
            says(ctx, "s1", first)
            before = {memory.ref for memory in current(ctx)}
            says(ctx, "s2", second)
            if before & {memory.ref for memory in current(ctx)}:
                both.append((first, second))
    assert len(both) <= 1, both


@pytest.mark.parametrize("part", ["fresh_d", "fresh_e", "held_e"])
def test_pairs_that_only_look_like_a_change_both_hold(part: str) -> None:
    for first, second in measured_lines("both_stay", part):
        with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
            says(ctx, "s1", first)
            before = {memory.ref for memory in current(ctx)}
            says(ctx, "s2", second)
            assert before <= {memory.ref for memory in current(ctx)}, (first, second)


def test_what_may_have_changed_is_dated_and_the_later_comes_first(
    ctx: ContextMiddleware,
) -> None:
    says(ctx, "s1", "I drive a Volvo.")
    says(ctx, "s2", "I drive a Tesla.")
    shown = ctx.session("s3").prepare([{"role": "user", "content": "Hello"}]).context.text
    lines = [line for line in shown.splitlines() if "I drive" in line]
    assert len(lines) == 2
    assert all("(said 20" in line for line in lines)


def test_a_conversation_that_only_said_it_is_not_told_of_any_more(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "I'm vegetarian.")
    ctx.session("s1").end()
    says(ctx, "s2", "I eat meat again.")
    shown = ctx.session("s3").prepare([{"role": "user", "content": "Hello"}]).context.text
    assert shown.count("vegetarian") == shown.count("(was: I'm vegetarian.)") == 1


def test_an_allergy_is_given_up_on_plain_words_only(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "I'm allergic to peanuts.")
    says(ctx, "s2", "I eat peanuts again these days.")
    assert "I'm allergic to peanuts." in [memory.text for memory in current(ctx)]
    says(ctx, "s3", "Turns out the peanut allergy was a misdiagnosis.")
    kept = [memory for memory in current(ctx) if memory.was]
    assert [memory.was for memory in kept] == ["I'm allergic to peanuts."]
    assert "I'm allergic to peanuts." not in [memory.text for memory in current(ctx)]


def test_a_wish_to_change_gives_no_value_and_replaces_none(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "End all your variable names with '_w'.")
    says(ctx, "s2", "I'd like you to update your variable naming convention.")
    assert "End all your variable names with '_w'." in [memory.text for memory in current(ctx)]


def test_the_reason_and_the_day_are_in_the_record(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Call me Bob.")
    says(ctx, "s2", "Call me Robert.")
    (memory,) = current(ctx)
    assert (memory.text, memory.was) == ("Call me Robert.", "Call me Bob.")
    record = ctx.session("s3").prepare([{"role": "user", "content": "Hello"}]).context
    assert f"in place of {memory.supersedes} of" in record.explain()
    assert "says something else of the same" in record.explain()


def test_a_turn_of_which_nothing_is_left_is_not_recalled(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Give prices in dollars.")
    says(ctx, "s2", "Give prices in euros from now on.")
    asks = [{"role": "user", "content": "What did I say about prices in dollars?"}]
    assert OUTDATED not in ctx.session("s3").prepare(asks).context.text
    assert OUTDATED not in memory_tools(ctx.session("s4"))[0](query="prices in dollars")


def test_a_turn_does_not_recall_what_no_longer_holds(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Give prices in dollars. The shop sells lamps.", "Prices in dollars it is.")
    says(ctx, "s2", "Give prices in euros from now on.")
    part = ctx.session("s3").prepare(
        [{"role": "user", "content": "What does the shop sell, and at which prices?"}]
    )
    assert "Give prices in dollars. The" not in part.context.text
    assert "Give prices in euros" in part.context.text
    (turn,) = [hit.record for hit in ctx.search("shop sells lamps", kinds=["turn"])][:1]
    assert "Give prices in dollars." in turn.says()


def test_what_is_forgotten_leaves_no_trace_of_the_change(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Always start them with 'zebra_'.")
    says(ctx, "s2", "We name tables. Start table names with 'zebra_'.")
    says(ctx, "s3", "Start table names with 'lion_'.")
    (memory,) = current(ctx)
    ctx.forget(memory.ref)
    rows = ctx.store.query("local", Find(types=("turn", "memory"), sessions=("s2",), live=None))
    assert not any("Start table names with 'zebra_'" in row.body for row in rows)


class TestSensitive:
    def shown(self, ctx: ContextMiddleware, asked: str) -> str:
        return ctx.session().peek([{"role": "user", "content": asked}]).context.text

    def test_it_is_shown_where_it_matters_only(self, ctx: ContextMiddleware) -> None:
        says(ctx, "s1", "I'm allergic to peanuts.")
        assert "peanuts" in self.shown(ctx, "Suggest a dinner recipe.")
        assert "peanuts" in self.shown(ctx, "Which medicine helps against a cough?")
        assert "peanuts" not in self.shown(ctx, "How do I sort a list in Python?")
        assert current(ctx)[0].sensitive

    def test_it_can_be_shown_always_or_never_learned(self) -> None:
        with ContextMiddleware.open(":memory:", learn=Learning(sensitive="always")) as ctx:
            says(ctx, "s1", "I'm gay.")
            assert "gay" in self.shown(ctx, "How do I sort a list in Python?")
        with ContextMiddleware.open(":memory:", learn=Learning(sensitive="never")) as ctx:
            says(ctx, "s1", "I'm gay. I prefer tea.")
            assert [memory.text for memory in current(ctx)] == ["I prefer tea."]

    @pytest.mark.parametrize(
        "said", ["Always disable telemetry.", "Call me Christian.", "Use visual aids in talks."]
    )
    def test_a_word_that_only_looks_like_it_is_not_held_back(
        self, ctx: ContextMiddleware, said: str
    ) -> None:
        says(ctx, "s1", said)
        assert said in self.shown(ctx, "How do I sort a list in Python?")

    @pytest.mark.parametrize("said", ["I\u2019m disabled.", "I'm trans.", "I'm a Christian."])
    def test_it_is_told_by_what_a_person_says_of_themselves(
        self, ctx: ContextMiddleware, said: str
    ) -> None:
        says(ctx, "s1", said)
        assert current(ctx)[0].sensitive

    def test_the_summary_of_a_conversation_does_not_tell_it(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        asked = [{"role": "user", "content": "I'm bipolar. Which trains go to Lyon on Sundays?"}]
        chat.finish(chat.prepare(asked), "Three. As you have ADHD and are bipolar, book early.")
        chat.end()
        opening = ctx.session().peek([{"role": "user", "content": "Hello"}]).context.text
        assert "Which trains go to Lyon on Sundays?" in opening
        assert "bipolar" not in opening
        assert "ADHD" not in opening

    def test_anything_else_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="sensitive is 'sometimes'"):
            Learning(sensitive="sometimes")  # type: ignore[arg-type]


def test_preferences_come_where_their_field_is_spoken_of(ctx: ContextMiddleware) -> None:
    for at in range(12):
        says(ctx, f"s{at}", f"I dislike movies with kind {at} of plot.")
    says(ctx, "food", "I avoid fried food.")
    shown = ctx.session().peek([{"role": "user", "content": "Which film should I watch?"}]).context
    assert shown.text.count("I dislike movies") == 12
    other = ctx.session().peek([{"role": "user", "content": "Where can I have lunch?"}]).context
    assert "I avoid fried food." in other.text
    assert other.text.count("- I dislike movies") <= 5


@pytest.mark.parametrize(
    ("general", "for_some_cases"),
    [
        ("Always answer in German.", "Answer in English when I write in English."),
        ("Keep answers short.", "Keep answers about physics long."),
        ("Give prices in euros.", "Give prices in dollars for US clients."),
    ],
)
def test_a_wish_for_some_cases_leaves_the_general_one(
    ctx: ContextMiddleware, general: str, for_some_cases: str
) -> None:
    says(ctx, "s1", general)
    says(ctx, "s2", for_some_cases)
    assert {memory.text for memory in current(ctx)} == {general, for_some_cases}


def asked(ctx: ContextMiddleware, session: str, question: str) -> str:
    return str(ctx.session(session).prepare([{"role": "user", "content": question}]).context.text)


def test_the_mark_stands_for_the_sentence_alone(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Can you use 24-hour time for the train? And always answer in German.")
    says(ctx, "s2", "From now on answer in English please.")
    shown = asked(ctx, "s3", "What time does the train leave?")
    assert f"Can you use 24-hour time for the train? {OUTDATED}" in shown
    assert OUTDATED == "[something that no longer holds was left out]"


def test_the_mark_leaves_the_rest_of_a_sentence(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "I live in Porto and work as a nurse at the old harbour hospital.")
    says(ctx, "s2", "We moved to Braga last month.")
    (row,) = ctx.store.query("local", Find(types=("turn",), sessions=("s1",)))
    assert load_as(row, Turn).outdated == ("I live in Porto",)
    assert {memory.text for memory in current(ctx)} == {
        "We moved to Braga last month.",
        "I work as a nurse at the old harbour hospital.",
    }


def test_a_turn_that_memories_in_view_repeat_does_not_come(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "Hi! I'm Lena, I live in Porto and work as a nurse.", "Hello Lena!")
    shown = asked(ctx, "s2", "Where do I live, in Porto?")
    assert shown.count("Porto") == 1
    assert "Hello Lena" not in shown


def test_a_turn_that_says_more_than_memories_in_view_comes(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "I live in Porto. The landlord Rui raised the rent to 900 euros.", "Oh no.")
    assert "900 euros" in asked(ctx, "s2", "What did the landlord in Porto do to the rent?")


def test_what_counts_from_the_day_it_was_said_is_dated(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "We moved to Braga last month.")
    day = current(ctx)[0].at.date().isoformat()
    assert f"We moved to Braga last month. (said {day})" in asked(ctx, "s2", "Where do we live?")


def test_what_holds_from_a_later_day_on_leaves_what_holds_until_then(ctx: Any) -> None:
    says(ctx, "s1", "I work at Siemens.")
    says(ctx, "s2", "From January on, I work at Bosch.")
    (now,) = [memory for memory in ctx.memories() if "work at" in memory.text]
    (then,) = [memory for memory in current(ctx) if "Bosch" in memory.text]
    assert (now.text, now.until) == ("I work at Siemens.", then.since)
    assert then.since is not None


def test_two_things_told_in_one_sentence_both_hold(ctx: ContextMiddleware) -> None:
    said = "Hi, I'm Marta, I live in Bergen and I work as a nurse."
    ctx.session("s1").capture([{"role": "user", "content": said}])
    told = {memory.text for memory in ctx.memories()}
    assert {"I live in Bergen.", "I work as a nurse."} <= told


def test_a_summary_tells_what_of_it_no_longer_holds(ctx: ContextMiddleware) -> None:
    says(ctx, "s1", "I drive a Volvo.", "A fine car.")
    ctx.session("s1").end()
    says(ctx, "s2", "We traded the Volvo in for a Kia.")
    [summary] = ctx.store.query("local", Find(types=("summary",), sessions=("s1",)))
    assert "I drive a Volvo. (no longer so)" in load_as(summary, SessionSummary).text


def test_another_tool_for_the_same_work_takes_the_place_of_the_first(
    ctx: ContextMiddleware,
) -> None:
    says(ctx, "s1", "celery is overkill. we'll use django-q2 with the ORM broker")
    says(ctx, "s2", "it's choking on webhooks. we're moving to celery + redis after all")
    assert [memory.text for memory in current(ctx)] == ["We're moving to celery + redis after all"]

"""A request's situation, and how much an item matters in it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware
from ctxmw.errors import InvalidValue
from ctxmw.recall.lanes import Choice
from ctxmw.recall.render import Layout, Markdown
from ctxmw.recall.selection import select_stable, select_turn
from ctxmw.tokens.prompt_counter import prompt_counter
from ctxmw.values.budget import Budget
from ctxmw.values.items import Item, Scope
from ctxmw.values.situation import (
    TASK_WORDS,
    TASKS,
    Floors,
    Rating,
    Situation,
    Weights,
    recency,
    score_all,
    task_fit,
    task_of,
    with_match,
)
from tests.support.strategies import NOW, item


class TestTask:
    @pytest.mark.parametrize(
        ("texts", "task"),
        [
            (["Implement the login function"], "coding"),
            (["Please create two classes and write them to auth.py"], "coding"),
            (["Why does this test fail? There is an error."], "debugging"),
            (["I am debugging AuthError"], "debugging"),
            (["Explain the README.md and add docs"], "documentation"),
            (["How should we structure the modules? Which pattern?"], "architecture"),
            (["thanks!"], None),
            (["The doctor has a classic contest"], None),
            (["explain this error"], None),
            ([""], None),
            ([], None),
        ],
    )
    def test_is_told_by_words(self, texts, task):
        assert task_of(texts) == task

    def test_is_that_of_the_later_messages(self):
        assert task_of(["design the modules", "ok", "now fix the bug"]) == "debugging"

    def test_is_that_of_the_last_five_messages_alone(self):
        assert task_of(["fix the error"] + ["go on"] * 4) == "debugging"
        assert task_of(["fix the error"] + ["go on"] * 5) is None

    def test_counts_a_word_once_a_message(self):
        assert task_of(["error " * 500 + "write a function"]) == "coding"

    def test_is_found_after_a_long_paste(self):
        assert task_of(["x " * 50_000 + "fix this error"]) == "debugging"

    def test_has_words_for_each(self):
        assert tuple(TASK_WORDS) == TASKS
        for task in TASKS:
            assert task_of([" ".join(TASK_WORDS[task])]) == task

    @given(st.lists(st.text()))
    def test_never_raises(self, texts):
        assert task_of(texts) in (None, *TASKS)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def scored(task: str | None = None, **values: object) -> float:
    return (
        Rating.of(Situation(user="ada", now=NOW, task=task), Weights()).score(item(**values)).score
    )


PREFERENCE = {"kind": "preference", "ages": False}
DECISION = {"kind": "decision"}
CORRECTION = {"kind": "correction"}
SCORES = [
    ("an undated preference", PREFERENCE, None, 1, 0.7),
    ("an old preference", PREFERENCE, 2000, 1, 0.7),
    ("a decision of today", DECISION, 0, 1, 0.8),
    ("a decision under 30 days", DECISION, 29, 1, 0.76),
    ("a decision under 90 days", DECISION, 89, 1, 0.72),
    ("a decision under 180 days", DECISION, 179, 1, 0.68),
    ("an older decision", DECISION, 180, 1, 0.64),
    ("a correction once under 7 days", CORRECTION, 6.9, 1, 0.8),
    ("a correction once under 90 days", CORRECTION, 60, 1, 0.72),
    ("a correction once under 180 days", CORRECTION, 120, 1, 0.68),
    ("a correction 3 times under 180 days", CORRECTION, 120, 3, 0.755),
    ("a correction 9 times, older", CORRECTION, 400, 9, 0.76),
    ("a correction 2 times, older", CORRECTION, 400, 2, 0.69),
]


@pytest.mark.parametrize(
    ("values", "days", "seen", "expected"),
    [row[1:] for row in SCORES],
    ids=[row[0] for row in SCORES],
)
def test_scores_are_exact(
    values: dict[str, object], days: float | None, seen: int, expected: float
) -> None:
    at = None if days is None else days_ago(days)
    assert scored(**values, at=at, seen=seen) == expected
    # No word of the task in the text is no evidence: the score is the same.
    assert scored("debugging", **values, at=at, seen=seen) == expected


def test_every_unknown_signal_counts_one_half() -> None:
    rated = Rating.of(Situation(user="ada", now=NOW), Weights()).score(item(at=None))
    assert dict(rated.reasons) == {"seen": 0.5, "recency": 0.5, "task": 0.5}
    assert rated.score == 0.7


@pytest.mark.parametrize(("n", "seen"), [(1, 0.5), (3, 0.75), (9, 0.9)])
def test_restatements_raise_the_score_ever_more_slowly(n: int, seen: float) -> None:
    rated = Rating.of(Situation(user="ada", now=NOW), Weights()).score(item(seen=n))
    assert dict(rated.reasons)["seen"] == pytest.approx(seen)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        *[(-3, 1.0), (0, 1.0), (6.999, 1.0), (7, 0.8), (29.999, 0.8), (30, 0.6), (89.999, 0.6)],
        *[(90, 0.4), (179.999, 0.4), (180, 0.2), (5000, 0.2)],
    ],
)
def test_recency_falls_in_steps(days: float, expected: float) -> None:
    assert recency(days_ago(days), NOW) == expected


def test_recency_of_an_unknown_time_is_one_half() -> None:
    assert recency(None, NOW) == 0.5


@given(st.text(max_size=80), st.sampled_from(TASKS))
def test_a_task_only_adds(text: str, task: str) -> None:
    assert task_fit(text, task) >= task_fit(text, None) == 0.5


@pytest.mark.parametrize("task", TASKS)
def test_the_more_words_of_the_task_the_higher_up_to_one(task: str) -> None:
    said = TASK_WORDS[task]
    fits = [task_fit(" ".join(said[:n]), task) for n in range(len(said) + 1)]
    assert fits == sorted(fits)
    assert (fits[0], fits[-1]) == (0.5, 1.0)
    assert scored(task, text=" ".join(said).upper()) == 0.75


def test_out_of_scope_is_no_candidate_however_good() -> None:
    here = Situation(user="ada", now=NOW, project="shop", language="python")
    wanted = ["universal", "language:python", "project:shop"]
    others = ["language:java", "project:bank", "project:shop:web"]
    items = [item(ref=name, scope=Scope.parse(name), seen=99, at=NOW) for name in wanted + others]
    assert [found.ref for found in score_all(items, here, Weights())] == wanted


def test_a_query_counts_half_match_half_score() -> None:
    found = with_match(item(score=0.8), 0.25)
    assert found.score == 0.525
    assert (found.match, found.include) == (0.25, "agent")
    assert found.reasons[0] == ("match", 0.25)


@pytest.mark.parametrize(
    "values",
    [{"scope": 0.5}, {"task": 0.0}, {"scope": -0.1, "seen": 0.8}, {"scope": 1.4}, {"seen": "0.3"}],
)
def test_weights_that_do_not_add_up_to_one_are_an_error(values: dict[str, float]) -> None:
    with pytest.raises(InvalidValue, match=r"add up to 1|from 0 to 1"):
        Weights(**values)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "0.7", None, True, float("nan")])
def test_a_floor_outside_0_to_1_is_an_error_that_names_it(wrong: object) -> None:
    with pytest.raises(InvalidValue) as caught:
        Floors(stable=wrong)  # type: ignore[arg-type]
    assert f"Floors.stable is {wrong!r}" in str(caught.value)


# --- each floor keeps something out ---

LAYOUT = Layout(renderer=Markdown(), count=prompt_counter(len), title=str)
ROOMY = Budget(total=400_000)


def shown(choices: tuple[Choice, ...]) -> dict[str, str]:
    return {choice.item.ref: choice.shown for choice in choices}


def rated(ref: str, days: float, weights: Weights | None = None, **values: object) -> Item:
    aged = item("It was decided. " * 30, ref=ref, kind="decision", at=days_ago(days), **values)
    return Rating.of(Situation(user="ada", now=NOW), weights or Weights()).score(aged)


def test_the_floor_of_the_stable_block_keeps_out_what_is_worse_than_neutral() -> None:
    items = [rated("m_fresh", 89), rated("m_old", 90), item(ref="m_neutral", score=0.7)]
    selection = select_stable(items, ROOMY.lanes(), LAYOUT, Floors())
    assert shown(selection.choices) == {"m_fresh": "full", "m_neutral": "full", "m_old": "index"}
    reasons = {choice.item.ref: choice.reason for choice in selection.choices}
    assert reasons["m_old"] == "below floor 0.7"


@pytest.mark.parametrize(
    ("floor", "question", "brought"),
    [
        (0.5, "How are invoices rounded?", True),
        (0.5, "Which invoices mention quantum lattice simulations of heavy quarks?", False),
        (0.3, "Which invoices mention quantum lattice simulations of heavy quarks?", True),
        (0.0, "Thanks!", False),
    ],
)
def test_the_floor_of_a_query_keeps_out_what_hardly_matches(
    floor: float, question: str, brought: bool
) -> None:
    clock = [days_ago(400)]
    options = {"floors": Floors(query=floor), "clock": lambda: clock[0]}
    with ContextMiddleware.open(":memory:", **options) as ctx:
        ctx.remember("Invoices are rounded half up.", kind="decision")
        clock[0] = NOW
        prepared = ctx.session("s1").prepare([{"role": "user", "content": question}])
    assert ("- Invoices are rounded half up." in prepared.context.part) is brought


def test_the_floor_of_the_index_keeps_out_what_is_not_worth_a_line() -> None:
    only_recency = Weights(scope=0, seen=0, recency=1, task=0)
    items = [rated("m_older", 180, only_recency), rated("m_old", 179, only_recency)]
    selection = select_stable(items, ROOMY.lanes(), LAYOUT, Floors())
    assert shown(selection.choices) == {"m_old": "index", "m_older": "none"}

    long = [item("word " * 60, ref=f"m{value}", score=value) for value in (0.3, 0.29)]
    part = select_turn(long, 300, LAYOUT, Floors())
    assert shown(part.choices) == {"m0.3": "index", "m0.29": "none"}

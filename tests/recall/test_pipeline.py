"""What a turn's part leaves out, and how the record tells why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxmw import Arriving, Budget, ContextMiddleware
from ctxmw.errors import InvalidValue


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", deadline=None) as opened:
        yield opened


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


def why(ctx: ContextMiddleware, *texts: str) -> dict[str, str]:
    """Return why each text was left out of the part, by the text."""
    context = ctx.session("now").prepare(said(*texts)).context
    return {one.words: one.reason for one in context.used if one.shown == "none"}


def test_a_strong_hit_may_stand_alone(ctx: ContextMiddleware) -> None:
    others = [f"Parcel {n} was weighed again." for n in range(80)]
    ctx.session("before").capture(said("The red parcel went to Ulm.", *others))
    left_out = why(ctx, "Where did the red parcel go?")
    assert set(left_out.values()) == {"not worth its tokens"}
    assert "The red parcel went to Ulm." not in left_out


def test_what_the_gate_withheld_is_in_the_record(ctx: ContextMiddleware) -> None:
    ctx.session("before").capture(said("The courier comes at four."))
    assert why(ctx, "Nice courier!") == {"The courier comes at four.": "nothing here was asked for"}


def test_the_same_words_do_not_come_again_when_they_are_in_view(ctx: ContextMiddleware) -> None:
    ctx.session("before").capture(said("The courier comes at four o'clock."))
    left_out = why(ctx, "the courier comes at four o'clock", "When does the courier come?")
    assert left_out == {"The courier comes at four o'clock.": "same words in view"}


def test_a_name_that_few_records_hold_is_enough_of_a_match(ctx: ContextMiddleware) -> None:
    ctx.session("before").capture(said("Tomas loves trains."))
    ctx.session("another").capture(said("The parcel went to Ulm."))
    context = ctx.session("now").peek(said("Plan a birthday party with games for Tomas")).context
    assert "Tomas loves trains." in context.part
    assert "parcel" not in context.part


def test_a_name_that_is_said_all_the_time_is_not(ctx: ContextMiddleware) -> None:
    ctx.session("before").capture(said(*(f"Tomas has seen train {n}." for n in range(20))))
    context = ctx.session("now").peek(said("Plan a birthday party with games for Tomas")).context
    assert not context.part


def test_a_summary_in_view_that_only_names_what_was_decided_does_not_stand_for_it(
    ctx: ContextMiddleware,
) -> None:
    asked = "We're building a tracking service."
    decided = "Here is my plan for that. FastAPI sits before Postgres for tracking, no ORM."
    before = ctx.session("before")
    before.capture([*said(asked), {"role": "assistant", "content": decided}])
    before.end()
    context = ctx.session("now").peek(said("Write an intro for the tracking service")).context
    assert "About: FastAPI, Postgres" in context.stable
    assert decided in context.part


def test_what_stands_beside_a_turn_that_is_told_already_does_not_come_for_it(
    ctx: ContextMiddleware,
) -> None:
    for number in range(8):
        ctx.session(f"other{number}").capture(said(f"Item {number} is in the shed."))
    before, history = ctx.session("before"), list[dict[str, str]]()
    for turn, answer in [
        (
            "supervisor changed! it's Dr. Nakamura now",
            "Good to know. Does Dr. Nakamura have other requirements?",
        ),
        ("she wants Chicago style, footnotes. sigh", "Then we switch to Chicago footnotes."),
        ("deadline moved to april 30 tho", "That gives you six more weeks."),
    ]:
        history += said(turn)
        before.finish(before.prepare(history), answer)
        history.append({"role": "assistant", "content": answer})
    before.end()
    context = ctx.session("now").peek(said("What style should the slides be in?")).context
    assert "she wants chicago style, footnotes" in context.stable.lower()
    assert "Good to know" not in context.part


def test_an_appetite_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidValue, match="lean, balanced, full"):
        Arriving(appetite="greedy")  # type: ignore[arg-type]


def test_a_long_file_of_rules_gets_what_is_unused(ctx: ContextMiddleware, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    rules = "\n".join(f"- Rule {n}: keep module {n} free of global state." for n in range(150))
    (tmp_path / "AGENTS.md").write_text(rules)
    record = ctx.session("s1", cwd=tmp_path).prepare(said("Hello")).context
    assert record.stable.count("Rule ") > 100
    assert record.tokens <= Budget().stable_limit


def test_what_was_remembered_by_hand_goes_before_what_was_heard_of_the_same_field(
    ctx: ContextMiddleware,
) -> None:
    ctx.remember("I prefer tea to coffee.", kind="preference")
    for number, food in enumerate("pasta rice soup bread cheese fish salad pizza".split()):
        ctx.session(f"s{number}").capture(said(f"I don't eat {food} for dinner."))
    assert "I prefer tea to coffee." in ctx.session("now").prepare(said("thanks!")).context.stable


def test_a_question_that_was_asked_before_does_not_hide_what_answers_it(
    ctx: ContextMiddleware,
) -> None:
    told = "The courier deadline is 16:00. " + "Parcels go by van to town. " * 60
    ctx.session("old").capture(said(told))
    question = "When is the courier deadline?"
    for number in range(3):
        chat = ctx.session(f"s{number}")
        prepared = chat.prepare(said(question))
        assert "16:00" in prepared.context.part
        chat.finish(prepared, "I have no idea.")


def part(ctx: ContextMiddleware, session: str, *messages: dict[str, Any]) -> list[str]:
    """Return the lines of what was said before, as a new conversation gets to see them."""
    shown = ctx.session(session).prepare(list(messages)).context.part
    return [line for line in shown.splitlines() if line.startswith(("- ", "  "))]


def talk(ctx: ContextMiddleware, session: str, *exchanges: tuple[str, str]) -> None:
    chat, history = ctx.session(session), list[dict[str, Any]]()
    for question, answer in exchanges:
        history += said(question)
        chat.finish(chat.prepare(history), answer)
        history.append({"role": "assistant", "content": answer})


PORTS = (
    ("What is the port of production?", "It is 8443."),
    ("What is the port of staging?", "That one is 9000."),
    ("What is the port of production?", "It moved to 8444."),
)


def test_an_answer_to_a_question_that_was_asked_twice_stands_under_it(
    ctx: ContextMiddleware,
) -> None:
    talk(ctx, "before", *PORTS)
    assert part(ctx, "now", *said("Which port has production, and which staging?")) == [
        "- user: What is the port of production?",
        "- assistant: It is 8443.",
        "- user: What is the port of staging?",
        "- assistant: That one is 9000.",
        "- user: What is the port of production?",
        "- assistant: It moved to 8444.",
    ]


def test_an_answer_does_not_stand_under_another_question_when_its_own_is_asked_now(
    ctx: ContextMiddleware,
) -> None:
    talk(ctx, "before", *PORTS[:2])
    assert part(ctx, "now", *said("What is the port of staging?")) == [
        "- user: What is the port of production?",
        "- assistant: It is 8443.",
        "- user: What is the port of staging?",
        "- assistant: That one is 9000.",
    ]


def test_the_answer_alone_comes_where_nothing_stands_before_it(ctx: ContextMiddleware) -> None:
    talk(ctx, "before", PORTS[1])
    assert part(ctx, "now", *said("What is the port of staging?")) == [
        "- assistant: That one is 9000."
    ]


def test_what_only_stands_beside_words_in_view_does_not_come(ctx: ContextMiddleware) -> None:
    told = said("The courier comes at four o'clock.", "Rain fell on the roof all night.")
    ctx.session("before").capture(told)
    question = said("When does the courier come?")
    assert len(part(ctx, "new", *question)) == 2
    assert why(ctx, "the courier comes at four o'clock", "When does the courier come?") == {
        "The courier comes at four o'clock.": "same words in view",
        "Rain fell on the roof all night.": "beside what is in view",
    }


def test_code_that_was_said_is_shown_line_by_line(ctx: ContextMiddleware) -> None:
    code = "Like this:\n```python\ndef retry(n):\n    return n\n```\nUse it on handlers."
    talk(ctx, "before", ("How do I write the retry decorator?", code))
    shown = part(ctx, "now", *said("What was the retry decorator again?"))
    assert shown[1:] == [
        "- assistant: Like this:",
        "  ```python",
        "  def retry(n):",
        "      return n",
        "  ```",
        "  Use it on handlers.",
    ]

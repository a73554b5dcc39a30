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

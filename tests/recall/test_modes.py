"""Words in a message that bring an instruction."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.recall.modes import MODES, Mode, modes_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ultrawork: fix the build", ["ultrawork"]),
        ("ULW please", ["ultrawork"]),
        ("Go into search mode and find it", ["search"]),
        ("Please analyze the log. Deep search, too!", ["search", "analyze"]),
        ("search-mode is not the phrase", []),
        ("It was analyzed; the ultraworker left", []),
        ('What does "ultrawork" mean?', []),
        ("What does `ultrawork` mean, or 'ulw'?", []),
        ("```\nultrawork\n```\nexplain this", []),
        ("> ultrawork\nwho said that?", []),
        ("", []),
    ],
)
def test_a_mode_is_switched_on_by_saying_so(text, names):
    assert [mode.name for mode in modes_in(text, MODES)] == names


def asked(ctx, text):
    return ctx.session().peek([{"role": "user", "content": text}]).context


def test_the_instruction_comes_first_in_the_turns_part_with_high_priority():
    with ContextMiddleware.open(":memory:") as ctx:
        context = asked(ctx, "ultrawork: tidy the house")
        assert "ultrawork mode: Work until" in context.part
        used = next(one for one in context.used if one.kind == "mode")
        assert (used.include, used.score) == ("agent", 1.0)
        assert "ultrawork mode" in context.display()
        assert asked(ctx, "tidy the house").part == ""


def test_the_table_is_the_users_to_extend():
    pirate = Mode(
        name="pirate", words=("ahoy", "like a pirate"), instruction="Speak like a pirate."
    )
    with ContextMiddleware.open(":memory:", modes=[*MODES, pirate]) as ctx:
        assert "Speak like a pirate." in asked(ctx, "Ahoy! Say it LIKE a Pirate").part
        assert "Work until" in asked(ctx, "ultrawork now").part
    with ContextMiddleware.open(":memory:", modes=[]) as ctx:
        assert asked(ctx, "ultrawork now").part == ""


def test_a_mode_in_view_is_not_told_again():
    with ContextMiddleware.open(":memory:") as ctx:
        chat = ctx.session("s")
        history = [{"role": "user", "content": "ultrawork please"}]
        chat.finish(chat.prepare(history), "Yes.")
        history += [{"role": "assistant", "content": "Yes."}]
        history += [{"role": "user", "content": "ultrawork again"}]
        assert chat.prepare(history).context.part == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "", "words": ("x",), "instruction": "y"},
        {"name": "a", "words": (), "instruction": "y"},
        {"name": "a", "words": ("?!",), "instruction": "y"},
        {"name": "a", "words": "ultra", "instruction": "y"},
        {"name": "a", "words": ("x",), "instruction": "  "},
    ],
)
def test_a_mode_needs_a_name_words_and_an_instruction(wrong):
    with pytest.raises(InvalidValue):
        Mode(**wrong)


def test_only_modes_are_modes():
    with pytest.raises(InvalidValue):
        ContextMiddleware.open(":memory:", modes=["ultrawork"])

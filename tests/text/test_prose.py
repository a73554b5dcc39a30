"""Only what somebody says in their own words is a sentence of theirs."""

from __future__ import annotations

import pytest
from hypothesis import given

from ctxmw.text.prose import LONGEST, LOOKED_AT, sentences
from tests.support.strategies import texts


def said(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs. Never spaces!", ["Use tabs.", "Never spaces!"]),
        ("Use e.g. tabs. OK?", ["Use e.g. tabs."]),
        ("One\ntwo words\n\nthree", ["two words", "three"]),
        ("Version 1.2 is out. It works.", ["Version 1.2 is out.", "It works."]),
        ("Use **bold** words.", ["Use bold words."]),
        (
            "My supervisor is Prof. Delacroix. She is from Acme Ltd. in Lyon.",
            ["My supervisor is Prof. Delacroix.", "She is from Acme Ltd. in Lyon."],
        ),
    ],
)
def test_a_text_falls_into_sentences(text: str, expected: list[str]) -> None:
    assert [one for one in said(text) if len(one) > 3] == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\nNever do this.\n```",
        "~~~ python\nNever do this.\n~~~",
        "```\nNever do this.",
        "> Never do this.",
        "    # never do this",
        "\tnever do this",
        "$ never do-this",
        "| never | do this |",
        "2026-03-02 09:30:00 never do this",
        "Traceback (most recent call last):",
        "// never do this",
        "# never do this",
        "<rule>never do this</rule>",
    ],
)
def test_code_quotes_logs_and_markup_are_not_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Translate this: Never do it.",
        "Summarise the following text:\n\nNever do it.\nNever ever.",
        "Fix the grammar: never does it.",
        "The error says: never do it.",
        '"Never do it.\nDo it never."',
    ],
)
def test_what_is_announced_as_somebody_elses_is_not_said(text: str) -> None:
    assert not any("ever do" in one or "ever does" in one for one in said(text))


def test_after_announced_code_one_speaks_oneself_again() -> None:
    assert said("Look at this:\n```\ncode\n```\nAlways use tabs.") == ["Always use tabs."]


def test_what_stands_in_quotes_is_kept_but_cannot_be_read() -> None:
    (sentence,) = sentences('He wrote "never do it" and `always_run`.')
    assert sentence.text == 'He wrote "never do it" and `always_run`.'
    assert not {"never", "always"} & sentence.words


def test_entries_of_a_list_know_its_heading() -> None:
    found = sentences("## Next steps\n1. Load the cart\n2. [ ] Test it\n\nDone.\n- Not this one")
    assert [(one.text, one.heading) for one in found] == [
        ("Load the cart", "next steps"),
        ("Test it", "next steps"),
        ("Done.", ""),
        ("Not this one", ""),
    ]


def test_a_joke_covers_what_stands_next_to_it() -> None:
    found = sentences("Use tabs. Never test. Just kidding. Use spaces.")
    assert [one.joking for one in found] == [False, True, True, True]


def test_sentences_with_something_redacted_are_left_out() -> None:
    assert said("Use tabs. Never say [REDACTED:private] again.") == ["Use tabs."]


def test_what_is_private_between_two_sentences_belongs_to_neither() -> None:
    text = "Use tabs. [REDACTED:private] We chose Go. [REDACTED:private] is my pin."
    assert said(text) == ["Use tabs.", "We chose Go."]


def test_of_a_long_message_the_ends_are_looked_at() -> None:
    text = "Begin with this.\n" + "Filler words here.\n" * LOOKED_AT + "End with this."
    found = said(text)
    assert (found[0], found[-1]) == ("Begin with this.", "End with this.")
    assert len("".join(found)) <= LOOKED_AT


def test_what_never_stops_is_no_sentence() -> None:
    assert said("never " * LONGEST) == []


@given(texts)
def test_any_text_can_be_read(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.plain) == len(sentence.text) <= LONGEST

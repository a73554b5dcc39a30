"""What is nobody else's business is known by its words, part by part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.text.secrets.sensitive import discreet, is_sensitive


@pytest.mark.parametrize(
    "text",
    [
        "I've had panic attacks since college.",
        "I take lithium.",
        "We keep kosher at home.",
        "I'm on lisinopril and amlodipine.",
        "My psychiatrist put me on sertraline.",
        "As a Jain I avoid onions.",
        "I'm in recovery.",
        "My pronouns are they/them.",
        "I had a stroke in 2020.",
    ],
)
def test_health_faith_and_sexuality_are_sensitive(text: str) -> None:
    assert is_sensitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "I lent him a book.",
        "The file is converted to PDF.",
        "My heart is in Paris.",
        "The transaction failed.",
        "One brush stroke is enough.",
        "I came home late.",
        "Use the April release.",
        "Call me Christian.",
    ],
)
def test_everyday_words_are_not(text: str) -> None:
    assert not is_sensitive(text)


def test_only_the_part_that_is_sensitive_is_left_out() -> None:
    def kept(text: str) -> bool:
        return "panic" in text

    assert discreet("I'm gay and I live in Rome.", kept) == "I live in Rome."
    assert discreet("I live in Rome and I'm gay.", kept).rstrip(" .") == "I live in Rome"
    assert discreet("I get panic attacks. I like tea.", kept) == "I get panic attacks. I like tea."
    assert discreet("I take lithium.", kept) == ""


@given(st.text(max_size=200))
def test_what_is_kept_whole_stays_as_it_was(text: str) -> None:
    assert discreet(text, lambda _: True) == text

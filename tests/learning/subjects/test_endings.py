"""What a sentence says to be over, and whether it tells of a change."""

from __future__ import annotations

import pytest

from ctxmw.learning.subjects.endings import ended_in, plain_words, says_it_changed
from ctxmw.text.terms import content_terms


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("We traded the Volvo in for a Tesla.", "volvo"),
        ("I'm off keto, I eat bread again.", "keto"),
        ("Dr. Engel retired, so I see Dr. Novak.", "dr engel"),
        ("I'm not on payments any longer.", "payments"),
        ("Work moved everything from Slack to Teams.", "slack"),
        ("I dropped Italian and picked up Greek.", "italian"),
        ("I haven't touched a cigarette since March.", "cigarette"),
    ],
)
def test_what_is_over_is_named(said: str, over: str) -> None:
    assert set(content_terms(over)) <= ended_in(plain_words(said))


@pytest.mark.parametrize(
    "said",
    [
        "I live in Ghent.",
        "I stopped at the library.",
        "I lost my keys in Oslo.",
        "I left the house at nine.",
    ],
)
def test_what_merely_happened_ends_nothing(said: str) -> None:
    assert not ended_in(plain_words(said))


def test_what_is_added_changes_nothing() -> None:
    assert says_it_changed(plain_words("I prefer aisle seats these days."))
    assert says_it_changed(plain_words("I'm fully remote since May."))
    assert not says_it_changed(plain_words("I also like aisle seats now."))
    assert not says_it_changed(plain_words("I've been vegetarian since my childhood."))

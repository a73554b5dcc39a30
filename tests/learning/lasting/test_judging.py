"""Sentences that no rule knows are judged by their marks: who, when, of what kind of thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.learning.lasting.judging import lasting_kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My other half is a locksmith.", "fact"),
        ("I bank with a credit union.", "fact"),
        ("Crowded trains wear me out.", "preference"),
        ("Kindness means a lot to me.", "preference"),
        ("I swear by wool socks.", "preference"),
        ("No plot summaries please.", "preference"),
    ],
)
def test_what_lasts_has_a_kind(text: str, kind: str) -> None:
    assert lasting_kind(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "I walked to the second gate.",
        "My download is at five percent.",
        "We painted a fence last week.",
        "She sings in my choir.",
        "It gives me a blank page.",
        "Our lawyers",
        "Swallows fly south.",
        "I haven't moved to Berlin.",
        "Mon frère déteste les épinards.",
        "",
        "I",
    ],
)
def test_what_is_of_the_moment_or_of_others_has_none(text: str) -> None:
    assert lasting_kind(text) is None


@given(st.text(max_size=200))
def test_any_text_is_judged_the_same_each_time(text: str) -> None:
    assert lasting_kind(text) == lasting_kind(text)

"""What of a person a statement tells, and when another one takes its place."""

from __future__ import annotations

import pytest

from ctxmw.learning.subjects.attributes import attributes_of, changed_attribute
from ctxmw.learning.subjects.kinds import HELD_ALONE, PREFERRED, YES_OR_NO, named_kinds


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm vegetarian.", "I eat meat again."),
        ("I write Python in PyCharm.", "I finally moved over to VS Code."),
        ("I'm a tea person.", "Coffee is what I prefer now."),
        ("I live in Hamburg with my wife.", "I took the job in Oslo in August."),
        ("I never fly.", "Planes are fine for me now."),
        ("I'm saving for a flat.", "We signed for the flat on Friday."),
    ],
)
def test_another_value_of_the_same_replaces(before: str, now: str) -> None:
    assert changed_attribute(attributes_of(now), attributes_of(before))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm a vegetarian.", "My daughter eats meat again."),
        ("I drive a Volvo.", "I bought a Fiat for my daughter."),
        ("I use Vim on servers.", "I use IntelliJ now for the project."),
        ("I write in Vim.", "I use IntelliJ now for the Java project."),
        ("I like tea.", "I like coffee these days."),
        ("I live in Ghent.", "My parents now live in Bruges."),
        ("I live in Ghent.", "I finally moved to Linux."),
        ("I drive a Volvo.", "I drive a Tesla."),
        ("I drive a Volvo.", "We rented a Tesla again last weekend."),
    ],
)
def test_what_is_of_others_or_for_other_cases_does_not(before: str, now: str) -> None:
    assert not changed_attribute(attributes_of(now), attributes_of(before))


def test_words_of_two_parts_are_one_thing() -> None:
    assert named_kinds(["use", "vs", "code", "now"]) == [("editor", "vs code", 1, True)]


def test_a_kind_is_of_one_sort() -> None:
    assert not (YES_OR_NO & HELD_ALONE) | (HELD_ALONE & PREFERRED) | (YES_OR_NO & PREFERRED)

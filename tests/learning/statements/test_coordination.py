"""A sentence that says several things becomes several statements; one thought stays whole."""

from __future__ import annotations

import pytest

from ctxmw.learning.statements.reading import statements
from ctxmw.learning.subjects.subject import subject_of


def told(text: str) -> list[str]:
    return [one.text for one in statements(text, "user")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Hi! I'm Lena, I live in Porto and work as a nurse at S\u00e3o Jo\u00e3o hospital.",
            ["I'm Lena.", "I live in Porto.", "I work as a nurse at S\u00e3o Jo\u00e3o hospital."],
        ),
        (
            "I hate cilantro, and I'm not a big fan of long emails.",
            ["I hate cilantro.", "I'm not a big fan of long emails."],
        ),
        (
            "I'm vegetarian and allergic to peanuts.",
            ["I'm vegetarian.", "I'm allergic to peanuts."],
        ),
        ("I'm 34 and live in Porto.", ["I'm 34.", "I live in Porto."]),
        ("We live in Porto and have two cats.", ["We live in Porto.", "We have two cats."]),
        (
            "My wife is vegan and my son is allergic to nuts.",
            ["My wife is vegan.", "My son is allergic to nuts."],
        ),
        (
            "I quit the hospital and now work for a startup.",
            ["I quit the hospital.", "I now work for a startup."],
        ),
        (
            "Always use metric units and answer in German.",
            ["Always use metric units.", "Answer in German."],
        ),
    ],
)
def test_each_part_stands_alone(text: str, parts: list[str]) -> None:
    assert told(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "I love mac and cheese.",
        "I like tea and coffee.",
        "I like to cook and bake.",
        "I enjoy hikes and camp food.",
        "I prefer trains because they are quiet and I can read.",
        "I find flashcards ineffective and prefer storytelling.",
        "I'm allergic to wool and avoid any woolen clothing.",
        "I love dogs, but I'm allergic to them.",
        "I don't eat meat and drink milk.",
        "I'm a fan of jazz and a cappella.",
        "I'm into Jewish and Christian history.",
        "I have two kids and a dog.",
        "My favourite colours are blue and green.",
        "Don't use emojis and add comments.",
    ],
)
def test_one_thought_stays_whole(text: str) -> None:
    assert told(text) == [text]


@pytest.mark.parametrize(
    "text", ["I live in Porto and my heart is there.", "Call me Leni and use metric units."]
)
def test_what_stays_whole_has_no_key_of_one_part(text: str) -> None:
    assert not subject_of(text).key.startswith("subject:")

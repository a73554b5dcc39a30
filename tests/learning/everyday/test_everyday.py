"""What people tell of themselves and ask for: by lists that were written before the rules."""

from __future__ import annotations

import pytest

from benchmarks.learning import measured_lines
from ctxmw.learning.statements.reading import statements
from ctxmw.text.terms import content_terms
from ctxmw.values.records import MEMORY_KINDS


def told(text: str) -> list[tuple[str, str]]:
    found = statements(text.replace("\\n", "\n"), "user")
    return [(one.kind, one.text) for one in found if one.kind in MEMORY_KINDS]


@pytest.mark.parametrize("part", ["seen", "held"])
def test_few_messages_that_teach_nothing_teach_something(part: str) -> None:
    lines = list(measured_lines("teaches_nothing", part))
    taught = [text for _, text in lines if told(text)]
    assert len(lines) > 100
    assert len(taught) <= 0.03 * len(lines), taught


@pytest.mark.parametrize("part", ["seen", "held"])
def test_most_everyday_statements_are_learned(part: str) -> None:
    lines = list(measured_lines("everyday", part))
    learned = [
        _most_of(must) <= {term for _, said in told(text) for term in content_terms(said)}
        for _, _, text, must in lines
    ]
    assert sum(learned) >= 0.85 * len(lines)


def _most_of(text: str) -> set[str]:
    return set(content_terms(text)) - {"pleas", "now", "keep", "mind", "note", "forget"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My name is Tobias.", ("fact", "My name is Tobias.")),
        ("I'm Priya, by the way.", ("fact", "I'm Priya")),
        ("I'm vegetarian, so what could I cook?", ("fact", "I'm vegetarian")),
        ("I'm allergic to penicillin, please remember.", ("fact", "I'm allergic to penicillin")),
        ("Please remember my birthday is on 4 May.", ("fact", "My birthday is on 4 May.")),
        ("I can't stand loud bars.", ("preference", "I can't stand loud bars.")),
        ("Use 24-hour time.", ("preference", "Use 24-hour time.")),
        ("Don't use emojis.", ("correction", "Don't use emojis.")),
        ("Ich wohne in Leipzig.", ("fact", "Ich wohne in Leipzig.")),
        ("Je préfère le train à l'avion.", ("preference", "Je préfère le train à l'avion.")),
        ("Responde siempre en español.", ("preference", "Responde siempre en español.")),
        ("我对花生过敏。", ("fact", "我对花生过敏。")),
        ("ケンと呼んでください。", ("preference", "ケンと呼んでください。")),
    ],
)
def test_it_is_told_in_short(text: str, expected: tuple[str, str]) -> None:
    assert told(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Stop using them.",
        "No, I meant the other file.",
        "My email is [REDACTED_EMAIL].",
        "I hate this bug.",
        "Write a letter: I live in Rome and I love cats.",
        "Dear Tom,\n\nI always pay on time.\n\nBest,\nAnn",
        "Act as a king. I only drink wine.",
        "Thought: the user lives in Rome. Action: search[Rome]",
    ],
)
def test_what_does_not_stand_alone_or_is_not_meant_is_left(text: str) -> None:
    assert told(text) == []


def test_what_them_stands_for_is_told_by_the_sentence_before() -> None:
    text = "We have a rule for variable names. Always start them with 'vr_'."
    assert told(text) == [("preference", "Always start variable names with 'vr_'.")]


def test_two_values_are_two_statements() -> None:
    text = "Always start variable names with 'm_' and method names with 'a_'."
    assert [said for _, said in told(text)] == [
        "Always start variable names with 'm_'.",
        "Start method names with 'a_'.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Braga last month.",
        "I've just moved to Braga.",
        "I quit the hospital.",
        "I started at Acme last week.",
        "We got married last summer.",
        "We had a baby in March.",
        "I switched to decaf last month.",
        "I gave up coffee.",
        "I was diagnosed with celiac disease last week.",
        "I've retired.",
        "I graduated from MIT last year.",
        "My daughter Mia turns 6 on 4 May.",
        "My husband works as a chef.",
    ],
)
def test_events_whose_result_lasts_are_learned(text: str) -> None:
    assert told(text) == [("fact", text)]


@pytest.mark.parametrize(
    "text",
    [
        "I quit the app and restarted it.",
        "I left the meeting early.",
        "We had a problem yesterday.",
        "I got a weird error today.",
        "I joined the two tables.",
        "I started the server.",
        "I haven't moved to Berlin.",
        "I have to quit my job maybe.",
        "My colleague moved to Braga.",
    ],
)
def test_events_of_the_moment_are_not(text: str) -> None:
    assert told(text) == []


def test_a_name_is_told_in_short_as_well():
    for said in ("My name's Ola.", "My dog's name's Rex."):
        assert [one.text for one in statements(said, "user")] == [said]


def test_what_only_asks_to_be_kept_in_mind_leaves_no_loose_end():
    (told,) = statements("I've got a peanut allergy, so keep that in mind.", "user")
    assert told.text == "I've got a peanut allergy"

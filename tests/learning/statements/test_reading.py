"""What sentences state: measured on labelled ones, and shown on a few."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given

from benchmarks.extraction import DATA, found_in, read
from ctxmw.learning.everyday import (
    about_self,
    being,
    doing,
    languages,
    lexicon,
    mine,
    requests,
)
from ctxmw.learning.statements import (
    framing,
    scoping,
    standing_alone,
)
from ctxmw.learning.statements import (
    progress as progress_rules,
)
from ctxmw.learning.statements import (
    reading as statements,
)
from ctxmw.learning.statements import (
    rules as statement_rules,
)
from ctxmw.learning.statements.reading import statements as stated_in
from ctxmw.learning.subjects import forms, subject
from ctxmw.memory import outdated
from ctxmw.text import prose, topics
from ctxmw.text.patterns.late import LatePattern
from tests.support.strategies import texts

PARTS = sorted(DATA.glob("extraction_*.tsv"))


def told(text: str, role: str = "user", **about: bool) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in stated_in(text, role, **about)]


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_what_is_found_is_right_and_most_is_found(path) -> None:
    lines = list(read(path))
    found = [(line, found_in(line)) for line in lines]
    right = sum(line.kind in kinds for line, kinds in found)
    assert right / sum(len(kinds) for _, kinds in found) >= 0.9
    assert right / sum(line.kind != "-" for line in lines) >= 0.7


def test_half_of_the_labelled_sentences_are_traps() -> None:
    lines = list(read(PARTS[0]))
    assert len(lines) >= 150
    assert sum(line.kind == "-" for line in lines) >= len(lines) / 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No, use httpx instead.", ("correction", "Use httpx instead.")),
        ("OK, please always use tabs.", ("preference", "Always use tabs.")),
        ("Looks good, but never log names.", ("correction", "Never log names.")),
        ("That's wrong, the port is 8443.", ("correction", "The port is 8443.")),
        ("I told you to use tabs here.", ("correction", "Use tabs here.")),
        (
            "For the shop we're moving from Stripe to Adyen.",
            ("decision", "We're moving from Stripe to Adyen."),
        ),
        (
            "Actually we stay with Stripe after all.",
            ("decision", "We stay with Stripe after all."),
        ),
        (
            "Mia is allergic to peanuts, so please never suggest recipes with nuts.",
            ("correction", "Never suggest recipes with nuts."),
        ),
        ("Decision: tokens live ten minutes.", ("decision", "Tokens live ten minutes.")),
        ("Next step: load the cart.", ("next", "Load the cart.")),
        ("Remember that Ann is on leave.", ("fact", "Ann is on leave.")),
    ],
)
def test_what_leads_up_to_it_is_left_out(text: str, expected: tuple[str, str]) -> None:
    assert told(text) == [expected]


def test_lists_tell_by_their_heading() -> None:
    text = "Decisions:\n- Kafka for events\n- Go for the gateway\n\nBlockers:\n- no staging access"
    assert told(text) == [
        ("decision", "Kafka for events"),
        ("decision", "Go for the gateway"),
        ("blocked", "No staging access"),
    ]


def test_tools_and_systems_state_nothing() -> None:
    for role in ("tool", "system"):
        assert told("Always use tabs. I've fixed it.", role) == []


def test_this_string_is_told_by_the_sentence_before() -> None:
    text = "The string is 'chx'. From now on, please include this string in all method names."
    assert [one.text for one in stated_in(text, "user")] == [
        "Include the string 'chx' in all method names."
    ]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("At work, call me Mr. Smith.", ["At work, call me Mr. Smith."]),
        ("In the future, call me Rob.", ["Call me Rob."]),
        ("For this email, call me Ms Baker.", []),
    ],
)
def test_the_case_that_something_is_said_for_is_part_of_it(text: str, stated: list[str]) -> None:
    assert [one.text for one in stated_in(text, "user")] == stated


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Decided to go with Postgres, no ORM.", ["decision"]),
        ("Settled on pnpm instead of yarn.", ["decision"]),
        ("Decided to take a walk.", []),
        ("Agreed to that.", []),
    ],
)
def test_a_decision_need_not_name_who_took_it(text: str, stated: list[str]) -> None:
    assert [one.kind for one in stated_in(text, "user")] == stated


def test_what_somebody_changed_in_their_life_is_no_note_on_the_work() -> None:
    kinds = [one.kind for one in stated_in("I just moved from Lisbon to Rotterdam.", "user")]
    assert kinds == ["fact"]
    assert [one.kind for one in stated_in("I've fixed the login bug.", "user")] == ["done"]


def test_a_statement_comes_once_from_a_message() -> None:
    assert told("Always use tabs. And always use tabs!") == [
        ("preference", "Always use tabs.")
    ] or (len(told("Always use tabs. Always use tabs.")) == 1)


@given(texts)
def test_any_text_can_be_read(text: str) -> None:
    for one in stated_in(text, "user"):
        assert one.text
        assert len(one.text) <= prose.LONGEST


def patterns() -> Iterator[re.Pattern[str]]:
    everyday = (about_self, being, doing, mine, requests, languages, lexicon)
    later = (framing, standing_alone, forms, subject, outdated, topics)
    rules = (prose, scoping, statements, statement_rules, progress_rules)
    for module in (*rules, *everyday, *later):
        for value in vars(module).values():
            if isinstance(value, re.Pattern | LatePattern):
                yield value
    for form in forms._FORMS:
        yield form.pattern
    for way in (*languages._SPACED, *languages._UNSPACED):
        yield way.pattern
    for rule in (*statement_rules.OF_USER, *statement_rules.OF_ASSISTANT):
        yield rule.pattern


HOSTILE = [
    "my ",
    "when a, ",
    "'a' and ",
    "the names of ",
    "i really really ",
    "no longer ",
    "one thing ",
    "from now on ",
    "i ",
    "we are ",
    "the a ",
    "you keep ",
    "no, the ",
    "please ",
    "and then ",
    "never always ",
    "`",
    '"',
    "a, not ",
    "next ",
    "x" * 7 + " ",
    "- ",
    ". ",
    "now, ",
    "done ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_bounded_time(piece: str) -> None:
    """A pattern that backtracks without end would not come back from one of these."""
    line = (piece * prose.LONGEST)[: prose.LONGEST]
    for pattern in patterns():
        pattern.search(line)
    assert len(stated_in(piece * 10_000, "user")) < prose.LOOKED_AT

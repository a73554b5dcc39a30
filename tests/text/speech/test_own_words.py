"""Whose words stand in a message is told by the structure of what is pasted into it."""

from __future__ import annotations

import pytest
from hypothesis import given

from ctxmw.learning.statements.reading import statements
from ctxmw.text.speech.own_words import SPOKEN, has_pasted, own_words
from ctxmw.text.speech.pasted import OF_SEVERAL_LINES
from tests.support.pasted_attacks import (
    ATTACKS,
    LONG_AND_OWN,
    OWN_TOO,
    SEEN_ONCE,
    TAKEN_FOR_ANOTHERS,
    THEN_NEW,
    Attack,
)
from tests.support.pasted_samples import (
    EVIL,
    KLINGON,
    MALLORY,
    MEANT,
    NO_TESTS,
    PASTED,
    SEATS,
    Meant,
    Pasted,
)
from tests.support.strategies import texts


@pytest.mark.parametrize("pasted", PASTED, ids=lambda pasted: pasted.form)
def test_what_is_pasted_is_not_the_speakers(pasted: Pasted) -> None:
    own = own_words(pasted.text)
    assert [
        text for text in (pasted.planted, KLINGON, SEATS, EVIL, NO_TESTS, MALLORY) if text in own
    ] == []
    assert pasted.own in own
    assert has_pasted(pasted.text)


@pytest.mark.parametrize("meant", MEANT, ids=lambda meant: meant.text[:40])
def test_what_a_person_says_in_any_shape_is_theirs(meant: Meant) -> None:
    assert meant.stated in own_words(meant.text)


def test_nobody_says_a_message_without_end() -> None:
    assert own_words("x" * SPOKEN + "\nI prefer tabs.").endswith("x")


@given(texts)
def test_own_words_are_words_of_the_message_and_stay_the_same(text: str) -> None:
    own = own_words(text)
    assert set(own.split()) <= set(text.replace("\0", " ").split()) | set(text.split())
    assert len(own) <= len(text)


@pytest.mark.parametrize(
    "around",
    [
        "alice — Today at 9:12 AM\n{}\nbob — Today at 9:13 AM\nok",
        "1\n00:00:01,000 --> 00:00:03,000\n{}\n\n2\n00:00:04,000 --> 00:00:06,000\nok",
        "name: bot\nrules:\n  - {}\nwhat does it do?",
        "Page 1 of 12\n\nTravel policy\n\n{}\n\nPage 2 of 12",
        "Eve Stone added a comment - 02/Mar/26 9:12 AM\n{}",
        "got this, is it real?\n\n{}\n\nSent from my iPhone",
    ],
)
def test_lines_that_nobody_says_tell_of_a_text_between_them(around: str) -> None:
    assert SEATS not in own_words(around.format(SEATS))


@pytest.mark.parametrize("first", ["Meeting at 10:30", "What do you think about it?\n"])
def test_a_short_line_of_a_person_does_not(first: str) -> None:
    assert SEATS in own_words(f"{first}\n{SEATS}")


class TestATextThatAMessageSpeaksAbout:
    @pytest.mark.parametrize(
        "attack", [*ATTACKS, *SEEN_ONCE, *THEN_NEW], ids=lambda attack: attack.form
    )
    def test_is_not_the_speakers(self, attack: Attack) -> None:
        stated = statements(own_words(attack.text), "user")
        told = " ".join(one.text for one in stated).casefold()
        assert [words for words in attack.planted if words.casefold() in told] == []

    @pytest.mark.parametrize("meant", [*LONG_AND_OWN, *OWN_TOO], ids=lambda meant: meant.text[:40])
    def test_is_told_from_what_somebody_says_of_themselves(self, meant: Meant) -> None:
        assert meant.stated in own_words(meant.text)

    def test_is_rather_missed_than_believed(self) -> None:
        assert "I prefer pictures." not in own_words(TAKEN_FOR_ANOTHERS)

    def test_is_not_what_stands_behind_something_enclosed(self) -> None:
        said = "What does this do?\n\n```\nls\n```\n\nI prefer tabs. I never use spaces."
        assert "I never use spaces." in own_words(said)

    def test_leaves_the_request_to_its_speaker(self) -> None:
        assert own_words("I prefer tea.\nIs this rude?\n\nI hate you. Never call.").startswith(
            "I prefer tea.\nIs this rude?"
        )


LINES = [line for pasted in PASTED for line in pasted.text.split("\n")]


@pytest.mark.parametrize("rule", OF_SEVERAL_LINES, ids=lambda rule: rule.__name__)
def test_a_rule_of_several_lines_finds_nothing_in_one(rule) -> None:
    assert [line for line in LINES if rule([line]) is not None] == []
    assert any(rule(pasted.text.split("\n")) is not None for pasted in PASTED)

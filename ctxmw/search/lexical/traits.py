"""What a record looks like, whatever it is about: who speaks of whom, and what a line can answer.

Most records are told apart by their words alone; the patterns of `phrases` are asked only where a
word says that they may hold, for they are read a hundred times as slowly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from ...text.lexicon import MONTHS, WEEKDAYS
from ...text.phrases import (
    ANSWER_SHAPES,
    FIRST_PERSON,
    NUMBER_WORDS,
    PREFERENCE,
    STANDING_INSTRUCTION,
)
from ...values.items import A_QUESTION

TRAITS = ("first", "second", "instruction", "preference", "user", "question", *ANSWER_SHAPES)

_I = frozenset("i my we our me im ive weve".split())
_PERHAPS_I = frozenset("id ill well wed were".split())
_YOU = frozenset("you your youre youve youll youd".split())
_INSTRUCTS = frozenset("always never ask now".split())
_PREFERS = frozenset("prefer rather preference like want instead".split())
_A_TIME = frozenset(
    ["yesterday", "today", "tonight", "tomorrow", "recently", "since", *WEEKDAYS, *MONTHS]
) - {"may"}
_PERHAPS_A_TIME = frozenset(
    "morning night week weeks weekend month months year years day days summer fall winter "
    "spring".split()
)
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Speech:
    """Who said a text, and its words."""

    speaker: str
    text: str
    words: Set[str]


def traits(said: Sequence[Speech]) -> dict[str, list[bool]]:
    """Return, for each trait, which of these texts have it."""
    return {
        "first": [_speaks_of_itself(one) for one in said],
        "second": [not _YOU.isdisjoint(one.words) for one in said],
        "instruction": [_by_a_person(one, _INSTRUCTS, STANDING_INSTRUCTION) for one in said],
        "preference": [_by_a_person(one, _PREFERS, PREFERENCE) for one in said],
        "user": [one.speaker == "user" for one in said],
        "question": [_only_asks(one.text) for one in said],
        "when": [_tells_a_time(one) for one in said],
        "number": [_tells_a_number(one) for one in said],
        "where": [bool(ANSWER_SHAPES["where"][1].search(one.text)) for one in said],
    }


def _only_asks(text: str) -> bool:
    """Say whether a text is a question and little else: what is known is in the answer."""
    return len(text) <= A_QUESTION and text.rstrip().endswith(("?", "\uff1f"))


def _speaks_of_itself(said: Speech) -> bool:
    if not _I.isdisjoint(said.words):
        return True
    return not _PERHAPS_I.isdisjoint(said.words) and bool(FIRST_PERSON.search(said.text))


def _by_a_person(said: Speech, needs: Set[str], pattern: re.Pattern[str]) -> bool:
    if said.speaker in ("assistant", "tool") or said.words.isdisjoint(needs):
        return False
    return bool(pattern.search(said.text))


def _tells_a_time(said: Speech) -> bool:
    if not said.words.isdisjoint(_A_TIME):
        return True
    if said.words.isdisjoint(_PERHAPS_A_TIME) and not _YEAR.search(said.text):
        return False
    return bool(ANSWER_SHAPES["when"][1].search(said.text))


def _tells_a_number(said: Speech) -> bool:
    return not said.words.isdisjoint(NUMBER_WORDS) or bool(_DIGIT.search(said.text))

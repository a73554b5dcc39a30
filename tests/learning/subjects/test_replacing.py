"""A message as a whole may say that something is otherwise now, though no sentence of it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.learning.subjects.replacing import (
    SURE,
    Told,
    gives_another_value,
    likelihood_of_replacing,
)


@pytest.mark.parametrize(
    ("old", "later"),
    [
        (
            "Our tests run on Travis.",
            ("We dropped Travis last week.", "Everything's on Drone now."),
        ),
        ("My dog walker is Hal.", ("Hal moved away, sadly.", "Petra walks the dog now.")),
        ("We ship with Hermes.", ("Hermes is history, DHL does it now.",)),
    ],
)
def test_what_ends_in_one_sentence_and_begins_in_another_is_replaced(
    old: str, later: tuple[str, ...]
) -> None:
    assert likelihood_of_replacing(Told.of(later), old) >= SURE


@pytest.mark.parametrize(
    ("old", "later"),
    [
        ("My dog walker is Hal.", ("Hal also feeds the cat.",)),
        ("We ship with Hermes.", ("My parcel from Zalando is lost.",)),
        ("We ship with Hermes.", ()),
    ],
)
def test_what_is_only_spoken_of_stays(old: str, later: tuple[str, ...]) -> None:
    assert likelihood_of_replacing(Told.of(later), old) < SURE


def test_another_number_or_day_is_another_value() -> None:
    assert gives_another_value(Told.of(["The deposit is 300 now."]), "The deposit is 250.")
    assert gives_another_value(Told.of(["Bins go out on Friday."]), "The bins go out on Monday.")
    assert not gives_another_value(Told.of(["The deposit is due."]), "The deposit is 250.")


@given(st.lists(st.text(max_size=80), max_size=3), st.text(max_size=80))
def test_any_pair_is_judged_the_same_each_time(later: list[str], old: str) -> None:
    told = Told.of(later)
    assert likelihood_of_replacing(told, old) == likelihood_of_replacing(Told.of(later), old)

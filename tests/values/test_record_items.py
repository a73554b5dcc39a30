"""Records as items: what is an instruction, and under which heading a memory stands."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxmw.values.record_items import memory_item
from ctxmw.values.records import Memory, SessionSummary

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def heard(text: str, kind: str = "preference", *, by_hand: bool = False) -> Memory:
    told = {"source": "user"} if by_hand else {"source": "conversation", "derived_from": ("t1",)}
    return Memory(user="ada", ref="m1", at=NOW, text=text, kind=kind, **told)


@pytest.mark.parametrize(
    "text", ["I love Aspen!", "One of my favorite pieces is Blue Rider.", "We enjoy long walks."]
)
def test_a_taste_that_was_heard_tells_of_somebody_and_instructs_nobody(text: str) -> None:
    item = memory_item(heard(text), "s1")
    assert not item.instructs
    assert item.section == "about"


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("I prefer metric units.", "about"),
        ("I always want short answers.", "about"),
        ("I'd like you to answer in German.", "about"),
        ("I don't eat meat.", "about"),
        ("Answer in short sentences.", "universal"),
        ("Keep answers short, no lists unless I ask.", "universal"),
        ("Never write to a customer without asking me.", "universal"),
    ],
)
def test_a_wish_is_an_instruction(text: str, section: str) -> None:
    item = memory_item(heard(text), "s1")
    assert item.instructs
    assert item.section == section


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("Mornings please, I'm useless after 5pm", "about"),
        ("The courier comes at 16:00.", "facts"),
    ],
)
def test_a_fact_in_the_first_person_stands_where_it_is_plain_who_says_it(
    text: str, section: str
) -> None:
    assert memory_item(heard(text, "fact"), "s1").section == section


def test_what_somebody_remembered_as_a_preference_is_one() -> None:
    assert memory_item(heard("I love short answers.", by_hand=True), "s1").instructs


def test_a_summary_tells_each_thing_once() -> None:
    summary = SessionSummary(
        ref="s1",
        user="ada",
        at=NOW,
        text="We stay with Stripe after all. And prices?",
        decisions=("We stay with Stripe after all.", "Prices are in cents."),
        concepts=("Stripe", "VAT", "cents"),
    )
    assert summary.says().splitlines()[1:] == ["Decided: Prices are in cents.", "About: VAT"]

"""What a statement speaks of, and whether another one gives the same another value."""

from __future__ import annotations

import pytest

from ctxmw.learning.subjects.topics import has_changed, may_be_otherwise, spoken_topics


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Our office is in Berlin.", "The company moved its office to Potsdam."),
        ("Our backend is written in Go.", "We rewrote the backend in Rust."),
        ("We write our docs in Confluence.", "Docs live in Notion."),
        ("My gym day is Tuesday.", "Gym is on Thursdays."),
        ("I have my standup at 9.", "Standup got pushed to 10:30."),
        ("We deploy with Ansible.", "Deployments go through Terraform."),
        ("My phone number ends in 42.", "I have a new number, it ends in 77."),
        ("My landlord is Mr. Osei.", "The house was sold, our landlord is a Ms. Brandt."),
    ],
)
def test_another_value_of_the_same_sort_is_a_change(before: str, now: str) -> None:
    assert has_changed(spoken_topics(now), spoken_topics(before), changes=True)
    assert may_be_otherwise(spoken_topics(now), spoken_topics(before))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("My favourite film is Alien.", "My favourite book is Dune."),
        ("Our backend is in Go.", "The backend runs on Fridays only."),
        ("The backend is in Go.", "The backend runs on Azure."),
        ("The queue is in Oslo.", "The queue is fast again."),
        ("My sister lives in Leeds.", "My sister is called Ida."),
        ("Our office is in Berlin.", "Our office is in Berlin."),
        ("Standup is at 9.", "Standup is at 10 for the Oslo team."),
    ],
)
def test_another_sort_another_thing_or_another_case_is_none(before: str, now: str) -> None:
    assert not has_changed(spoken_topics(now), spoken_topics(before), changes=True)


def test_without_a_word_of_change_it_may_only_be_otherwise() -> None:
    now, before = spoken_topics("Standup is at 10."), spoken_topics("Standup is at 9.")
    assert not has_changed(now, before, changes=False)
    assert may_be_otherwise(now, before)

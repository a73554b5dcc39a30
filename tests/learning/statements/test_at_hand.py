"""What is said of the work at hand is not remembered; what looks alike and lasts is."""

from __future__ import annotations

import pytest

from ctxmw.learning.statements.reading import statements
from ctxmw.values.records import MEMORY_KINDS


@pytest.mark.parametrize(
    "said",
    [
        "Stop asking and just send me the table.",
        "Don't ask, just go on.",
        "No more delays, no more excuses.",
        "Let's keep the momentum going.",
        "Let's keep the scope tight.",
        "We'll stick to the plan.",
        "I need results, not promises.",
        "Let's go with option 2.",
        "I prefer option B.",
        "I prefer the shorter draft of the two.",
        "I love where this is going.",
        "I'm hungry.",
        "I'm sitting in a cafe waiting for Jo.",
        "I'm a SaaS UX MANAGER.",
        "I was born in six years.",
        "Write at least 8 questions for each topic.",
        "Don't pause.",
        "I just gave you these details.",
        "I chose it because of the price.",
        "For the role play: I am Queen Anne and I detest lemon.",
        "Reddit user: I always tip 30 percent.",
        "Don't use the word 'delve' in this letter.",
        "I like the sound of that.",
        "I'm good with the new wording.",
        "My patience is gone.",
        "Give examples.",
        "Explain in detail.",
        "Show me the draft immediately.",
        "I feel guilty about the delay.",
        "If you understand, please answer with OK.",
    ],
)
def test_what_is_about_the_work_at_hand_teaches_nothing(said):
    assert _learned(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Use 24-hour time.",
        "Never ask me to confirm a step.",
        "Don't stop and wait for my confirmation after every single step.",
        "Give me three options whenever I ask for a name.",
        "I'm the CEO of IKEA.",
        "I was born in 1986.",
        "I wake up at five.",
        "I was brought up in Ghana.",
        "My team uses Jira for tickets.",
        "Call me Ray.",
        "Keep your answers under a page.",
        "When you write functions, start their names with f_.",
        "I run a bakery in Leeds.",
        "I learn better from examples than from theory.",
        "Let's go with Postgres for the queue.",
        "We decided to ship invoices as PDF.",
        "No, use httpx instead.",
        "Remember that Ann is on leave.",
    ],
)
def test_what_lasts_is_learned_though_it_is_said_in_the_same_words(said):
    assert len(_learned(said)) == 1


def test_a_choice_that_names_nothing_is_none():
    assert _learned("Let's go with that approach.") == []
    assert _learned("Let's go with Kafka.") == ["Let's go with Kafka."]


def _learned(said: str) -> list[str]:
    return [one.text for one in statements(said, "user") if one.kind in MEMORY_KINDS]

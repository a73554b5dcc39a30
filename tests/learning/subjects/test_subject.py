"""When a statement takes the place of another one, and when both hold."""

from __future__ import annotations

import pytest

from ctxmw.learning.subjects.subject import subject_of, takes_the_place


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Call me Bob.", "Call me Robert."),
        ("Always answer in German.", "Answer in English from now on."),
        ("We use Kafka for events.", "We decided to use RabbitMQ for events."),
        ("We're moving from Stripe to Adyen.", "We stay with Stripe after all."),
        ("We use Stripe for payments.", "We're moving from Stripe to Adyen."),
        ("I live in Lyon.", "I moved to Marseille."),
        ("I live in Porto.", "We moved to Braga last month."),
        ("I work as a nurse at Mercy hospital.", "I quit the hospital."),
        ("I work as a nurse at Mercy hospital.", "I now work for a startup."),
        ("I'm vegetarian.", "I'm no longer vegetarian."),
        ("Use metric units.", "I don't want metric units any more."),
        ("I prefer window seats.", "I prefer aisle seats these days."),
        ("I love horror films.", "I can't stand horror films."),
        ("I can't stand sushi.", "I've come round to sushi, I love it now."),
        ("I use VS Code for everything.", "I'm going to switch from VS Code to Neovim."),
        ("I'm a product manager.", "Also, I got promoted to head of product."),
        ("Start function names with 'a_'.", "When naming functions, start the name with 'b_'."),
        ("At work, call me Mr. Smith.", "At work, call me Dr. Smith."),
        (
            "Always use snake_case for class names, and start all variable names with 'v_'.",
            "Start variable names with 'w_'.",
        ),
    ],
)
def test_another_value_for_the_same_takes_its_place(before: str, now: str) -> None:
    assert takes_the_place(subject_of(now), subject_of(before))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I love jazz.", "I love opera."),
        ("I work as a nurse.", "I work at Mercy hospital."),
        ("My wife is vegan.", "My wife is a doctor."),
        ("I prefer window seats.", "I also like aisle seats now."),
        ("Start function names with 'a_'.", "End function names with '_b'."),
        ("Start function names with 'a_'.", "Start function argument names with 'b_'."),
        ("Add the '@one' decorator to all methods.", "Add the '@two' decorator to all methods."),
        ("My name is Ada.", "My dog's name is Bruno."),
        ("I prefer trains rather than planes.", "I like planes."),
        ("Call me Bob.", "At work, call me Mr. Smith."),
        ("Call me Bob.", "Call me Mr. Smith at work."),
        ("At work, call me Mr. Smith.", "Call me Bob."),
        ("I love doing yoga outside.", "Your tips added to my yoga and left me feeling fresh."),
        ("I rely on my friends for support.", "I took up chess with my friends from church."),
        ("I love getting lost in stories.", "Instead of getting stuck there, I worked hard."),
        ("I'm interested in knowing more.", "Let me know if you have any more questions."),
        ("I dislike films in black and white.", "I dislike films that are over two hours long."),
        ("I'm always looking for something new to read.", "I got a new dog."),
        ("I like games that make me think.", "Nope, not a new game."),
    ],
)
def test_what_is_about_something_else_stays(before: str, now: str) -> None:
    assert not takes_the_place(subject_of(now), subject_of(before))

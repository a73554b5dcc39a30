"""How a query is read: words, names, dates, and whether it asks for anything."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.people import People
from ctxmw.search.question import analyse, days_named, months_named, years_named
from ctxmw.text.terms import content_terms, stem

NOW = datetime(2024, 3, 14, 12, tzinfo=UTC)  # a Thursday


def read(text: str, people: People | None = None):
    return analyse(text, people or People(), NOW)


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("What happened in May 2023?", {(5, 2023)}),
        ("What happened last May?", {(5, 2023)}),
        ("What happened last January?", {(1, 2024)}),
        ("the trip in june", {(6, None)}),
        ("last month", {(2, 2024)}),
        ("May I ask something?", set()),
        ("you may march on", set()),
        ("nothing here", set()),
    ],
)
def test_months_are_counted_from_the_day_of_the_question(text, months):
    assert months_named(text, NOW) == months


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 7 May 2023", [date(2023, 5, 7)]),
        ("May 7th, 2023", [date(2023, 5, 7)]),
        ("2023-05-07", [date(2023, 5, 7)]),
        ("yesterday", [date(2024, 3, 13)]),
        ("the day before yesterday", [date(2024, 3, 12)]),
        ("last Monday", [date(2024, 3, 11)]),
        ("last Thursday", [date(2024, 3, 7)]),
        ("on 31 February 2023", []),
        ("3 apples and 4 pears", []),
    ],
)
def test_days_are_counted_from_the_day_of_the_question(text, days):
    assert list(days_named(text, NOW)) == days


def test_a_day_without_a_year_may_be_of_this_year_or_the_last():
    assert set(days_named("on May 7", NOW)) == {date(2024, 5, 7), date(2023, 5, 7)}


def test_a_year_counts_when_something_happened_in_it():
    assert years_named("what did I do in 2023?") == {2023}
    assert years_named("version 2023 of it") == frozenset()


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("running", "run"),
        ("hobbies", "hobby"),
        ("painted", "painting"),
        ("decisions", "decision"),
        ("classes", "class"),
        ("generator", "generated"),
        ("generation", "generating"),
        ("authenticated", "authentication"),
        ("deployment", "deployed"),
        ("notifications", "notify"),
        ("allergic", "allergies"),
        ("accessibility", "accessible"),
        ("historical", "history"),
    ],
)
def test_forms_of_a_word_have_one_stem(word, same):
    assert stem(word) == stem(same)


@pytest.mark.parametrize(
    ("word", "other"), [("number", "numb"), ("letter", "let"), ("party", "part")]
)
def test_words_that_only_begin_alike_have_stems_of_their_own(word, other):
    assert stem(word) != stem(other)


@pytest.mark.parametrize("word", ["bus", "his", "news", "id", "größe", "日本"])
def test_short_words_and_other_scripts_keep_what_tells_them_apart(word):
    assert stem(word)


def test_words_that_say_nothing_are_left_out():
    assert content_terms("What is the name of it?") == [stem("name")]


def test_identifiers_are_found_whole_and_in_parts():
    assert {"authservic", "auth", "servic"} <= set(read("How does AuthService work?").terms)


def test_words_that_stand_for_each_other_are_looked_for_too():
    assert stem("dog") in read("Which pets do I have?").related


def test_the_one_speaker_a_question_names_is_known_and_is_no_search_word():
    people = People()
    people.hear("Caroline", "Hello there")
    people.hear("Mel", "Hi")
    question = read("When did Caroline paint?", people)
    assert question.person == "Caroline"
    assert "carolin" not in question.terms
    assert read("When did Caroline and Mel paint?", people).person is None


def test_a_name_by_which_one_of_two_speakers_is_called_is_theirs():
    people = People()
    for _ in range(4):
        people.hear("Elise", "Hey Kate, how are you?")
        people.hear("Emi", "All is well.")
    assert read("What did Kate cook?", people).person == "Emi"


def test_what_is_asked_for_is_known_by_how_it_is_asked():
    assert read("When did it start?").shape == "when"
    assert read("How many were there?").shape == "number"
    assert read("Where was that?").shape == "where"
    assert read("Why?").shape is None
    assert read("Give me an overview of the project").broad
    assert read("What did you recommend?").asks
    assert not read("I like it").asks
    assert read("Plan a party for Tomas").asks
    assert not read("I like the plan").asks


def test_names_are_what_has_a_capital_within_a_sentence():
    assert read("Plan a party for Tomas, and one for Ines").names == {"toma", "ine"}
    assert not read("Plan a party. Then write the invitations").names


@pytest.mark.parametrize(
    "text", ["thanks!", "ok cool", "haha nice one", "good morning", "👍", "..."]
)
def test_small_talk_has_no_subject(text):
    assert not read(text).subject


@pytest.mark.parametrize(
    ("text", "to_you"),
    [
        ("How old are you?", True),
        ("What's your favourite colour?", True),
        ("Do you like pizza?", True),
        ("Do you like my recipe?", False),
        ("Do you remember the recipe?", False),
        ("What did you recommend?", False),
        ("Can you explain the parser?", False),
    ],
)
def test_what_is_asked_about_the_one_who_answers_is_told_apart(text, to_you):
    assert read(text).to_you is to_you


@given(st.text(max_size=500))
def test_any_text_can_be_read(text):
    read(text)


def test_only_the_beginning_of_a_long_query_is_read():
    assert len(read("word " * 100_000).terms) < 1000


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Write me a haiku about Graz", ["haiku", "graz"]),
        ("Could you please explain tides?", ["tides"]),
        ("Did I write to Ben?", ["write", "ben"]),
        ("Explain.", ["explain"]),
    ],
)
def test_the_verb_of_a_request_is_not_what_it_is_about(text, terms):
    assert list(read(text).terms) == [stem(term) for term in terms]


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("I'm back at work. What's next on the plan?", True),
        ("Let's finish the packing list.", True),
        ("Is the guide ready? I need to send it to clients.", True),
        ("What did I say about the guide?", False),
        ("How many cards does my gallery have with Bootstrap 5.3.0?", False),
        ("Thanks!", False),
    ],
)
def test_work_that_goes_on_is_told_apart_from_a_question_about_the_past(text, goes_on):
    assert read(text).goes_on is goes_on

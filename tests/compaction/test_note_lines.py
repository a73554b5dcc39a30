"""What is worth a line in a note."""

from __future__ import annotations

import pytest

from ctxmw.compaction.note_lines import Salience, files_named, role_of, split_up


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("Never touch the schema.", "must"),
        ("We decided to use Postgres.", "decided"),
        ("TypeError: 'NoneType' object is not callable", "error"),
        ("Should we never touch the schema?", None),
        ("It is a nice day.", None),
    ],
)
def test_decisions_constraints_and_errors_are_told_from_the_rest(sentence, role):
    assert role_of(sentence) == role


def test_paths_are_found_with_and_without_folders_and_addresses_are_not():
    text = "See ./src/app.py, setup.cfg and https://example.org/a/b.html for version 3.11."
    assert files_named(text) == ["./src/app.py", "setup.cfg"]


def test_what_is_rare_and_names_things_is_worth_more_than_a_question():
    worth = Salience(
        ["ok", "ok then", "My sister Ann moved to Oslo last May.", "What do you mean?"]
    )
    assert worth("My sister Ann moved to Oslo last May.") > worth("ok then") > worth("ok?")


def test_sentences_of_an_endless_text_are_those_at_its_ends():
    found = split_up("First. " + "x " * 50_000 + ". Last.")
    assert found[0] == "First."
    assert found[-1] == "Last."
    assert sum(map(len, found)) < 40_000

import json

import pytest

from benchmarks.passages import WAYS, found
from ctxmw.search.reading import ReadRecord, clauses, opens_at, passage
from ctxmw.text.cleaning import GAP
from ctxmw.values.records import Turn
from tests.support.strategies import NOW

FILLER = "Nothing of note was said in the room that afternoon, by anybody."


@pytest.mark.parametrize("way", WAYS)
def test_a_fact_in_a_long_record_is_found_from_another_conversation(way):
    assert found(*WAYS[way], 65, 5) == (5, 5)


def test_a_passage_is_what_matches_and_the_beginning():
    text = " ".join(["The log of May.", *[FILLER] * 30, "The vault is open.", *[FILLER] * 30])
    shown = passage(text, clauses(text), {"vault": 3.0}, 60)
    assert shown.startswith("The log of May.")
    assert "The vault is open." in shown
    assert shown.count(GAP) == 2
    assert len(shown) < 300


def test_a_line_without_an_end_is_cut_between_its_values():
    rows = json.dumps([{"id": at, "name": f"box {at}"} for at in range(500)])
    shown = passage(rows, clauses(rows), {"317": 3.0}, 100)
    assert '{"id": 317, "name": "box 317"}' in shown
    assert len(shown) < 600


def test_what_matches_best_is_shown_where_there_is_room_for_one_clause():
    rows = json.dumps([{"subject": f"box {at}", "batch": 7000 + at} for at in range(40)])
    shown = passage(rows, clauses(rows), {"batch": 1.0, "7030": 4.0}, 24)
    assert '"batch": 7030' in shown


def test_a_long_line_is_cut_value_by_value():
    rows = [
        json.dumps({"subject": f"box {at}", "batch": 7000 + at, "note": "red"}) for at in (1, 2)
    ]
    text = ", ".join(rows * 4)
    assert text[clauses(text)[1].start : clauses(text)[1].end] == rows[1] + ", "


def test_every_character_of_a_text_is_in_a_clause():
    text = "a" * 1000 + " " + "b,c;" * 200 + "\n\nThe end."
    said = clauses(text)
    assert "".join(text[one.start : one.end] for one in said) == text.replace("\n", "")
    assert max(one.end - one.start for one in said) <= 240


def test_a_long_text_opens_a_little_before_what_is_looked_for():
    text = " ".join([*[FILLER] * 50, "The vault is open.", *[FILLER] * 50])
    at = opens_at(text, "Is the vault open?")
    assert 0 < text.index("The vault") - at < 300
    assert opens_at(text, "zeppelin") == 0


def test_a_passage_keeps_the_lines_of_its_text():
    code = "def open_vault(key):\n    turn(key)\n    return door"
    text = "\n".join(["The log of May.", *[FILLER] * 30, code, *[FILLER] * 30])
    assert code in passage(text, clauses(text), {"vault": 3.0, "turn": 1.0, "door": 1.0}, 60)


@pytest.mark.parametrize("word", ["ox", "hippopotamus"])
def test_half_of_a_long_text_is_shown_as_it_is_counted_whatever_its_letters(word):
    text = " ".join([f"The {word} of day {at} saw a {word} and a {word}." for at in range(60)])
    turn = Turn(ref="t1", user="ann", at=NOW, role="user", text=text, position=0, print="p")

    def count(text: str) -> int:
        return len(text.split())

    shown = ReadRecord(turn, count).passage({"17": 3.0})
    assert 0.45 * count(text) <= count(shown) <= 0.55 * count(text)

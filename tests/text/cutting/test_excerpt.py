"""Long outputs cut down: JSON stays JSON, tables keep their header, and what is missing is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.text.cutting.excerpt import Extent, cut_down

REST = 'All of it: mem_get with ids ["t234567"].'
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(), inner, max_size=30),
    max_leaves=60,
)
ORDERS = {
    "status": "ok",
    "total": 1.10,
    "orders": [{"id": at, "buyer": f"Buyer {at}", "note": "lorem ipsum " * 30} for at in range(90)],
    "next": {"page": 2, "cursor": "x" * 900},
}


def cut(text, characters, lines=None):
    return cut_down(text, Extent(characters=characters, lines=lines), REST)


@given(value=st.lists(VALUES) | st.dictionaries(st.text(), VALUES), most=st.integers(40, 2_000))
def test_json_stays_json_of_about_the_size_that_was_asked_for(value, most):
    left = cut(json.dumps(value), most)
    assert isinstance(json.loads(left), type(value))
    assert len(left) <= most + 3 * len(REST)


def test_keys_and_first_elements_stay_and_the_rest_can_be_fetched():
    left = json.loads(cut(json.dumps(ORDERS), 900))
    assert list(left) == ["status", "total", "orders", "next", "..."]
    assert left["orders"][0]["buyer"] == "Buyer 0"
    assert left["orders"][-1].endswith("more")
    assert left["next"]["page"] == 2
    assert left["..."].endswith(REST)


def test_more_room_shows_more_elements():
    sizes = [
        len(json.loads(cut(json.dumps(ORDERS), most))["orders"]) for most in (600, 4_000, 9_000)
    ]
    assert sizes == sorted(set(sizes))


def test_what_is_only_long_by_its_blanks_keeps_every_value():
    value = [{"id": at} for at in range(20)]
    assert json.loads(cut(json.dumps(value, indent=8), 300)) == value


def test_numbers_are_copied_as_they_are_written():
    text = '{"price": 1.10, "big": 123456789012345678901234567890, "text": "' + "x" * 900 + '"}'
    left = cut(text, 300)
    assert '"price":1.10' in left
    assert "123456789012345678901234567890" in left


def test_what_is_nested_too_deep_for_anybody_is_cut_as_text():
    left = cut("[" * 5_000 + "]" * 5_000, 400)
    assert len(left) < 600
    assert REST in left


CSV = "\n".join(["id,name,price", *(f"{at},Thing {at},{at}.50" for at in range(300))])
MARKDOWN = "\n".join(
    ["| id | name |", "|---|---|", *(f"| {at} | Thing {at} |" for at in range(300))]
)
FIXED = "\n".join(["PID    USER    CMD", *(f"{at:<7}root    python {at}" for at in range(300))])
RULED = "\n".join(["  id | name", " ----+------", *(f"  {at} | Thing {at}" for at in range(300))])


@pytest.mark.parametrize(("table", "header"), [(CSV, 1), (MARKDOWN, 2), (FIXED, 1), (RULED, 2)])
def test_a_table_keeps_its_header_and_whole_rows(table, header):
    left = cut(table, 400).splitlines()
    rows = table.splitlines()
    assert left[:header] == rows[:header]
    assert left[-1] == rows[-1]
    assert left[header] == rows[header]
    told = next(line for line in left if line not in rows)
    assert told == f"[{len(rows) - len(left) + 1} rows left out. {REST}]"


def test_prose_is_no_table():
    prose = "\n".join(
        f"Well, this is line {at}, and it goes on{', ' * (at % 3)} a bit" for at in range(50)
    )
    assert "lines left out" in cut(prose, 400)


@given(text=st.text(alphabet='ab,|;\t \n{}[]"-', max_size=3_000), most=st.integers(100, 900))
def test_any_text_is_cut_to_about_the_size_that_was_asked_for(text, most):
    left = cut(text, most)
    assert len(left) <= max(most, 160) + 3 * len(REST)
    assert left == text or len(text) > most


@given(text=st.text(max_size=3_000), most=st.integers(100, 900))
def test_a_cut_text_tells_how_to_get_the_rest(text, most):
    left = cut(text, most)
    told = REST in left or json.dumps(REST)[1:-1] in left
    assert told or left == text or json.loads(left) == json.loads(text)

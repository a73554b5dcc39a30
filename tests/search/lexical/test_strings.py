"""Texts and their numbers, as they come and as they are after a copy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.strings import StringTable

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_numbers_are_given_in_the_order_of_coming_before_and_after_a_copy(first, second, asked):
    names = StringTable(first)
    again = StringTable.of(names.arrays())
    for name in second:
        assert again.add(name) == names.add(name)
    third = StringTable.of(again.arrays())
    expected = list(dict.fromkeys([*first, *second]))
    for each in (names, again, third):
        assert list(each) == expected
        assert len(each) == len(expected)
        for name in [*expected, *asked]:
            assert each.find(name) == (expected.index(name) if name in expected else -1)


def test_many_new_texts_become_bytes_and_keep_their_numbers():
    names = StringTable()
    for n in range(2000):
        assert names.add(f"é{n}") == n
        assert names.add(f"é{n // 2}") == n // 2
        names.settle()
    assert len(names._new) <= 2000 // 4
    assert list(names) == [f"é{n}" for n in range(2000)]
    assert [names.find(name) for name in ("é0", "é1999", "é2000")] == [0, 1999, -1]
    names.add("a")
    copy = StringTable.of(names.arrays())
    assert list(copy) == [*(f"é{n}" for n in range(2000)), "a"]
    assert [copy.find(name) for name in ("a", "é7", "é2000")] == [2000, 7, -1]


def test_texts_of_a_copy_and_new_ones_are_found_by_their_hashes():
    names = StringTable.of(StringTable(["tea", "milk"]).arrays())
    for n in range(100):
        names.add(f"n{n}")
    names.settle()
    assert not names._new
    assert [names.find(name) for name in ("tea", "milk", "n0", "n99", "x")] == [0, 1, 2, 101, -1]


def test_texts_whose_hashes_are_equal_are_told_apart(monkeypatch):
    monkeypatch.setattr("ctxmw.search.lexical.strings._hash", lambda name: len(name) % 2)
    names = StringTable(f"n{n}" for n in range(100))
    names.settle()
    assert not names._new
    assert [names.find(f"n{n}") for n in range(102)] == [*range(100), -1, -1]


def test_too_many_texts_stay_at_hand():
    names = StringTable(map(str, range(6000)))
    names.settle()
    assert len(names._new) == 6000


def test_half_a_surrogate_pair_is_not_there():
    assert StringTable.of(StringTable(["a", "é"]).arrays()).find("\ud800") == -1


def test_a_copy_that_does_not_fit_together_is_refused():
    arrays = StringTable(["tea", "milk"]).arrays()
    for part in arrays:
        with pytest.raises(ValueError, match="names"):
            StringTable.of(arrays | {part: arrays[part][:-1]})

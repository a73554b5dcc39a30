"""Arrays that grow hold what was put into them, whatever they were kept in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.columns import Column, Grown, distinct, runs, small

NUMBERS = st.integers(-(2**31), 2**31 - 1) | st.integers(-130, 130)
LISTS = st.lists(NUMBERS, max_size=70)


@given(LISTS, LISTS, st.lists(st.tuples(st.integers(0, 200), NUMBERS), max_size=5))
def test_a_column_holds_what_was_put_into_it_before_and_after_a_copy(first, second, changes):
    column = Column("i4", -1)
    column.extend(first)
    kept = small(column.all)
    kept.flags.writeable = False
    whole = np.concatenate([kept, np.full(9, 77, kept.dtype)])
    copies = [Column.over(kept, "i4", -1), Column.over(whole[: len(kept)], "i4", -1, whole=whole)]
    for each in (column, *copies):
        expected = [*first, *second]
        each.extend(second)
        for place, value in changes:
            if place < len(expected):
                each[place] = expected[place] = value
        assert each.own.tolist() == expected
        assert each.all[-1] == -1
        assert each.size == len(expected)


def test_a_column_takes_as_few_bytes_as_its_largest_number() -> None:
    column = Column("i8", -1)
    for value, kind in ((127, "i1"), (-129, "i2"), (5, "i2"), (40_000, "i4"), (2**40, "i8")):
        column.extend([value])
        assert column.all.dtype == kind
    column = Column("i4")
    column[0] = 300
    assert column.all.dtype == "i2"
    assert Column("f4").all.dtype == "f4"
    assert Column("u1").all.dtype == "u1"


@pytest.mark.parametrize(("most", "kind"), [(127, "i1"), (128, "i2"), (40_000, "i4"), (0, "i1")])
def test_whole_numbers_are_kept_in_as_few_bytes_as_they_take(most: int, kind: str) -> None:
    assert small(np.array([-1, most], np.int32)).dtype == kind
    assert small(np.array([0.5, most], np.float32)).dtype == "f4"


@given(LISTS)
def test_distinct_values_come_once_and_in_order(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


def test_runs_stand_behind_each_other():
    assert runs(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist() == [5, 6, 7, 8, 9]


@given(LISTS, LISTS, st.lists(st.integers(0, 139), max_size=20))
def test_what_grows_behind_a_copy_is_found_with_it(kept, new, asked):
    grown = Grown(small(np.array(kept, np.int32)))
    grown.extend(np.array(new, np.int32))
    whole = [*kept, *new]
    asked = [place for place in asked if place < len(whole)]
    assert len(grown) == len(whole)
    assert grown.all().tolist() == whole
    assert grown.take(np.array(asked, np.int64)).tolist() == [whole[place] for place in asked]
    for n in range(len(whole) + 1):
        assert grown.last(n).tolist() == whole[len(whole) - n :]

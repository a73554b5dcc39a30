"""Arrays come back from bytes, and broken bytes are told."""

from __future__ import annotations

import numpy as np
import pytest

from ctxmw.packing import found_under, packed, under, unpacked

ARRAYS = {
    "whole": np.arange(7, dtype=np.int32),
    "none": np.zeros(0, np.float32),
    "times": np.array([1.5, np.nan]),
    "flags": np.array([1, 0, 1], np.uint8),
}


def test_arrays_come_back_with_what_was_said_about_them():
    about, arrays = unpacked(packed({"seq": 42, "names": ["é"]}, ARRAYS))
    assert about == {"seq": 42, "names": ["é"]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_they_are_views_that_cannot_be_written_to():
    _, arrays = unpacked(packed({}, ARRAYS))
    with pytest.raises(ValueError, match="read-only"):
        arrays["whole"][0] = 1


@pytest.mark.parametrize("cut", [0, 4, 8, 30, -1])
def test_bytes_that_were_cut_are_told(cut):
    with pytest.raises(ValueError, match=r".+"):
        unpacked(packed({}, ARRAYS)[:cut])


def test_bytes_of_something_else_are_told():
    for strange in (b"PK nonsense", packed({}, ARRAYS) + b"x", (2).to_bytes(8, "little") + b"[]"):
        with pytest.raises(ValueError, match=r".+"):
            unpacked(strange)


def test_arrays_are_found_under_the_name_that_was_put_before_theirs():
    several = under("a", ARRAYS) | under("a.b", {"c": ARRAYS["whole"]}) | {"d": ARRAYS["none"]}
    assert found_under("a.b", several).keys() == {"c"}
    assert found_under("a", several).keys() == {*ARRAYS, "b.c"}

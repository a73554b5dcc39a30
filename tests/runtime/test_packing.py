"""Arrays come back from bytes, and broken bytes are told."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from ctxmw.runtime.packing import found_under, packed, under, unpacked

ARRAYS = {
    "whole": np.arange(7, dtype=np.int32),
    "none": np.zeros(0, np.float32),
    "times": np.array([1.5, np.nan]),
    "flags": np.array([1, 0, 1], np.uint8),
}


def test_arrays_come_back_with_what_was_said_about_them():
    about, arrays, _ = unpacked(BytesIO(packed({"seq": 42, "names": ["é"]}, ARRAYS)))
    assert about == {"seq": 42, "names": ["é"]}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_large_ones_have_room_behind_them_and_come_in_pieces():
    large = np.arange(1_500_000, dtype=np.int32)
    kept = unpacked(BytesIO(packed({}, {"large": large, "small": large[:3]})))
    np.testing.assert_array_equal(kept.arrays["large"], large)
    np.testing.assert_array_equal(kept.arrays["small"], large[:3])
    assert len(kept.whole["large"]) > len(large)
    kept.whole["large"][0] = 7
    assert kept.arrays["large"][0] == 7


@pytest.mark.parametrize("cut", [0, 4, 8, 30, -1])
def test_bytes_that_were_cut_are_told(cut):
    with pytest.raises(ValueError, match=r".+"):
        unpacked(BytesIO(packed({}, ARRAYS)[:cut]))


def test_bytes_of_something_else_are_told():
    head = b'{"about": {}, "arrays": {"a": ["<i4", 99999999999]}}'
    large = len(head).to_bytes(8, "little") + head
    listed = (2).to_bytes(8, "little") + b"[]"
    for strange in (b"PK nonsense", b"\xff" * 20, packed({}, ARRAYS) + b"x", listed, large):
        with pytest.raises(ValueError, match=r".+"):
            unpacked(BytesIO(strange))


def test_arrays_are_found_under_the_name_that_was_put_before_theirs():
    several = under("a", ARRAYS) | under("a.b", {"c": ARRAYS["whole"]}) | {"d": ARRAYS["none"]}
    assert found_under("a.b", several).keys() == {"c"}
    assert found_under("a", several).keys() == {*ARRAYS, "b.c"}

"""What was used last is kept, within a number and a room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxmw.runtime.lru import LruCache

keys = st.sampled_from("abcdef")
texts = st.text("x", max_size=12)


@given(st.lists(st.tuples(keys, texts), max_size=40))
def test_neither_the_number_nor_the_room_is_exceeded_and_the_last_one_is_always_there(puts):
    kept: LruCache[str, str] = LruCache(4, room=20, weigh=len)
    last: dict[str, str] = {}
    for key, text in puts:
        kept.put(key, text)
        last[key] = text
        assert kept.get(key) == text
        held = {one: kept.get(one) for one in last if kept.get(one) is not None}
        assert held.items() <= last.items()
        assert len(held) == len(kept.values()) <= 4
        assert sum(map(len, kept.values())) == kept.weight <= 20


def test_what_was_used_longest_ago_goes_first():
    kept: LruCache[str, int] = LruCache(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert kept.values() == [1, 3]


def test_one_value_may_take_all_the_room():
    kept: LruCache[str, str] = LruCache(4, room=3, weigh=len)
    kept.put("a", "x")
    kept.put("b", "x" * 50)
    assert kept.values() == ["x" * 50]
    kept.put("b", "y")
    kept.put("c", "z")
    assert kept.values() == ["y", "z"]


def test_what_is_let_go_of_makes_room():
    kept: LruCache[str, str] = LruCache(4, room=2, weigh=len)
    kept.put("a", "xx")
    kept.let_go(["a", "never there"])
    kept.put("b", "y")
    kept.put("c", "z")
    assert kept.values() == ["y", "z"]


def test_what_grows_takes_the_room_that_it_had_when_it_was_put():
    kept: LruCache[str, list[int]] = LruCache(4, room=3, weigh=len)
    first, second = [1], [2]
    kept.put("a", first)
    kept.put("b", second)
    first += [1, 1]
    kept.put("a", first)
    assert kept.values() == [first]
    kept.let_go(["a"])
    kept.put("c", [3, 3])
    kept.put("d", [4])
    assert kept.values() == [[3, 3], [4]]


def test_several_are_asked_for_at_once_and_count_as_used():
    cache = LruCache(3)
    for key in "abc":
        cache.put(key, key.upper())
    assert cache.get_all(["a", "x", "b"]) == {"a": "A", "b": "B"}
    cache.put("d", "D")
    assert cache.values() == ["A", "B", "D"]

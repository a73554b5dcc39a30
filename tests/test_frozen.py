"""Frozen dataclasses of ours do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from ctxmw import frozen

Decorator = Callable[..., Callable[[type], type]]


def _classes(dataclass: Decorator) -> dict[str, Any]:
    """Return the same classes, made by this decorator."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """With a name, and what else there may be."""

        name: str
        kind: ClassVar[str] = "named"
        size: int = 3
        parts: list[int] = dataclasses.field(default_factory=list)
        aside: object = dataclasses.field(default=None, compare=False, repr=False)

    @dataclass(frozen=True, slots=True)
    class Placed:
        first: int
        second: float = 0.5
        last: tuple[int, ...] = dataclasses.field(default=(), kw_only=True)

    @dataclass(frozen=True, slots=True)
    class Counted:
        of: tuple[int, ...]
        most: int = dataclasses.field(init=False)
        seen: list[int] = dataclasses.field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            object.__setattr__(self, "most", max(self.of))

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True, slots=True)
    class Own:  # noqa: PLW1641 - dataclasses give it a hash
        one: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, int)

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Named):  # type: ignore[misc, valid-type]
        more: int = 0

    return {one.__name__: one for one in (Named, Placed, Counted, Empty, Own, Derived)}


OURS, STANDARD = _classes(frozen.dataclass), _classes(dataclasses.dataclass)
MADE: dict[str, Callable[[Any], Any]] = {
    "Named": lambda cls: cls(name="a", parts=[1], aside=object()),
    "Placed": lambda cls: cls(1, last=(2,)),
    "Counted": lambda cls: cls((1, 5, 2)),
    "Empty": lambda cls: cls(),
    "Own": lambda cls: cls(1),
    "Derived": lambda cls: cls(name="a", more=2),
}


def _both(name: str) -> tuple[Any, Any]:
    return MADE[name](OURS[name]), MADE[name](STANDARD[name])


@pytest.mark.parametrize("name", MADE)
def test_it_has_the_same_fields_and_values(name):
    ours, standard = _both(name)
    values = [dataclasses.asdict(one) for one in (ours, standard)]
    for each in values:
        each.pop("aside", None)
    assert values[0] == values[1]
    assert OURS[name].__match_args__ == STANDARD[name].__match_args__
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("name", MADE)
def test_it_looks_the_same(name):
    ours, standard = _both(name)
    assert repr(ours) == repr(standard)
    assert str(inspect.signature(OURS[name])) == str(inspect.signature(STANDARD[name]))


@pytest.mark.parametrize("name", [name for name in MADE if name != "Empty"])
def test_it_cannot_be_changed(name):
    for one in _both(name):
        for field in (each.name for each in dataclasses.fields(one)):
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"assign to field '{field}'"):
                setattr(one, field, 1)
            with pytest.raises(dataclasses.FrozenInstanceError, match=f"delete field '{field}'"):
                delattr(one, field)


def test_nothing_can_be_added_to_it():
    one = MADE["Named"](OURS["Named"])
    with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'another'"):
        one.another = 1


@pytest.mark.parametrize("name", MADE)
def test_those_with_the_same_values_are_equal(name):
    for cls in (OURS[name], STANDARD[name]):
        one, same = MADE[name](cls), MADE[name](cls)
        assert (one == same) == (name != "Own")
        assert one != "something else"
    assert OURS[name] != STANDARD[name]
    assert (MADE[name](OURS[name]) == MADE[name](STANDARD[name])) is False


@pytest.mark.parametrize("name", MADE)
def test_it_is_hashed_by_its_values_or_not_at_all(name):
    def hashed(one: object) -> object:
        try:
            return hash(one)
        except TypeError as error:
            return str(error)

    ours, standard = _both(name)
    assert hashed(ours) == hashed(standard)


@pytest.mark.parametrize("name", MADE)
def test_a_copy_is_equal(name):
    if name == "Own":
        return
    one = MADE[name](OURS[name])
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one


def test_it_can_be_replaced_and_subclassed_as_any_dataclass():
    changed = dataclasses.replace(MADE["Named"](OURS["Named"]), size=9)
    assert (changed.size, changed.parts) == (9, [1])

    @dataclasses.dataclass(frozen=True)
    class Theirs(OURS["Placed"]):  # type: ignore[misc]
        more: int = 1

    assert Theirs(1, more=3) == Theirs(1, more=3)
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):

        @dataclasses.dataclass
        class Changing(OURS["Placed"]):  # type: ignore[misc]
            pass


def test_what_is_made_anew_is_no_other_ones():
    one, other = OURS["Named"](name="a"), OURS["Named"](name="b")
    one.parts.append(1)
    assert other.parts == []


def test_wrong_arguments_are_told_as_ever():
    for cls in (OURS["Named"], STANDARD["Named"]):
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
            cls()
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            cls(name="a", colour="red")


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    one: int
    two: tuple[int, ...] = ()


def test_it_can_be_pickled():
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))


def test_what_is_not_slotted_is_made_by_the_standard_library():
    @frozen.dataclass(frozen=True, kw_only=True)
    class Loose:
        one: int

    assert vars(Loose(one=1)) == {"one": 1}


def test_one_that_holds_itself_can_be_shown():
    held: list[object] = []
    one = OURS["Named"](name="a", parts=held)
    held.append(one)
    assert repr(one).count("...") == 1

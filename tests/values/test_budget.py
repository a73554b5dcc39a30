from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.errors import InvalidValue
from ctxmw.values.budget import Budget, OnDemand

LANES = [field.name for field in fields(Budget) if field.name not in ("total", "turn")]


def test_the_default_is_4000_tokens_shared_out_as_documented() -> None:
    budget = Budget()
    assert (budget.total, budget.stable_limit, budget.turn_limit) == (4000, 2800, 1200)
    assert budget.lanes() == {
        "instructions": 400,
        "universal": 200,
        "language": 200,
        "project": 300,
        "reserve": 100,
        "done": 300,
        "decided": 200,
        "open": 300,
        "pinned": 400,
        "index": 400,
    }


def test_lanes_scale_with_the_total() -> None:
    half, double = Budget(total=2000), Budget(total=8000)
    assert half.turn_limit == 600
    assert double.turn_limit == 2400
    for name, size in Budget().lanes().items():
        assert half.lanes()[name] == size // 2
        assert double.lanes()[name] == size * 2


def test_a_lane_is_a_size_relative_to_the_others() -> None:
    budget = Budget(total=100, **{**dict.fromkeys(LANES, 0), "pinned": 3}, turn=1)
    assert budget.lanes()["pinned"] == 75
    assert budget.turn_limit == 25


sizes = st.integers(0, 2000)


@given(
    st.integers(0, 20_000),
    st.fixed_dictionaries(dict.fromkeys([*LANES, "turn"], sizes)).filter(
        lambda lanes: any(lanes.values())
    ),
)
def test_lanes_add_up_to_the_stable_limit_and_with_the_turn_to_the_total(
    total: int, lanes: dict[str, int]
) -> None:
    budget = Budget(total=total, **lanes)
    assert sum(budget.lanes().values()) == budget.stable_limit
    assert budget.stable_limit + budget.turn_limit == total
    assert all(limit >= 0 for limit in budget.lanes().values())


@given(st.integers(0, 10_000))
def test_no_lane_is_off_its_share_by_more_than_what_rounding_leaves(total: int) -> None:
    for name, limit in Budget(total=total).lanes().items():
        share = total * getattr(Budget(), name) / 4000
        assert share - 1 < limit <= share + (len(LANES) + 1 if name == "index" else 0)


def test_a_total_of_zero_is_possible_and_leaves_nothing_to_spend() -> None:
    budget = Budget(total=0)
    assert (budget.stable_limit, budget.turn_limit) == (0, 0)
    assert set(budget.lanes().values()) == {0}


@pytest.mark.parametrize("name", ["total", "universal", "index", "turn"])
@pytest.mark.parametrize("wrong", [-1, -4000, 1.5, 4000.0, "4000", None, True, float("nan")])
def test_an_impossible_amount_is_an_error_that_names_field_and_value(
    name: str, wrong: object
) -> None:
    with pytest.raises(InvalidValue) as caught:
        Budget(**{name: wrong})  # type: ignore[arg-type]
    assert f"Budget.{name} is {wrong!r}" in str(caught.value)


def test_a_budget_without_any_lane_is_an_error() -> None:
    with pytest.raises(InvalidValue, match="at least one lane"):
        Budget(**dict.fromkeys([*LANES, "turn"], 0))


def test_what_an_agent_may_fetch_is_500_tokens_a_question_in_three_lanes() -> None:
    assert OnDemand().lanes() == {"universal": 150, "language": 150, "project": 200}


@pytest.mark.parametrize("name", [field.name for field in fields(OnDemand)])
def test_an_impossible_amount_on_demand_is_an_error_too(name: str) -> None:
    with pytest.raises(InvalidValue, match=rf"OnDemand\.{name} is -1"):
        OnDemand(**{name: -1})


def test_a_budget_is_scaled_down_and_never_up() -> None:
    assert Budget().within(400).lanes() == Budget(total=400).lanes()
    assert Budget(total=300).within(400) == Budget(total=300)

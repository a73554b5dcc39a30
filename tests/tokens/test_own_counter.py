"""A budget holds with whatever counts: fractions, sums that are none, counts that are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ctxmw import Budget, ContextMiddleware, InvalidValue
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.own_counter import checked_counter

ASKED = "What do we know of the courier, the orders and the tokens?"


def filled(count: object) -> ContextMiddleware:
    ctx = ContextMiddleware.open(":memory:", count=count, strict=True, clock=FixedClock())
    for number in range(30):
        ctx.remember(f"Order {number}: the courier takes the tokens along at {number} o'clock.")
        ctx.session(f"s{number}").capture(
            [{"role": "user", "content": f"The courier of order {number} asked for tokens."}]
        )
    return ctx


@pytest.mark.parametrize(
    "count",
    [
        lambda text: math.ceil(len(text) ** 1.15 / 4),
        lambda text: len(text) // 4 + 40 * (len(text) > 900),
        lambda text: len(text) // 4 + 300 * (text.count("<ctxmw>") > 1),
        lambda text: math.ceil(len(text) ** 0.8),
    ],
    ids=["grows", "one more for the long", "much more for two", "shrinks"],
)
@pytest.mark.parametrize("total", [100, 300, 800, 2000])
def test_both_blocks_and_their_sum_are_within_the_budget(count, total):
    budget = Budget(total=total)
    with filled(count) as ctx:
        chat = ctx.session("now", budget=budget)
        for question in (ASKED, "And of order 7?", ASKED):
            context = chat.prepare([{"role": "user", "content": question}]).context
            assert count(context.stable) <= budget.stable_limit
            assert count(context.part) <= budget.turn_limit
            assert count(context.stable) + count(context.part) <= total
            assert context.tokens == count(context.text) <= total
    assert total < 800 or context.text


def test_a_part_with_counts_that_do_not_add_up_is_smaller_and_not_gone():
    def count(text: str) -> int:
        return len(text) // 4 + 100 * (text.count("<ctxmw>") > 1)

    with filled(count) as ctx:
        context = ctx.session("now", budget=Budget(total=800)).prepare(
            [{"role": "user", "content": ASKED}]
        )
    assert context.context.part


@pytest.mark.parametrize("kind", [float, np.float32, np.int64, lambda n: n + 0.01])
def test_fractions_are_rounded_up(kind):
    with filled(lambda text: kind(len(text) / 4)) as ctx:
        prepared = ctx.session("now").prepare([{"role": "user", "content": ASKED}])
    assert isinstance(prepared.context.tokens, int)
    assert 0 < prepared.context.tokens <= 4000
    assert checked_counter(lambda _: 1.2)("text") == 2


@pytest.mark.parametrize("said", [None, "5", -1, True, float("nan"), float("inf"), [1], -0.5 - 1])
def test_what_is_no_count_is_told(said):
    with pytest.raises(InvalidValue, match="a text of 4 characters: it must return a number"):
        checked_counter(lambda _: said)("text")


def test_what_cannot_count_is_refused_at_once():
    with pytest.raises(InvalidValue, match="count is 'gpt-4o': give a function"):
        ContextMiddleware.open(":memory:", count="gpt-4o")


def test_our_own_counter_is_taken_as_it_is_and_others_keep_their_name():
    own = counter_for()
    assert checked_counter(own) is own

    class Named:
        name = "provider"

        def __call__(self, text: str) -> int:
            return len(text)

    with ContextMiddleware.open(":memory:", count=Named()) as ctx:
        assert (
            ctx.session("s").prepare([{"role": "user", "content": ASKED}]).context.counter
            == "provider"
        )


@pytest.mark.parametrize("budget", [Budget(), Budget(total=7), Budget(universal=0, turn=1)])
@pytest.mark.parametrize("tokens", [0, 1, 50])
def test_a_smaller_turn_leaves_the_stable_block_as_it_is(budget, tokens):
    smaller = budget.with_turn_limit(tokens)
    assert (smaller.turn_limit, smaller.stable_limit) == (tokens, budget.stable_limit)
    assert smaller.lanes() == budget.lanes()

"""Calls and results: found by id wherever they stand, and never torn apart."""

from __future__ import annotations

from ctxmw.compaction.cut import groups_of


def call(*ids):
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": id_, "name": "look", "args": {}} for id_ in ids],
    }


def result(id_=None):
    message = {"role": "tool", "content": "seen"}
    return {**message, "tool_call_id": id_} if id_ else message


USER = {"role": "user", "content": "Look."}
SAID = {"role": "assistant", "content": "I look."}


def places(*messages):
    return [group.places for group in groups_of(messages)]


def test_parallel_calls_and_their_results_in_any_order_are_one_group():
    assert places(USER, call("a", "b"), result("b"), result("a"), SAID) == [(0,), (1, 2, 3), (4,)]


def test_nested_calls_keep_their_own_results_though_others_stand_between():
    assert places(call("a"), call("b"), SAID, result("b"), result("a")) == [(0, 4), (1, 3), (2,)]


def test_an_id_that_is_used_again_belongs_to_the_last_call_before_the_result():
    assert places(call("x"), result("x"), call("x"), result("x")) == [(0, 1), (2, 3)]


def test_results_without_an_id_belong_to_the_call_that_waits_else_to_what_stands_before():
    assert places(USER, call("a"), result()) == [(0,), (1, 2)]
    assert places(USER, SAID, result(), result()) == [(0,), (1, 2, 3)]


def test_a_call_without_its_result_is_open_and_a_result_without_its_call_an_orphan():
    open_, orphan = groups_of([call("a", "b"), result("a"), result("z")])
    assert (open_.places, open_.open, open_.orphan) == ((0, 1), True, False)
    assert (orphan.places, orphan.open, orphan.orphan) == ((2,), False, True)


def test_system_messages_have_no_group():
    assert places({"role": "system", "content": "Help."}, USER) == [(1,)]

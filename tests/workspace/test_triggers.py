"""What brings context by itself, how much it counts, and how long it lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ctxmw import InvalidValue
from ctxmw.workspace.activity import Activity
from ctxmw.workspace.triggers import (
    TRIGGER_KINDS,
    Trigger,
    Triggers,
    analyze_activity,
    analyze_message,
    carried_over,
    still_alive,
)

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def told(text, **options):
    return {trigger.kind: trigger.queries for trigger in analyze_message(text, now=NOW, **options)}


def test_a_message_gives_symbols_paths_and_what_it_asks_about():
    assert told("How does the AuthService handle login?")["symbol"] == ("AuthService",)
    assert told("Look at src/auth/service.ts for the implementation") == {
        "path": ("src/auth/service.ts",)
    }
    assert told("How does authentication work in this app?") == {"message": ("authentication",)}


def test_each_file_is_a_trigger_of_its_own():
    found = analyze_message("compare a.py with b.py", now=NOW)
    assert [one.queries for one in found if one.kind == "path"] == [("a.py",), ("b.py",)]


def test_a_trace_gives_its_places_and_its_exception_once():
    text = 'Why?\n  File "/srv/cart.py", line 7, in total\nPriceError: no price'
    found = told(text)
    assert found["trace"] == ("/srv/cart.py:7", "PriceError")
    assert "path" not in found
    assert "symbol" not in found


def test_weights_source_and_expiry_are_those_of_the_policy():
    text = 'How does AuthService in src/a.py do login?\n  File "b.py", line 1, in f\n'
    found = {one.kind: one for one in analyze_message(text, now=NOW)}
    weights = {kind: one.weight for kind, one in found.items()}
    assert weights == {"symbol": 0.9, "path": 0.95, "trace": 0.95, "message": 0.7}
    assert {one.source for one in found.values()} == {"message"}
    assert {one.expires for one in found.values()} == {NOW + timedelta(minutes=15)}


@pytest.mark.parametrize("kind", ["symbol", "path", "trace", "message"])
def test_each_kind_can_be_switched_off(kind):
    text = 'How does AuthService in src/a.py do login?\n  File "b.py", line 1, in f\n'
    left = told(text, policy=Triggers(**{kind: 0}))
    assert set(left) == {"symbol", "path", "trace", "message"} - {kind}


@pytest.mark.parametrize(
    ("done", "kind", "queries", "weight"),
    [
        ({"type": "file_open", "path": "a.py"}, "open", ("a.py",), 0.8),
        ({"type": "file_edit", "path": "a.py", "symbols": ("f",)}, "edit", ("a.py", "f"), 0.95),
        ({"type": "symbol_hover", "path": "a.py", "symbols": ("f",)}, "hover", ("f",), 0.7),
        ({"type": "session_start", "path": "a.py"}, "session_start", ("a.py",), 0.7),
    ],
)
def test_an_activity_gives_the_file_and_what_changed(done, kind, queries, weight):
    (found,) = analyze_activity(Activity(**done), now=NOW)
    assert (found.kind, found.queries, found.weight) == (kind, queries, weight)
    assert analyze_activity(Activity(**done), now=NOW, policy=Triggers(**{kind: 0})) == []


def test_closing_a_file_asks_for_nothing():
    assert analyze_activity(Activity(type="file_close", path="a.py"), now=NOW) == []


def trigger(kind="symbol", **values):
    given = {"queries": ("A",), "weight": 1.0, "source": "message", "expires": NOW, **values}
    return Trigger(kind=kind, **given)


def test_triggers_carry_over_with_decay_and_end_by_turns():
    policy = Triggers(decay=0.5, turns=2)
    first = carried_over([trigger()], policy)
    assert [(one.weight, one.turns) for one in first] == [(0.5, 1)]
    second = carried_over(first, policy)
    assert [(one.weight, one.turns) for one in second] == [(0.25, 2)]
    assert carried_over(second, policy) == ()


def test_triggers_end_by_time():
    later = trigger(expires=NOW + timedelta(seconds=1))
    assert still_alive([later], NOW, Triggers()) == [later]
    assert still_alive([later], NOW + timedelta(seconds=1), Triggers()) == []


def test_what_a_question_was_about_ends_with_it_and_the_newest_of_a_kind_is_kept():
    old, new = trigger(turns=1, weight=0.5), trigger()
    kept = carried_over([trigger("message"), old, new], Triggers())
    assert [(one.kind, one.turns) for one in kept] == [("symbol", 1)]


def test_a_bounded_number_carries_over():
    many = [trigger(queries=(f"name_{n}",)) for n in range(100)]
    assert len(carried_over(many, Triggers())) == 12


def test_nothing_comes_by_itself_with_everything_off():
    policy = Triggers.off()
    assert all(policy.weight(kind) == 0 for kind in TRIGGER_KINDS)
    assert analyze_message("AuthService in src/a.py?", policy=policy) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"symbol": 2},
        {"path": -0.1},
        {"turns": 1.5},
        {"minutes": -1},
        {"minutes": float("inf")},
        {"hits": True},
        {"decay": "x"},
    ],
)
def test_a_policy_out_of_range_is_refused(wrong):
    with pytest.raises(InvalidValue, match=rf"Triggers\.{next(iter(wrong))}"):
        Triggers(**wrong)


def test_paths_among_the_queries_are_files():
    assert trigger("edit", queries=("src/a.py:3", "login")).files == ("src/a.py",)
    assert trigger("symbol", queries=("os.path",)).files == ()

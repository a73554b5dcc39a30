"""How far opinions move records: for questions like theirs, within bounds, and never the others."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import SqliteStore
from ctxmw.protocols import Row
from ctxmw.runtime.telemetry import Faults
from ctxmw.search.feedback import ANYWHERE, CALLS, DOWN, UP, USED, Feedback, Opinions, Sway
from ctxmw.store.journal import Feed
from ctxmw.text.terms import content_terms

ASKED = "When does the deploy key rotate?"
ALIKE = "When will the deploy key rotate?"
OTHER = "Who feeds the otters on Sunday?"


@pytest.fixture
def store():
    with closing(SqliteStore(":memory:")) as opened:
        yield opened


def said(number, about="m1", value=1, question=ASKED, **more):
    return Feedback(
        user="ada",
        ref=f"f{number}",
        at=datetime(2026, 3, 2, tzinfo=UTC),
        record=f"c{number}",
        about=about,
        value=value,
        asked=tuple(content_terms(question)),
        **more,
    )


def opinions(store, *feedback):
    store.put([one.row() for one in feedback])
    return Opinions(store, Feed(store), Faults())


def test_nobody_said_anything_moves_nothing(store):
    assert opinions(store).moved("ada", ASKED) == {}


def test_what_helped_rises_most_where_the_same_is_asked(store):
    known = opinions(store, said(1))
    same, alike, other = (known.moved("ada", asked)["m1"].total for asked in (ASKED, ALIKE, OTHER))
    assert same == alike > other > 0
    assert other <= ANYWHERE


def test_what_did_not_help_falls_only_where_something_alike_is_asked(store):
    known = opinions(store, said(1, value=-1))
    assert known.moved("ada", ASKED)["m1"].total < 0
    assert "m1" not in known.moved("ada", OTHER)


def test_what_was_taken_back_moves_nothing(store):
    known = opinions(store, said(1, replaced=True), said(2, value=0))
    assert not any(sway.total for sway in known.moved("ada", ASKED).values())


def test_what_is_said_or_forgotten_later_counts_at_once(store):
    known = opinions(store, said(1))
    before = known.moved("ada", ASKED)["m1"].total
    store.put([said(2).row()])
    assert known.moved("ada", ASKED)["m1"].total > before
    store.delete("ada", ["f1", "f2"])
    assert known.moved("ada", ASKED) == {}


def test_a_word_on_the_whole_call_counts_less_for_each_thing_it_showed(store):
    known = opinions(store, said(1, about="", shown=("m1", "m2")), said(2, about="m3"))
    moved = {ref: sway.total for ref, sway in known.moved("ada", ASKED).items()}
    assert 0 < moved["m1"] == moved["m2"] < moved["m3"]


@given(st.lists(st.tuples(st.sampled_from(("m1", "m2")), st.sampled_from((-1, 0, 1))), max_size=40))
def test_however_many_opinions_there_are_they_stay_within_bounds(given_opinions):
    with closing(SqliteStore(":memory:")) as store:
        feedback = [said(at, about, value) for at, (about, value) in enumerate(given_opinions)]
        for moved in opinions(store, *feedback).moved("ada", ASKED).values():
            assert -DOWN <= moved.total <= UP + ANYWHERE


# --- what answers took up ---


def call(number, *came_back, state="answered"):
    at = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=number)
    body = json.dumps({"state": state, "came_back": came_back})
    return Row(user="ada", ref=f"c{number}", type="context", at=at, body=body)


def test_what_often_came_back_rises_a_little_for_every_question(store):
    store.put([call(n, "m1") for n in range(5)])
    known = opinions(store)
    assert known.moved("ada", OTHER) == known.moved("ada", ASKED)
    (sway,) = known.moved("ada", OTHER).values()
    assert (sway.rated, 0 < sway.used < USED) == (0, True)
    assert sway.reasons() == (("used", round(sway.used, 2)),)


def test_what_came_back_once_or_never_stays_where_it_is(store):
    store.put([call(1, "m1"), call(2), call(3)])
    assert opinions(store).moved("ada", ASKED) == {}


def test_of_other_users_calls_nothing_is_heard(store):
    store.put([call(n, "m1") for n in range(5)])
    assert opinions(store).moved("bob", ASKED) == {}


def test_use_and_opinions_are_told_apart(store):
    store.put([call(n, "m1", "m2") for n in range(5)])
    moved = opinions(store, said(9, value=-1)).moved("ada", ASKED)
    assert [name for name, _ in moved["m1"].reasons()] == ["feedback", "used"]
    assert moved["m1"].total < 0 < moved["m2"].total


def test_only_the_last_calls_count_in_an_old_process_and_in_a_new_one(store):
    known = opinions(store)
    for n in range(10):
        store.put([call(n, "m1")])
        known.moved("ada", ASKED)
    store.put([call(n, "m2") for n in range(10, 10 + CALLS)])
    assert known.moved("ada", ASKED).keys() == {"m2"}
    assert known.moved("ada", ASKED) == opinions(store).moved("ada", ASKED)


def test_calls_that_are_forgotten_no_longer_count(store):
    store.put([call(n, "m1") for n in range(5)])
    known = opinions(store)
    assert known.moved("ada", ASKED)
    store.delete("ada", [f"c{n}" for n in range(5)])
    assert known.moved("ada", ASKED) == {}


@given(st.lists(st.lists(st.sampled_from(["m1", "m2", "m3"]), unique=True), max_size=40))
def test_however_much_is_used_it_stays_within_bounds_and_nothing_falls(calls):
    with closing(SqliteStore(":memory:")) as store:
        store.put([call(n, *back) for n, back in enumerate(calls)])
        for sway in opinions(store).moved("ada", ASKED).values():
            assert sway == Sway(used=sway.used)
            assert 0 < sway.used <= USED

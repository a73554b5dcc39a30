"""How far opinions move records: for questions like theirs, within bounds, and never the others."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import SqliteStore
from ctxmw.runtime.telemetry import Faults
from ctxmw.search.feedback import ANYWHERE, DOWN, UP, Feedback, Opinions
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
    same, alike, other = (known.moved("ada", asked)["m1"] for asked in (ASKED, ALIKE, OTHER))
    assert same == alike > other > 0
    assert other <= ANYWHERE


def test_what_did_not_help_falls_only_where_something_alike_is_asked(store):
    known = opinions(store, said(1, value=-1))
    assert known.moved("ada", ASKED)["m1"] < 0
    assert "m1" not in known.moved("ada", OTHER)


def test_what_was_taken_back_moves_nothing(store):
    known = opinions(store, said(1, replaced=True), said(2, value=0))
    assert not any(known.moved("ada", ASKED).values())


def test_what_is_said_or_forgotten_later_counts_at_once(store):
    known = opinions(store, said(1))
    before = known.moved("ada", ASKED)["m1"]
    store.put([said(2).row()])
    assert known.moved("ada", ASKED)["m1"] > before
    store.delete("ada", ["f1", "f2"])
    assert known.moved("ada", ASKED) == {}


def test_a_word_on_the_whole_call_counts_less_for_each_thing_it_showed(store):
    known = opinions(store, said(1, about="", shown=("m1", "m2")), said(2, about="m3"))
    moved = known.moved("ada", ASKED)
    assert 0 < moved["m1"] == moved["m2"] < moved["m3"]


@given(st.lists(st.tuples(st.sampled_from(("m1", "m2")), st.sampled_from((-1, 0, 1))), max_size=40))
def test_however_many_opinions_there_are_they_stay_within_bounds(given_opinions):
    with closing(SqliteStore(":memory:")) as store:
        feedback = [said(at, about, value) for at, (about, value) in enumerate(given_opinions)]
        for moved in opinions(store, *feedback).moved("ada", ASKED).values():
            assert -DOWN <= moved <= UP + ANYWHERE

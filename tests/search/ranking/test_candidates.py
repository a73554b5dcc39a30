"""Which records are rated, and that leaving out the others changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.people import People
from ctxmw.search.question import analyse
from ctxmw.search.ranking import candidates
from ctxmw.search.ranking.candidates import ANOTHER, spread
from ctxmw.search.ranking.signals import signals
from tests.support.documents import document, index_of

NOW = datetime(2024, 3, 14, 12, tzinfo=UTC)
SAID = st.lists(st.sampled_from("boat sail harbour rope pet puppy tea".split()), max_size=4)
ASKED = st.lists(
    st.sampled_from(["boat", "sails", '"tea rope"', "Ann", "in 2024", "latest", "pets", "xyzzy"]),
    min_size=1,
    max_size=4,
)


def index_said(lines):
    return index_of(
        document(f"m{at}", " ".join(said), session, speaker=speaker, at=NOW + timedelta(40 * at))
        for at, (session, speaker, said) in enumerate(lines)
    )


LINES = st.lists(
    st.tuples(st.sampled_from(["", "s1", "s2"]), st.sampled_from(["user", "Ann"]), SAID),
    min_size=1,
    max_size=14,
)


@given(LINES, st.sets(st.integers(0, 13)), st.sets(st.integers(0, 13)), ASKED, st.booleans())
def test_what_has_nothing_to_do_with_a_question_need_not_be_rated(
    lines, gone, unwanted, asked, many
):
    with mock.patch.object(candidates, "EVERY_RECORD", 0 if many else 1000):
        check_that_the_rest_has_nothing_to_do_with_it(lines, gone, unwanted, asked)


def check_that_the_rest_has_nothing_to_do_with_it(lines, gone, unwanted, asked):
    index = index_said(lines)
    for at in gone:
        index.remove(f"m{at}")
    wanted = index.columns["alive"].all[:-1] > 0
    wanted[[at for at in unwanted if at < len(wanted)]] = False
    question = analyse(" ".join(asked), index.people, NOW)

    rated = signals(index, question, wanted)
    every = rated_in_full(index, question, wanted)
    concerned = every.touched()
    assert rated.places[rated.touched()].tolist() == every.places[concerned].tolist()
    assert rated.table[:, rated.touched()].tolist() == every.table[:, concerned].tolist()
    assert rated.match[rated.touched()].tolist() == every.match[concerned].tolist()
    assert not every.match[~concerned].any()


def rated_in_full(index, question, wanted):
    with mock.patch.object(candidates, "_is_by_words_alone", return_value=False):
        return signals(index, question, wanted)


def test_of_many_records_only_those_are_rated_that_a_word_touches():
    lines = [("", "user", ["tea"])] * 50 + [("", "user", ["boat"]), ("", "user", ["boats", "sail"])]
    index = index_said(lines)
    question = analyse("Where is the boat?", People(), NOW)
    assert signals(index, question, np.ones(len(index), bool)).places.tolist() == [50, 51]


@given(st.lists(st.integers(0, 9), max_size=200), st.integers(1, 6))
def test_the_largest_are_those_that_sorting_would_find(values, n):
    found = candidates.largest(np.array(values, np.float32), n)
    best = sorted((value for value in values if value), reverse=True)[:n]
    assert sorted((values[at] for at in found), reverse=True) == best
    assert len(set(found.tolist())) == len(found)


def test_the_best_of_each_conversation_keeps_what_it_brings() -> None:
    gains = spread(np.array([-3.0, -1.0, -2.0, -4.0]), np.array([0, 0, 1, 0], np.int32))
    less = ANOTHER * np.log([2, 1, 1, 3])
    assert np.allclose(gains, [-3 - less[0], -1, -2, -4 - less[3]])


def test_what_stands_alone_is_of_no_conversation() -> None:
    gains = np.array([-3.0, -1.0, -2.0])
    assert (spread(gains, np.full(3, -1, np.int32)) == gains).all()


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(-1, 3)), max_size=30))
def test_nothing_gains_and_the_order_within_a_conversation_stays(hits: list) -> None:
    gains = np.array([gain for gain, _ in hits], np.float64)
    sessions = np.array([session for _, session in hits], np.int32)
    less = spread(gains, sessions)
    assert (less <= gains).all()
    for session in set(sessions.tolist()):
        mine = sessions == session
        order = np.argsort(-gains[mine], kind="stable")
        assert (np.diff(less[mine][order]) <= 0).all()

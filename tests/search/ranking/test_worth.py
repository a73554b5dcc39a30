"""What hits of one conversation bring beside each other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.ranking.worth import ANOTHER, spread


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

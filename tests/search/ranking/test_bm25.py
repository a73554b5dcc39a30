"""How well words match, checked against the formula written out."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.ranking.bm25 import K1, OF_SESSIONS, held, of_places, of_sessions
from tests.support.documents import document, index_of

WORDS = "boat sail knot tea".split()
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "s1", "s2", "s3"]), st.lists(st.sampled_from(WORDS), max_size=5)
    ),
    max_size=12,
)


def written_out(lines, terms):
    """Return the score of each conversation of two records or more, by BM25."""
    sizes = Counter(session for session, _ in lines if session)
    talks = {name: Counter() for name, size in sizes.items() if size > 1}
    for session, said in lines:
        if session in talks:
            talks[session].update(said)
    mean = max(1.0, sum(map(Counter.total, talks.values())) / max(1, len(talks)))
    scores = dict.fromkeys(talks, 0.0)
    for term in terms:
        holders = sum(term in talk for talk in talks.values())
        rarity = log(1 + (len(talks) - holders + 0.5) / (holders + 0.5))
        for name, talk in talks.items():
            norm = K1 * (1 - OF_SESSIONS + OF_SESSIONS * talk.total() / mean)
            scores[name] += rarity * (K1 + 1) * talk[term] / (talk[term] + norm)
    best = max(scores.values(), default=0) or 1
    return {name: score / best for name, score in scores.items()}


@given(LINES, st.sets(st.sampled_from([*WORDS, "xyzzy"])))
def test_a_conversation_matches_by_all_that_is_said_in_it(lines, terms):
    index = index_of(
        document(f"t{at}", " ".join(said), session) for at, (session, said) in enumerate(lines)
    )
    scores = of_sessions(index, held(index, sorted(terms)))
    expected = written_out(lines, terms)
    for name in {session for session, _ in lines if session}:
        found = scores[index.numbers("session", [name])[0]]
        assert found == pytest.approx(expected.get(name, 0), abs=1e-5)
    assert scores[-1] == 0


PASSAGES = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from([0, 1, 30, 90])),
    max_size=8,
)


@given(PASSAGES, st.sets(st.sampled_from([*WORDS, "xyzzy"])), st.booleans())
def test_every_score_is_a_number_whatever_is_held(passages, terms, one_left) -> None:
    index = index_of(
        document(f"t{at}", " ".join(said * times)) for at, (said, times) in enumerate(passages)
    )
    for at in range(1, len(passages) if one_left else 0):
        index.remove(f"t{at}")
    with np.errstate(all="raise"):
        scores = of_places(index, held(index, sorted(terms)))
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()

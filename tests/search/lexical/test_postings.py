"""Posting lists are the same however often they were frozen on the way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.postings import Postings

RECORDS = st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=20)


def lists(postings: Postings) -> dict[int, tuple[list[int], list[float]]]:
    return {term: tuple(each.tolist() for each in postings.of(term)) for term in range(8)}


@given(RECORDS, st.sets(st.integers(0, 19)))
def test_freezing_now_and_then_changes_nothing(records, moments):
    once, often = Postings(), Postings()
    for place, terms in enumerate(records):
        for each in (once, often):
            each.add(place, terms)
        if place in moments:
            freeze(often, records[: place + 1])
            freeze(often, records[: place + 1])
        assert lists(often) == lists(once)
    freeze(once, records)
    assert lists(often) == lists(once)


def freeze(postings: Postings, records: list[list[int]]) -> None:
    new = records[postings.size :]
    tokens = np.array([term for terms in new for term in terms], np.int32)
    lengths = np.array([len(terms) for terms in new], np.int64)
    # Only the terms there are so far: later ones are new to the frozen lists.
    known = max((term for terms in records for term in terms), default=-1)
    postings.freeze(tokens, lengths, known + 1)

"""Words have the numbers of their stems; lists are the same however often they were frozen."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.postings import Postings, Vocabulary
from ctxmw.text import terms

WORDS = st.lists(st.text("abein1é", min_size=1, max_size=6), max_size=40)
RECORDS = st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=20)


def lists(postings: Postings) -> dict[int, tuple[list[int], list[float]]]:
    return {term: tuple(each.tolist() for each in postings.of(term)) for term in range(8)}


@given(RECORDS, st.sets(st.integers(0, 19)))
def test_freezing_now_and_then_changes_nothing(records, moments):
    once, often = Postings(), Postings()
    for place, held in enumerate(records):
        for each in (once, often):
            each.add(place, held)
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


@given(st.lists(WORDS, max_size=5))
def test_words_have_the_numbers_of_their_stems_in_the_order_of_coming(records):
    vocabulary = Vocabulary()
    known: dict[str, int] = {}
    for words in records:
        expected = [known.setdefault(stem, len(known)) for stem in terms.stems(words)]
        assert vocabulary.take_in(words) == expected


def test_few_words_are_at_hand_however_many_came():
    vocabulary = Vocabulary()
    for number in range(5000):
        assert vocabulary.take_in(["the", "number", f"n{number}"]) == [0, number + 1]
        vocabulary.settle()
    assert len(vocabulary._words) <= 5000 // 2 + 1


def test_numbers_are_their_own_stems_and_are_not_remembered():
    known = terms._Stems()
    assert [known[word] for word in ("1234567", "x2s", "walks")] == ["1234567", "x2s", "walk"]
    assert known == {"walks": "walk"}


def test_a_bounded_number_of_stems_is_remembered(monkeypatch):
    monkeypatch.setattr(terms._Stems, "MOST", 2)
    known = terms._Stems()
    assert [known[word] for word in ("walks", "talks", "runs", "walks")] == [
        "walk",
        "talk",
        "run",
        "walk",
    ]
    assert known == {"runs": "run", "walks": "walk"}

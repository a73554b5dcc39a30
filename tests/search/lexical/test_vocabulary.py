"""Words, each under the number of its stem."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.lexical.vocabulary import Vocabulary
from ctxmw.text import terms

WORDS = st.lists(st.text("abein1é", min_size=1, max_size=6), max_size=40)


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

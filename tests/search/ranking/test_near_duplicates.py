"""Which records share most of their words with a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware
from ctxmw.search.lexical.index import LexicalIndex
from ctxmw.search.ranking.near_duplicates import alike, shared
from ctxmw.testing import FixedClock
from tests.support.documents import document

WORDS = st.lists(st.sampled_from("tea milk rye oak fig kiwi jam ale".split()), max_size=8)
LEAST = 0.6


def index_of(texts: list[list[str]]) -> LexicalIndex:
    index = LexicalIndex()
    for number, words in enumerate(texts):
        kind = "turn" if number % 5 == 4 else "memory"
        scope = "project:a" if number % 4 == 3 else "universal"
        index.add([document(f"m{number}", " ".join(words), type=kind, scope=scope)])
    return index


@given(st.lists(WORDS, max_size=25), WORDS.filter(bool), st.sampled_from([0.3, LEAST, 1.0]))
def test_the_rarest_words_find_the_same_as_comparing_with_every_record(texts, asked, least):
    index = index_of(texts)
    index.remove("m1")
    every = {
        f"m{number}": shared(asked, words)
        for number, words in enumerate(texts)
        if number % 5 != 4 and number % 4 != 3 and number != 1
    }
    expected = {ref: share for ref, share in every.items() if share >= least}
    assert alike(index, asked, least, kind="memory", scope="universal") == pytest.approx(expected)


def memories(ctx: ContextMiddleware, n: int) -> None:
    for number in range(n):
        ctx.remember(f"Crate {number} holds brass gear number {number}.")


@pytest.mark.parametrize("since", [0, 5, 150])
@pytest.mark.parametrize("searched", [False, True])
def test_a_near_memory_is_linked_whatever_is_at_hand(searched: bool, since: int) -> None:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        first = ctx.remember("Deploy the shop on Monday mornings.")
        if searched:
            ctx.search("deploy")
        with ctx.store.atomic("local"):
            memories(ctx, since)
        nearer = ctx.remember("Deploy the big shop on Monday morning.")
        assert nearer.near == (first.ref,)
        last = ctx.remember("Deploy the big shop Monday mornings!", key="deploy")
        assert last.near == (nearer.ref, first.ref)


def test_what_changed_since_the_index_was_used_counts_as_it_is_now() -> None:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        moved = ctx.remember("Deploy the shop on Monday mornings.", key="deploy")
        gone = ctx.remember("Deploy the shop on a Monday, every morning.")
        ctx.search("deploy")
        ctx.edit(moved.ref, "Water the plants at noon.")
        ctx.forget(gone.ref)
        assert ctx.remember("Deploy the shop Monday morning.").near == ()

from __future__ import annotations

from dataclasses import asdict

import pytest

from ctxmw import ContextMiddleware
from ctxmw.search.ranking.candidates import least
from ctxmw.search.ranking.weights import RankWeights, reads_sentences, weights_for
from ctxmw.testing import HashEmbedder


def test_without_an_embedder_the_defaults_hold():
    assert weights_for("") == RankWeights()


@pytest.mark.parametrize("name", ["wordllama:l2_supercat:256", "hash:8"])
def test_beside_word_vectors_related_words_count_less(name):
    assert weights_for(name).related < RankWeights().related
    assert weights_for(name).dense == RankWeights().dense


@pytest.mark.parametrize("name", ["minilm:all-MiniLM-L6-v2:int8:384", "OpenAIEmbeddings:small"])
def test_what_reads_sentences_is_believed_more(name):
    assert weights_for(name).dense > RankWeights().dense


def test_of_what_reads_sentences_only_nearness_by_meaning_differs():
    plain, other = asdict(RankWeights()), asdict(weights_for("OpenAIEmbeddings:small"))
    assert {key for key in plain if plain[key] != other[key]} == {"dense", "dense_near"}


def test_a_search_takes_those_of_its_embedder():
    class Sentences(HashEmbedder):
        def __init__(self) -> None:
            super().__init__(64)
            self.name = "sentences"

    gave = {}
    for embedder in (HashEmbedder(64), Sentences()):
        with ContextMiddleware.open(":memory:", embedder=embedder, deadline=None) as ctx:
            ctx.remember("The courier leaves at four.")
            (hit,) = ctx.search("courier")
            gave[embedder.name] = dict(one.rsplit(" ", 1) for one in hit.why.split(", "))
    assert float(gave["sentences"]["dense"]) > float(gave["hash:64"].get("dense", 0))


@pytest.mark.parametrize("appetite", ["lean", "balanced"])
def test_the_stop_makes_up_for_ranks_that_lie_further_apart(appetite):
    assert least(appetite, by_sentences=True) < least(appetite, by_sentences=False)
    assert reads_sentences("minilm:x")
    assert not reads_sentences("wordllama:x")
    assert not reads_sentences("")

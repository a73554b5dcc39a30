"""Search by meaning joins search by words, and goes on without when it fails."""

from __future__ import annotations

import logging

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.testing import HashEmbedder

ASKED = [{"role": "user", "content": "What are gears made of?"}]


class Twins:
    """Knows that a feline is a cat; everything else is far from it."""

    name = "twins:1"

    def embed(self, texts):
        return [
            [1.0, 0.1] if {"cat", "feline"} & set(t.lower().split()) else [0.0, 1.0] for t in texts
        ]

    def embed_query(self, text):
        return self.embed([text])[0]


class Broken(Twins):
    name = "broken:1"

    def embed(self, texts):
        raise ConnectionError("no route to the model")


def test_what_shares_no_word_is_found_by_meaning():
    with ContextMiddleware.open(":memory:", embedder=Twins()) as ctx:
        ctx.remember("My cat sleeps all day", kind="fact")
        ctx.remember("Gears are made of brass", kind="fact")
        assert ctx.search("feline habits")[0].text == "My cat sleeps all day"
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.remember("My cat sleeps all day", kind="fact")
        assert ctx.search("feline habits") == []


def test_forgetting_reaches_the_vectors():
    with ContextMiddleware.open(":memory:", embedder=Twins()) as ctx:
        memory = ctx.remember("My cat sleeps all day", kind="fact")
        assert ctx.search("feline habits")
        ctx.forget(memory.ref)
        assert ctx.search("feline habits") == []


@pytest.mark.parametrize("index", ["numpy", "chroma"])
def test_both_indexes_find_the_same(tmp_path, index):
    with ContextMiddleware.open(tmp_path / "m.db", embedder=HashEmbedder(), index=index) as ctx:
        for number in range(20):
            ctx.remember(f"Gear number {number} is made of brass and tin", kind="fact")
        assert len(ctx.search("Which are made of brass and tin?")) == 10
        assert "number 7 " in ctx.search("gear number 7")[0].text


def test_when_the_embedder_fails_words_are_enough_and_the_record_says_so(caplog):
    with ContextMiddleware.open(":memory:", embedder=Broken()) as ctx:
        ctx.remember("Gears are made of brass", kind="fact", scope="project:shop")
        with caplog.at_level(logging.WARNING, logger="ctxmw"):
            assert ctx.search("gears")[0].text == "Gears are made of brass"
        assert "words alone" in caplog.text
        chat = ctx.session("s1")
        prepared = chat.prepare(ASKED)
        assert prepared.context.degraded.startswith("meaning: ")
        assert chat.forgiving().finish(prepared, "Brass.").state == "answered"
        assert chat.history()[-1].degraded.startswith("meaning: ")


def test_users_never_share_vectors():
    with ContextMiddleware.open(":memory:", user=None, embedder=Twins()) as ctx:
        ctx.remember("My cat sleeps all day", kind="fact", user="ada")
        assert ctx.search("feline habits", user="bob") == []
        assert ctx.search("feline habits", user="ada")


def test_reindex_needs_an_embedder_and_embeds_everything():
    with ContextMiddleware.open(":memory:") as ctx:
        with pytest.raises(InvalidValue, match="embedder"):
            ctx.reindex()
    with ContextMiddleware.open(":memory:", embedder=HashEmbedder()) as ctx:
        for number in range(5):
            ctx.remember(f"Gear {number}", kind="fact")
        told = []
        assert ctx.reindex(progress=lambda done, total: told.append((done, total))) == 5
        assert told[-1] == (5, 5)


@pytest.mark.parametrize(("options", "names"), [
    ({"embedder": 7}, "embedder"), ({"embedder": HashEmbedder(), "index": "faiss"}, "faiss"),
])  # fmt: skip
def test_a_wrong_embedder_or_index_is_named(options, names):
    with pytest.raises(InvalidValue, match=names):
        ContextMiddleware.open(":memory:", **options)

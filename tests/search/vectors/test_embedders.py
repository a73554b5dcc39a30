from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from ctxmw.errors import InvalidValue, MissingPackage
from ctxmw.protocols import Embedder
from ctxmw.search.vectors.embedders import as_embedder, embedder_at
from ctxmw.testing import HashEmbedder
from tests.support.strategies import texts

TEXTS = ["We drink tea.", "The tests are green.", "We drink green tea."]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def assert_embeds(embedder: Embedder, size: int) -> None:
    assert [len(vector) for vector in embedder.embed(TEXTS)] == [size] * len(TEXTS)
    assert list(embedder.embed([])) == []
    assert len(embedder.embed_query("What do we drink?")) == size
    assert all(isinstance(float(number), float) for number in embedder.embed_query("tea"))


MINE = HashEmbedder(8)


def make() -> HashEmbedder:
    return HashEmbedder(16)


class TestSpec:
    @pytest.mark.parametrize(
        ("attribute", "name"),
        [("MINE", "hash:8"), ("make", "hash:16"), ("HashEmbedder", "hash:256")],
    )
    def test_names_an_embedder_or_what_makes_one(self, attribute: str, name: str) -> None:
        assert embedder_at(f"tests.search.vectors.test_embedders:{attribute}").name == name

    def test_without_a_colon_it_is_a_name_we_know(self) -> None:
        assert embedder_at("wordllama").name.startswith("wordllama")

    @pytest.mark.parametrize(
        "spec",
        [
            "nowhere.at_all:x",
            "tests.search.vectors.test_embedders:nothing",
            ":x",
            "json:dumps.",
            "a b:c",
        ],
    )
    def test_what_is_not_there_is_named(self, spec: str) -> None:
        with pytest.raises(InvalidValue, match="there is none"):
            embedder_at(spec)

    def test_settings_of_a_project_cannot_run_its_code(self) -> None:
        with pytest.raises(InvalidValue, match="Allowed"):
            as_embedder("tests.search.vectors.test_embedders:MINE")


class TestOurs:
    def test_is_taken_as_it_is(self) -> None:
        ours = HashEmbedder()
        assert as_embedder(ours) is ours

    @pytest.mark.parametrize("name", ["", None, 3])
    def test_needs_a_name(self, name: Any) -> None:
        ours = HashEmbedder()
        ours.name = name
        with pytest.raises(InvalidValue, match="HashEmbedder has the name"):
            as_embedder(ours)


class TestLangChain:
    def test_embeddings(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding

        given = DeterministicFakeEmbedding(size=12)
        embedder = as_embedder(given)
        assert_embeds(embedder, 12)
        assert embedder.embed(TEXTS) == given.embed_documents(TEXTS)
        assert embedder.embed_query("tea") == given.embed_query("tea")

    def test_the_name_tells_class_and_size(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding, FakeEmbeddings

        names = {as_embedder(FakeEmbeddings(size=size)).name for size in (8, 8, 9)}
        assert names == {"FakeEmbeddings:8", "FakeEmbeddings:9"}
        assert as_embedder(DeterministicFakeEmbedding(size=8)).name not in names

    def test_the_name_tells_the_model(self) -> None:
        from langchain_openai import OpenAIEmbeddings

        small, large, short = (
            as_embedder(OpenAIEmbeddings(api_key="no key", model=model, dimensions=dimensions))
            for model, dimensions in (("small", None), ("large", None), ("large", 256))
        )
        assert small.name == "OpenAIEmbeddings:small"
        assert large.name == "OpenAIEmbeddings:large"
        assert short.name == "OpenAIEmbeddings:large:256"

    def test_a_cache_has_the_name_of_its_model(self) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding

        class Cached(DeterministicFakeEmbedding):
            underlying_embeddings: Any

        cached = Cached(size=3, underlying_embeddings=DeterministicFakeEmbedding(size=8))
        assert as_embedder(cached).name == "DeterministicFakeEmbedding:8"


class TestLlamaIndex:
    def test_base_embedding(self) -> None:
        from llama_index.core import MockEmbedding

        assert_embeds(as_embedder(MockEmbedding(embed_dim=7)), 7)

    def test_the_name_tells_class_model_and_size(self) -> None:
        from llama_index.core import MockEmbedding

        assert as_embedder(MockEmbedding(embed_dim=7)).name == "MockEmbedding:7"
        named = MockEmbedding(embed_dim=7, model_name="tiny")
        assert as_embedder(named).name == "MockEmbedding:tiny:7"


class TestChroma:
    def test_embedding_function(self) -> None:
        from chromadb import EmbeddingFunction

        class Lengths(EmbeddingFunction[Any]):
            def __init__(self, model_name: str) -> None:
                self._model = model_name

            def __call__(self, input: Any) -> Any:  # noqa: A002
                return [[float(len(text)), 1.0, 2.0] for text in input]

            def embed_query(self, input: Any) -> Any:  # noqa: A002
                return [[0.0, float(len(text)), 2.0] for text in input]

            @staticmethod
            def name() -> str:
                return "lengths"

            def get_config(self) -> dict[str, Any]:
                return {"model_name": self._model}

        embedder = as_embedder(Lengths("v2"))
        assert_embeds(embedder, 3)
        assert embedder.name == "lengths:v2"
        assert list(embedder.embed(["tea"])[0]) == [3.0, 1.0, 2.0]
        assert list(embedder.embed_query("tea")) == [0.0, 3.0, 2.0]

    @pytest.mark.filterwarnings("ignore:The class Old:DeprecationWarning")
    def test_one_that_says_nothing_about_itself(self) -> None:
        from chromadb import EmbeddingFunction

        class Old(EmbeddingFunction[Any]):
            def __call__(self, input: Any) -> Any:  # noqa: A002
                return [[float(len(text)), 1.0] for text in input]

        embedder = as_embedder(Old())
        assert_embeds(embedder, 2)
        assert embedder.name.endswith("Old")

    def test_chromas_own_default_is_known_without_being_asked(self) -> None:
        """It would download its model when it is asked for a vector."""
        from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

        assert as_embedder(DefaultEmbeddingFunction()).name == "default"

    def test_a_callable_with_a_name(self) -> None:
        class Plain:
            name = "plain"

            def __call__(self, texts: list[str]) -> list[list[float]]:
                return [[1.0, float(len(text))] for text in texts]

        assert_embeds(as_embedder(Plain()), 2)
        assert as_embedder(Plain()).name == "plain"


class TestWordllama:
    def test_is_loaded_from_its_package(self) -> None:
        pytest.importorskip("wordllama", reason="wordllama is not installed")
        embedder = as_embedder("wordllama")
        assert_embeds(embedder, 256)
        assert embedder.name == "wordllama:l2_supercat:256"
        near, far = embedder.embed(["A kitten sleeps.", "The invoice is due."])
        asked = embedder.embed_query("Where is the cat?")
        assert cosine(asked, near) > cosine(asked, far)

    def test_the_install_line_is_told_when_it_is_missing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "wordllama", None)
        with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[wordllama\]"'):
            as_embedder("wordllama")


class TestRefused:
    @pytest.mark.parametrize("given", [None, "", "openai", 3, object(), len, HashEmbedder])
    def test_what_is_no_embedder(self, given: object) -> None:
        with pytest.raises(InvalidValue, match=r"LangChain Embeddings.*wordllama"):
            as_embedder(given)


class TestHashEmbedder:
    def test_texts_that_share_words_are_near(self) -> None:
        embedder = HashEmbedder()
        drink, tests, both = embedder.embed(TEXTS)
        asked = embedder.embed_query("drink tea")
        assert cosine(asked, drink) > cosine(asked, both) > cosine(asked, tests)

    def test_is_the_same_in_every_process(self) -> None:
        code = "from ctxmw.testing import HashEmbedder; print(HashEmbedder(9).embed_query('a b c'))"
        said = {
            subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                env={"PYTHONHASHSEED": seed},
            ).stdout.strip()
            for seed in ("1", "2")
        }
        assert said == {str(HashEmbedder(9).embed_query("a b c"))}

    def test_the_name_tells_the_size(self) -> None:
        assert HashEmbedder().name != HashEmbedder(64).name

    def test_a_text_without_words_gives_zeros(self) -> None:
        assert HashEmbedder(4).embed_query("...") == [0.0] * 4

    @pytest.mark.parametrize("size", [0, -1, 2.5, "8"])
    def test_a_size_that_makes_no_sense_is_refused(self, size: Any) -> None:
        with pytest.raises(InvalidValue, match="size"):
            HashEmbedder(size)

    @given(text=texts)
    def test_no_text_raises(self, text: str) -> None:
        assert len(HashEmbedder(8).embed_query(text)) == 8

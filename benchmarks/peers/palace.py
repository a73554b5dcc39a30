"""MemPalace: verbatim drawers in Chroma, found by vectors and by words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .embedding import model
from .systems import GENEROUS, Recalled, line_of, packed


class MemPalace:
    """A palace with one drawer for each turn, searched as its tools search it."""

    def __init__(self, folder: Path, embedder: str) -> None:
        # Else it keeps its settings in the home of whoever runs this.
        os.environ |= {"MEMPALACE_CONFIG_DIR": str(folder)}
        import mempalace.embedding
        from mempalace.palace import get_collection

        # Its own models are fetched at first use; it takes any function of Chroma's shape.
        mempalace.embedding.get_embedding_function = lambda *_, **__: Shared(embedder)
        self._path = str(folder / "palace")
        self._drawers = get_collection(self._path)

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        for at in range(0, len(items), 500):
            some = items[at : at + 500]
            where = {"wing": "talk", "room": "turns", "source_file": "talk"}
            self._drawers.upsert(
                ids=[item["id"] for item in some],
                documents=[line_of(item) for item in some],
                metadatas=[{**where, "chunk_index": at + n} for n in range(len(some))],
            )

    def recall(self, query: str, budget: int) -> Recalled:
        from mempalace.searcher import search_memories

        found = search_memories(query, self._path, n_results=GENEROUS)
        return packed([(hit["drawer_id"], hit["text"]) for hit in found["results"]], budget)

    def close(self) -> None:
        pass


class Shared:
    """The shared embedder, as Chroma wants it."""

    def __init__(self, embedder: str) -> None:
        self._embed = model(embedder)

    @staticmethod
    def name() -> str:
        return "shared"

    def __call__(self, input: Sequence[str]) -> list[list[float]]:  # noqa: A002 - Chroma's name
        return [[float(value) for value in row] for row in self._embed(list(input))]

    embed_query = __call__

    def is_legacy(self) -> bool:
        return False

    def default_space(self) -> str:
        return "cosine"

    def supported_spaces(self) -> list[str]:
        return ["cosine"]

    def get_config(self) -> dict[str, Any]:
        return {}

"""Peers that answer a query with a ranked list."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .embedding import as_langchain, dimensions, model
from .systems import GENEROUS, Recalled, line_of, packed


class PlainFts5:
    """SQLite's full-text search as most people use it: porter stems, any word, by bm25()."""

    def __init__(self, folder: Path, _: str) -> None:
        self._db = sqlite3.connect(folder / "fts.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            "CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, text, tokenize='porter unicode61')"
        )

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        rows = [(item["id"], line_of(item)) for item in items]
        self._db.executemany("INSERT INTO turns VALUES (?, ?)", rows)
        self._db.execute("COMMIT")

    def recall(self, query: str, budget: int) -> Recalled:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query)[:64])
        found = self._db.execute(
            "SELECT id, text FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT ?",
            (words, GENEROUS),
        )
        return packed(found, budget)

    def close(self) -> None:
        self._db.close()


class ChromaAlone:
    """One collection, cosine, the texts and their ids."""

    def __init__(self, folder: Path, embedder: str) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        self._turns = self._client.create_collection(
            "turns", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )
        self._embed = model(embedder)
        self._size = 0

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        for at in range(0, len(items), 5_000):
            some = items[at : at + 5_000]
            texts = [line_of(item) for item in some]
            ids = [item["id"] for item in some]
            self._turns.add(ids=ids, documents=texts, embeddings=self._embed(texts))
        self._size += len(items)

    def recall(self, query: str, budget: int) -> Recalled:
        n = min(GENEROUS, self._size)
        asked = self._embed([query])
        found = self._turns.query(query_embeddings=asked, n_results=n, include=["documents"])
        documents = found["documents"]
        assert documents is not None
        return packed(zip(found["ids"][0], documents[0], strict=True), budget)

    def close(self) -> None:
        self._client.delete_collection("turns")


class Mem0:
    """mem0's open source memory: its default vector store (Qdrant, in a folder), infer=False."""

    def __init__(self, folder: Path, embedder: str) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
        # Its constructor makes an OpenAI client even where no model is ever called.
        os.environ.setdefault("OPENAI_API_KEY", "none")
        from mem0 import Memory

        size = dimensions(embedder)
        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": size}
        shared = {"model": as_langchain(embedder), "embedding_dims": size}
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": shared},
                "vector_store": {"provider": "qdrant", "config": {"collection_name": "c", **store}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        for item in items:
            self._memory.add(
                [{"role": "user", "content": line_of(item)}],
                user_id="u",
                infer=False,
                metadata={"item": item["id"]},
            )

    def recall(self, query: str, budget: int) -> Recalled:
        answer = self._memory.search(query, filters={"user_id": "u"}, top_k=GENEROUS, threshold=0.0)
        found = [(hit["metadata"]["item"], hit["memory"]) for hit in answer["results"]]
        return packed(found, budget)

    def close(self) -> None:
        for store in (self._memory.vector_store, getattr(self._memory, "entity_store", None)):
            if store is not None and hasattr(store, "client"):
                store.client.close()


class LangGraphStore:
    """LangGraph's in-memory store with an index; its SQLite store needs loadable extensions."""

    def __init__(self, _: Path, embedder: str) -> None:
        from langgraph.store.memory import InMemoryStore

        index = {"dims": dimensions(embedder), "embed": as_langchain(embedder), "fields": ["text"]}
        self._store = InMemoryStore(index=index)  # type: ignore[arg-type]

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        # One by one: a batch in which two texts are equal raises.
        for item in items:
            self._store.put(("u",), item["id"], {"text": line_of(item)})

    def recall(self, query: str, budget: int) -> Recalled:
        found = self._store.search(("u",), query=query, limit=GENEROUS)
        return packed([(hit.key, hit.value["text"]) for hit in found], budget)

    def close(self) -> None:
        pass

"""LlamaIndex's Memory with its vector block: what its documentation shows for long-term memory."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .embedding import as_llamaindex
from .systems import Recalled, line_of, packed


class VectorMemory:
    """A VectorMemoryBlock over Chroma, one turn a node; `top_k` None leaves its default (2).

    The block has no token budget of its own: the messages it brings are taken while they fit.
    """

    def __init__(self, folder: Path, embedder: str, *, top_k: int | None) -> None:
        import chromadb
        from llama_index.core.memory import VectorMemoryBlock
        from llama_index.vector_stores.chroma import ChromaVectorStore

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
        turns = self._client.create_collection("turns", metadata={"hnsw:space": "cosine"})
        options = {} if top_k is None else {"similarity_top_k": top_k}
        self._block = VectorMemoryBlock(
            vector_store=ChromaVectorStore(chroma_collection=turns),
            embed_model=as_llamaindex(embedder),
            **options,
        )
        self._ids: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        self._loop.run_until_complete(self._put(items))

    def recall(self, query: str, budget: int) -> Recalled:
        from llama_index.core.base.llms.types import ChatMessage

        asked = [ChatMessage(role="user", content=query)]
        text = self._loop.run_until_complete(self._block.aget(asked, session_id="u"))
        said = re.findall(r"<message role='user'>(.*?)</message>", str(text or ""), re.DOTALL)
        return packed([(self._ids[line], line) for line in said if line in self._ids], budget)

    def close(self) -> None:
        self._loop.close()
        self._client.delete_collection("turns")

    async def _put(self, items: Sequence[dict[str, Any]]) -> None:
        from llama_index.core.base.llms.types import ChatMessage

        for item in items:
            self._ids[line_of(item)] = item["id"]
            message = ChatMessage(role="user", content=line_of(item))
            await self._block.aput([message], from_short_term_memory=True, session_id="u")

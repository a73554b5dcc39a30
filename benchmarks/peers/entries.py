"""Who takes part, each in its best documented setting."""

from __future__ import annotations

from functools import partial

from .lists import ChromaAlone, LangGraphStore, Mem0, PlainFts5
from .llamaindex_memory import VectorMemory
from .ours import Ours
from .palace import MemPalace
from .systems import GENEROUS, Entry

ENTRIES = (
    Entry(
        name="ctxmw",
        make=lambda folder, _: Ours(folder, None),
        setting="as it comes: SQLite, no embedder",
    ),
    Entry(
        name="ctxmw + embedder",
        make=Ours,
        setting="the shared embedder, vectors in numpy",
        needs=("langchain_core",),
    ),
    Entry(name="FTS5", make=PlainFts5, setting="porter stems, any word, bm25()"),
    Entry(
        name="Chroma",
        make=ChromaAlone,
        needs=("chromadb",),
        setting=f"one collection, cosine, {GENEROUS} hits",
        most=10_000,
    ),
    Entry(
        name="LlamaIndex Memory",
        make=partial(VectorMemory, top_k=None),
        needs=("llama_index.core", "llama_index.vector_stores.chroma"),
        setting="VectorMemoryBlock on Chroma, default top_k (2)",
        most=1_000,
    ),
    Entry(
        name="LlamaIndex Memory, k=60",
        make=partial(VectorMemory, top_k=60),
        needs=("llama_index.core", "llama_index.vector_stores.chroma"),
        setting="VectorMemoryBlock on Chroma, top_k 60",
        most=1_000,
    ),
    Entry(
        name="mem0",
        make=Mem0,
        needs=("mem0", "langchain_core"),
        setting=f"infer=False, Qdrant in a folder, {GENEROUS} hits, no threshold",
        most=10_000,
    ),
    Entry(
        name="LangGraph store",
        make=LangGraphStore,
        needs=("langgraph.store.memory",),
        setting=f"InMemoryStore with an index, {GENEROUS} hits",
        most=10_000,
    ),
    Entry(
        name="MemPalace",
        make=MemPalace,
        needs=("mempalace",),
        setting=f"a drawer for each turn, its hybrid search, {GENEROUS} hits",
        most=1_000,
    ),
)

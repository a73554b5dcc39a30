"""ctxmw, by its public API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.retrieval import ENCODING, ask, ingest, said_at
from ctxmw import ContextMiddleware

from .embedding import as_langchain
from .systems import Recalled


class Ours:
    """The embedded default: SQLite, no LLM; with the shared embedder when asked."""

    def __init__(self, folder: Path, embedder: str | None) -> None:
        self._now = None
        # Quality is measured, so nothing is cut short on a busy machine.
        options: dict[str, Any] = {"deadline": None}
        if embedder:
            options["embedder"] = as_langchain(embedder)
        path = folder / "memory.db"
        self._ctx = ContextMiddleware.open(path, model=ENCODING, clock=self._clock, **options)

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        latest = max(map(said_at, items))
        self._now = latest if self._now is None else max(self._now, latest)
        ingest(self._ctx, list(items))

    def recall(self, query: str, budget: int) -> Recalled:
        text, ids = ask(self._ctx, query, budget, "search")
        return Recalled(text, frozenset(ids))

    def close(self) -> None:
        self._ctx.close()

    def _clock(self) -> Any:
        from ctxmw.values.records import utc_now

        # Questions are asked an hour after the last thing was said.
        return utc_now() if self._now is None else self._now + timedelta(hours=1)

"""Memories of others: mem0, LangGraph's stores, LangMem, and collections of Chroma."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ...errors import InvalidValue, MissingPackage
from ...text.cleaning import storable
from ...values.items import Trust
from .files import file_in, json_in, list_in
from .values import (
    ArrivingMemory,
    entries_in,
    id_in,
    plain_metadata,
    table_in,
    text_in,
    time_of,
)

_PAGE = 1000
_TEXTS = ("memory", "text", "content", "data")
"""Where mem0 keeps what it remembered, by its version."""


def from_mem0(path: Path) -> Iterator[ArrivingMemory]:
    """Yield what `Memory.get_all()` returned, or an export of the platform, as JSON."""
    file = file_in(path, ("mem0.json", "memories.json", "export.json"))
    for at, one in enumerate(list_in(json_in(file), ("results", "memories"), file)):
        told = [name for name in _TEXTS if isinstance(one, dict) and name in one]
        if not told:
            raise InvalidValue(
                f"{file} is no export of mem0: entry {at} has no {' or '.join(_TEXTS)}. "
                "Nothing was imported."
            )
        text = next(filter(None, (text_in(one[name]) for name in told)), "")
        if not text:
            continue
        about = {name: one.get(name) for name in ("agent_id", "run_id") if one.get(name)}
        yield ArrivingMemory(
            id=id_in(one.get("id")) or storable(text),
            text=text,
            at=time_of(one.get("created_at")) or time_of(one.get("updated_at")),
            owner=str(one.get("user_id") or ""),
            metadata=plain_metadata({**table_in(one.get("metadata")), **about}),
        )


def from_langgraph(path: Path) -> Iterator[ArrivingMemory]:
    """Yield the items of a store: its SQLite file, or `item.dict()` of each as JSON."""
    yield from _items(path, "untrusted")


def from_langmem(path: Path) -> Iterator[ArrivingMemory]:
    """Yield what LangMem's tools left in a store; as `from_langgraph`."""
    yield from _items(path, "trusted")


def _items(path: Path, trust: Trust) -> Iterator[ArrivingMemory]:
    file = file_in(path, ("store.db", "store.sqlite", "store.json", "store.jsonl"))
    for namespace, key, value, created, updated in _stored(file):
        if text := text_in(value):
            place = ".".join(namespace)
            yield ArrivingMemory(
                id=id_in(f"{place}/{key}"),
                text=text,
                at=time_of(updated) or time_of(created),
                metadata={"namespace": place, "key": str(key)},
                trust=trust,
            )


def _stored(file: Path) -> Iterator[tuple[list[str], str, Any, Any, Any]]:
    if _is_sqlite(file):
        import json

        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            try:
                rows = database.execute(
                    "SELECT prefix, key, value, created_at, updated_at FROM store"
                )
            except sqlite3.DatabaseError as error:
                raise InvalidValue(f"{file} is no store of LangGraph: {error}.") from error
            for prefix, key, value, created, updated in rows:
                yield prefix.split("."), key, json.loads(value), created, updated
        return
    for at, one in enumerate(list_in(json_in(file), ("items", "results"), file)):
        if not isinstance(one, dict) or not {"key", "value"} <= one.keys():
            raise InvalidValue(
                f"{file} is no list of a store's items: entry {at} has no key and value. "
                "Nothing was imported."
            )
        namespace = one.get("namespace") or one.get("prefix")
        parts = namespace.split(".") if isinstance(namespace, str) else entries_in(namespace)
        names = list(map(str, parts))
        yield names, str(one["key"]), one["value"], one.get("created_at"), one.get("updated_at")


def _is_sqlite(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(15) == b"SQLite format 3"
    except OSError as error:
        raise InvalidValue(f"{file} cannot be read: {error}.") from error


def from_chroma(path: Path) -> Iterator[ArrivingMemory]:
    """Yield the documents of every collection in the folder of a `PersistentClient`."""
    if not (path / "chroma.sqlite3").exists():
        raise InvalidValue(f"{path} has no chroma.sqlite3: give the folder of a PersistentClient.")
    try:
        import chromadb
    except ImportError as error:
        raise MissingPackage('Chroma is not installed: pip install "ctxmw[chroma]"') from error
    from chromadb.config import Settings as ChromaSettings

    settings = ChromaSettings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(path), settings=settings)
    for listed_one in client.list_collections():
        collection = client.get_collection(listed_one.name, embedding_function=None)
        for start in range(0, collection.count(), _PAGE):
            page = collection.get(limit=_PAGE, offset=start, include=["documents", "metadatas"])
            documents, metadatas = page["documents"] or [], page["metadatas"] or []
            for id_, text, about in zip(page["ids"], documents, metadatas, strict=True):
                if text and text.strip():
                    yield ArrivingMemory(
                        id=f"{collection.name}/{id_}",
                        text=text.strip(),
                        at=_time_among(about),
                        owner=str((about or {}).get("user_id") or ""),
                        metadata={**plain_metadata(about), "collection": collection.name},
                        trust="untrusted",
                    )


def _time_among(about: Any) -> Any:
    names = ("created_at", "timestamp", "date", "updated_at")
    return next((at for name in names if (at := time_of((about or {}).get(name)))), None)

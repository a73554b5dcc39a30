"""Conversations of others: exports of ChatGPT and Claude, and what LlamaIndex has stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import InvalidValue
from ...text.cleaning import digest
from ...values.messages import Message
from .files import file_in, json_in, list_in
from .values import (
    Arrival,
    ArrivingChat,
    ArrivingMemory,
    entries_in,
    id_in,
    plain_metadata,
    table_in,
    text_in,
    time_of,
)

_ROLES = {"user": "user", "human": "user", "assistant": "assistant"}


def from_chatgpt(path: Path) -> Iterator[Arrival]:
    """Yield the conversations of an export's conversations.json, each as it was last in view."""
    file = file_in(path, ("conversations.json",))
    for one in list_in(json_in(file), ("conversations",), file):
        mapping = one.get("mapping") if isinstance(one, dict) else None
        if not isinstance(mapping, dict):
            raise InvalidValue(f"{file} is no export of ChatGPT: a conversation has no mapping.")
        shown = _branch(mapping, one.get("current_node"))
        id_ = one.get("conversation_id") or one.get("id")
        yield _chat(id_, one.get("title"), filter(None, map(_chatgpt, shown)))


def _branch(mapping: Mapping[str, Any], last: Any) -> list[Any]:
    """Return the messages from the first to the last that was shown: others were rewritten."""
    found: list[Any] = []
    seen: set[str] = set()
    at: Any = (
        last if isinstance(last, str) and last in mapping else next(reversed(list(mapping)), None)
    )
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        node = table_in(mapping[at])
        found.append(node.get("message"))
        at = node.get("parent")
    return found[::-1]


def _chatgpt(message: Any) -> Message | None:
    if not isinstance(message, dict):
        return None
    parts = entries_in(table_in(message.get("content")).get("parts"))
    said = "\n".join(part for part in parts if isinstance(part, str))
    role = table_in(message.get("author")).get("role")
    hidden = table_in(message.get("metadata")).get("is_visually_hidden_from_conversation")
    return None if hidden else _message(role, said, message.get("id"), message.get("create_time"))


def from_claude(path: Path) -> Iterator[Arrival]:
    """Yield the conversations of an export's conversations.json."""
    file = file_in(path, ("conversations.json",))
    for one in list_in(json_in(file), ("conversations",), file):
        said = one.get("chat_messages") if isinstance(one, dict) else None
        if not isinstance(said, list):
            raise InvalidValue(f"{file} is no export of Claude: a chat has no chat_messages.")
        yield _chat(one.get("uuid"), one.get("name"), filter(None, map(_claude, said)))


def _claude(message: Any) -> Message | None:
    if not isinstance(message, dict):
        return None
    blocks = [one for one in entries_in(message.get("content")) if isinstance(one, dict)]
    texts = [str(one.get("text") or "") for one in blocks if one.get("type") == "text"]
    said = "\n".join(filter(None, texts)) or str(message.get("text") or "")
    return _message(message.get("sender"), said, message.get("uuid"), message.get("created_at"))


def from_llamaindex(path: Path) -> Iterator[Arrival]:
    """Yield what a persisted chat store or document store holds, or a folder with both."""
    names = ("chat_store.json", "docstore.json")
    files = [path / name for name in names if (path / name).exists()] if path.is_dir() else [path]
    if not files:
        raise InvalidValue(f"{path} has none of {', '.join(names)}: name the file, or its folder.")
    for file in files:
        held = json_in(file)
        if isinstance(held, dict) and isinstance(held.get("store"), dict):
            yield from _chats(held["store"])
        elif isinstance(held, dict) and isinstance(held.get("docstore/data"), dict):
            yield from _documents(held["docstore/data"])
        else:
            raise InvalidValue(f"{file} is neither a chat store nor a document store.")


def _chats(store: Mapping[str, Any]) -> Iterator[ArrivingChat]:
    for key, said in store.items():
        if not isinstance(said, list):
            raise InvalidValue(f"a chat store has {said!r:.60} under {key!r:.60}: give messages.")
        messages = [_llamaindex(one, f"{key}/{at}") for at, one in enumerate(said)]
        yield ArrivingChat(id=id_in(key), messages=tuple(filter(None, messages)))


def _llamaindex(message: Any, id_: str) -> Message | None:
    if not isinstance(message, dict):
        return None
    blocks = [one for one in entries_in(message.get("blocks")) if isinstance(one, dict)]
    said = "\n".join(str(one.get("text") or "") for one in blocks) or str(
        message.get("content") or ""
    )
    more = table_in(message.get("additional_kwargs"))
    return _message(message.get("role"), said, more.get("id") or id_, more.get("timestamp"))


def _documents(held: Mapping[str, Any]) -> Iterator[ArrivingMemory]:
    for key, one in held.items():
        data = one.get("__data__", one) if isinstance(one, dict) else {}
        if text := text_in(data.get("text")) or text_in(data.get("text_resource")):
            about = plain_metadata(data.get("metadata"))
            at = next(
                (t for n in ("created_at", "creation_date") if (t := time_of(about.get(n)))), None
            )
            yield ArrivingMemory(id=id_in(key), text=text, at=at, metadata=about, trust="untrusted")


def _chat(id_: Any, title: Any, messages: Iterable[Message]) -> ArrivingChat:
    said = tuple(messages)
    # One without an id is known by how it began; else all of them would be one conversation.
    began = digest(str(title), *(str(one.get(name)) for one in said[:1] for name in one))[:24]
    return ArrivingChat(id=id_in(id_) or began, title=str(title or ""), messages=said)


def _message(role: Any, text: str, id_: Any, at: Any) -> Message | None:
    known = _ROLES.get(str(role))
    if known is None or not text.strip():
        return None
    message: dict[str, Any] = {"role": known, "content": text}
    if id_:
        message["id"] = id_in(id_)
    if (when := time_of(at)) is not None:
        message["at"] = when
    return message

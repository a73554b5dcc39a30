"""Keeps the chat histories of several conversations on one engine apart."""

from __future__ import annotations

import threading
from typing import Any, Self

from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.memory.types import BaseChatStoreMemory

from ctxmw import Session


class Histories:
    """An engine has one memory. The first conversation has it as it is, each other its own part.

    A memory of a class of your own, without a key for its messages, is one for all.
    """

    def __init__(self) -> None:
        self._first: tuple[str, str] | None = None
        self._lock = threading.Lock()

    def of(self, chat: Session, memory: BaseMemory) -> BaseMemory:
        """Return the memory of a conversation."""
        who = (chat.user, chat.id)
        with self._lock:
            self._first = self._first or who
        if who == self._first:
            return memory
        if isinstance(memory, Memory):
            return memory.model_copy(update={"session_id": f"{memory.session_id}/{who!r}"})
        if isinstance(memory, BaseChatStoreMemory):
            return memory.model_copy(update={"chat_store_key": f"{memory.chat_store_key}/{who!r}"})
        return memory

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

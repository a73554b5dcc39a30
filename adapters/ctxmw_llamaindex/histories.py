"""Keeps the chat histories of several conversations on one engine apart.

An engine has one memory, and knows nothing of users. Whose messages it holds already cannot be
seen in it, so only a wrapper's own conversation has it as it is; every other one has a part of the
same store, under a key made of its user and its id.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from llama_index.core.memory import BaseMemory, FactExtractionMemoryBlock, Memory

from ctxmw import InvalidValue, MissingUser, Session

from .binding import Binding

if TYPE_CHECKING:
    from llama_index.core.chat_engine.types import BaseChatEngine

Who = tuple[str, str]
"""A user, and the id of a conversation."""
CLAIM = "_ctxmw_history_of"
"""Where an engine and its wrappers keep whose its own history is."""


def claim(engine: BaseChatEngine, binding: Binding) -> Who | None:
    """Return the conversation that goes on with the engine's own history, if any.

    It is the own one of the first wrapper: two of them must not read each other's messages. A
    memory of many users has none, as the messages may be anybody's; unless they have no key.
    """
    who = _own_conversation(binding)
    if who is None or not (_is_home(who, binding) or _key_name(_memory(engine)) is None):
        return vars(engine).get(CLAIM)
    # The engine is all that two wrappers of it have in common. setdefault is atomic.
    claimed: Who | None = vars(engine).setdefault(CLAIM, who)
    return claimed


def history_of(chat: Session, memory: BaseMemory, own: Who | None) -> BaseMemory:
    """Return the memory of a conversation."""
    who = (chat.user, chat.id)
    if who == own:
        return memory
    name = _key_name(memory)
    if name is None:
        kind = type(memory).__name__
        raise InvalidValue(
            f"{kind} cannot keep conversations apart, and {chat!r} is not the one that this engine "
            "was first wrapped for. Use Memory or ChatMemoryBuffer, or make an engine for each "
            "conversation: with_context(engine, ctx, session='...', user='...')."
        )
    # JSON, as a user or an id may have any separator in it.
    return memory.model_copy(update={name: f"{getattr(memory, name)}/{json.dumps(who)}"})


def _own_conversation(binding: Binding) -> Who | None:
    try:
        chat = binding.own_chat()
    except MissingUser:
        return None
    return chat.user, chat.id


def _is_home(who: Who, binding: Binding) -> bool:
    """Say whether it is a conversation of the one user whose memory it is."""
    try:
        return binding.ctx.session(who[1]).user == who[0]
    except MissingUser:
        return False


def _memory(engine: BaseChatEngine) -> BaseMemory:
    return cast("BaseMemory", vars(engine)["_memory"])


def _key_name(memory: BaseMemory) -> str | None:
    """Return the field with the key of the messages, where that is all that has to differ."""
    if isinstance(memory, Memory):
        # Its facts are in the block itself, whatever the key.
        facts = any(isinstance(one, FactExtractionMemoryBlock) for one in memory.memory_blocks)
        return None if facts else "session_id"
    return "chat_store_key" if "chat_store_key" in type(memory).model_fields else None

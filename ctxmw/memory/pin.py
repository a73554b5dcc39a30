"""Pinning a memory: in every conversation, in none unless asked for, or as it comes."""

from __future__ import annotations

from ..conversation.state import Pinning, pins_of, put_pin
from ..errors import InvalidValue
from ..store.journal import Journal
from ..values.records import Memory
from .versions import memory_at


def pin_memory(journal: Journal, user: str, ref: str, to: Pinning | None) -> Memory:
    """Pin a memory, keep it out, or neither; return it."""
    with journal.store.atomic(user):
        memory = memory_at(journal, user, ref)
        if memory.superseded_by:
            raise InvalidValue(
                f"memory {ref!r} was replaced by {memory.superseded_by!r}: pin that."
            )
        if to == "shown" and memory.trust == "untrusted":
            raise InvalidValue(
                f"memory {ref!r} is not trusted, and has no place in a system prompt: remember it "
                "yourself, and pin that."
            )
        put_pin(journal, user, ref, to)
        return memory


def pinned_as(journal: Journal, user: str) -> dict[str, Pinning]:
    """Return the refs that are pinned or kept out, of what was not forgotten."""
    own = pins_of(journal.store, user)
    if own is None:
        return {}
    kept: dict[str, Pinning] = dict.fromkeys(own.kept_out, "kept_out")
    pinned: dict[str, Pinning] = {**kept, **dict.fromkeys(own.shown, "shown")}
    there = {row.ref for row in journal.store.get(user, list(pinned))}
    return {ref: how for ref, how in pinned.items() if ref in there}

"""Takes in what comes from elsewhere, in batches: what was taken before is known, and passed over.

A run that was interrupted goes on where it stopped, since every batch is written as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InvalidValue
from ...protocols import Find
from ...store.journal import Journal
from ...store.rows import RowsDone
from ...text.cleaning import counted, digest
from ...text.periods import period_in
from ...text.secrets.redaction import redact
from ...values.argument_checks import checked_metadata
from ...values.messages import Message
from ...values.records import Memory
from .chats import from_chatgpt, from_claude, from_llamaindex
from .memories import from_chroma, from_langgraph, from_langmem, from_mem0
from .values import Arrival, ArrivingChat, ArrivingMemory

READERS: dict[str, Callable[[Path], Iterator[Arrival]]] = {
    "mem0": from_mem0,
    "langgraph": from_langgraph,
    "langmem": from_langmem,
    "chroma": from_chroma,
    "llamaindex": from_llamaindex,
    "chatgpt": from_chatgpt,
    "claude": from_claude,
}
"""By the name of where it comes from."""
BATCH = 2000
_SAMPLES = 5
_LONGEST = 20_000
Capture = Callable[[str, Sequence[Message]], int]
"""Stores what was said in a conversation; says how many turns were new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What was taken in, or would be."""

    memories: int = 0
    conversations: int = 0
    turns: int = 0
    known: int = 0
    """What was there already: memories, and conversations with nothing new."""
    samples: tuple[str, ...] = ()
    """The first texts."""

    def __str__(self) -> str:
        said = [
            counted(self.memories, "memory"),
            f"{counted(self.conversations, 'conversation')} with {counted(self.turns, 'turn')}",
        ]
        return f"{', '.join(said)}; {self.known} known already"


def arrivals_in(source: str, path: Path, of: str | None) -> list[Arrival]:
    """Return what a file or folder of others holds; of one owner, where it has several."""
    if source not in READERS:
        raise InvalidValue(f"source is {source!r:.60}: give one of {', '.join(READERS)}.")
    if not path.exists():
        raise InvalidValue(f"there is no {path}: give the file or folder to import.")
    found = list(READERS[source](path))
    if of is not None:
        found = [one for one in found if one.owner == of]
    owners = sorted({one.owner for one in found})
    if len(owners) > 1:
        named = ", ".join(repr(owner) for owner in owners[:8])
        raise InvalidValue(
            f"{path} holds what belongs to several users ({named}): say whose to take, one by one. "
            "Nothing was imported."
        )
    return found


def take_in(
    journal: Journal,
    user: str,
    source: str,
    found: Iterable[Arrival],
    capture: Capture | None,
    *,
    progress: RowsDone | None = None,
) -> TakenIn:
    """Take in what was found; without `capture` only tell what would be."""
    memories = [one for one in found if isinstance(one, ArrivingMemory)]
    chats = [one for one in found if isinstance(one, ArrivingChat) and one.messages]
    new, known = 0, 0
    for start in range(0, len(memories), BATCH):
        batch = memories[start : start + BATCH]
        with journal.store.atomic(user):
            fresh = _unknown(journal, user, source, batch)
            if capture is not None:
                journal.store.put([memory.row() for memory in fresh])
        new, known = new + len(fresh), known + len(batch) - len(fresh)
        if progress is not None:
            progress(new + known, len(memories) + len(chats))
    said: list[int] = []
    for one in chats:
        turns = capture(f"{source}:{one.id}", one.messages) if capture else len(one.messages)
        said.append(turns)
        if progress is not None:
            progress(len(memories) + len(said), len(memories) + len(chats))
    texts = [one.text for one in memories[:_SAMPLES]]
    texts += [one.title or str(one.messages[0]["content"]) for one in chats[:_SAMPLES]]
    return TakenIn(
        memories=new,
        conversations=sum(map(bool, said)),
        turns=sum(said),
        known=known + sum(not n for n in said),
        samples=tuple(texts[:_SAMPLES]),
    )


def _unknown(
    journal: Journal, user: str, source: str, batch: Sequence[ArrivingMemory]
) -> list[Memory]:
    """Return those that are not here: neither they nor others that say the same."""
    keys = {_key(source, one): one for one in batch}
    asked = Find(types=(Memory.type,), keys=tuple(keys), live=None)
    here = {row.key for row in journal.store.query(user, asked)}
    new_ref = journal.refs(user)
    made = [
        _memory(journal, source, one, user=user, key=key, ref=new_ref(Memory.prefix))
        for key, one in keys.items()
        if key not in here
    ]
    new = {memory.row().digest: memory for memory in reversed(made)}
    asked = Find(types=(Memory.type,), digests=tuple(new))
    said = {row.digest for row in journal.store.query(user, asked)} if new else set()
    return [memory for print_, memory in reversed(new.items()) if print_ not in said]


def _key(source: str, one: ArrivingMemory) -> str:
    # Made of where it comes from: what came before is known by it.
    return f"import:{source}:{digest(one.owner, one.id)[:24]}"


def _memory(journal: Journal, source: str, one: ArrivingMemory, **values: Any) -> Memory:
    at = one.at or journal.clock()
    told = period_in(one.text, at)
    return Memory(
        at=at,
        source=f"import:{source}",
        trust=one.trust,
        kind="fact",
        text=redact(one.text[:_LONGEST]).text,
        since=told.since,
        until=told.until,
        message_id=one.id,
        metadata=checked_metadata(one.metadata),
        **values,
    )

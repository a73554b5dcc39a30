"""Takes in what comes from elsewhere, in batches: what was taken before is known, and passed over.

A run that was interrupted goes on where it stopped, since every batch is written as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...conversation.state import gone_ref
from ...errors import InvalidValue
from ...protocols import Find, Row
from ...store.journal import Journal
from ...store.rows import RowsDone
from ...text.cleaning import counted, digest
from ...text.periods import period_in
from ...text.secrets.redaction import redact
from ...values.argument_checks import checked_metadata
from ...values.items import many_refs
from ...values.messages import Message
from ...values.records import Memory
from .chats import from_chatgpt, from_claude, from_llamaindex
from .memories import from_chroma, from_langgraph, from_langmem, from_mem0
from .values import ARRIVED, Arrival, ArrivingChat, ArrivingMemory, gone_arrival_ref

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
    forgotten: int = 0
    """Memories and conversations that were taken in before and forgotten: they stay away."""
    samples: tuple[str, ...] = ()
    """The first texts."""

    def __str__(self) -> str:
        said = [
            counted(self.memories, "memory"),
            f"{counted(self.conversations, 'conversation')} with {counted(self.turns, 'turn')}",
        ]
        left = [f"{self.known} known already"]
        left += [f"{self.forgotten} forgotten here and left out"] * bool(self.forgotten)
        return f"{', '.join(said)}; {', '.join(left)}"


def arrivals_in(source: str, path: Path, of: str | None) -> list[Arrival]:
    """Return what a file or folder of others holds; of one owner, where it has several."""
    if source not in READERS:
        raise InvalidValue(f"source is {source!r:.60}: give one of {', '.join(READERS)}.")
    if not path.exists():
        raise InvalidValue(f"there is no {path}: give the file or folder to import.")
    found = list(READERS[source](path))
    owners = sorted({one.owner for one in found})
    if of is not None:
        if of not in owners:
            named = ", ".join(map(repr, filter(None, owners[:8]))) or "nobody's by name"
            raise InvalidValue(f"{path} holds nothing of {of!r:.60}; it holds: {named}.")
        return [one for one in found if one.owner == of]
    if len(owners) > 1:
        named = ", ".join(repr(owner) for owner in owners[:8])
        raise InvalidValue(
            f"{path} holds what belongs to several users ({named}): say whose to take, one by one. "
            "Nothing was imported."
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """How arrivals are taken in."""

    capture: Capture | None
    """None: it is only told what would be."""
    again: bool = False
    """Also what was taken in before and forgotten since."""
    progress: RowsDone | None = None

    def told(self, done: int, total: int) -> None:
        """Say how far it is, to whoever wants to know."""
        if self.progress is not None:
            self.progress(done, total)


def take_in(
    journal: Journal, user: str, source: str, found: Iterable[Arrival], how: Taking
) -> TakenIn:
    """Take in what was found."""
    capture, again = how.capture, how.again
    memories = [one for one in found if isinstance(one, ArrivingMemory)]
    chats = [one for one in found if isinstance(one, ArrivingChat) and one.messages]
    total = len(memories) + len(chats)
    new, gone = 0, 0
    for start in range(0, len(memories), BATCH):
        batch = {_key(source, one): one for one in memories[start : start + BATCH]}
        with journal.store.atomic(user):
            left = _forgotten(journal, user, batch)
            gone += 0 if again else len(left)
            wanted = {key: one for key, one in batch.items() if again or key not in left}
            fresh = _unknown(journal, user, source, wanted)
            new += len(fresh)
            if capture is not None:
                journal.store.delete(user, sorted(left.values()) if again else [])
                journal.store.put(fresh)
        how.told(min(start + BATCH, len(memories)), total)
    ended = {gone_ref(_chat(source, one)) for one in chats}
    left_chats = {row.ref for row in journal.store.get(user, sorted(ended))}
    if capture is not None and again:
        journal.store.delete(user, sorted(left_chats))
    taken = [one for one in chats if again or gone_ref(_chat(source, one)) not in left_chats]
    said: list[int] = []
    for one in taken:
        turns = capture(_chat(source, one), one.messages) if capture else len(one.messages)
        said.append(turns)
        how.told(total - len(taken) + len(said), total)
    texts = [one.text for one in memories[:_SAMPLES]]
    texts += [one.title or str(one.messages[0]["content"]) for one in chats[:_SAMPLES]]
    return TakenIn(
        memories=new,
        conversations=sum(map(bool, said)),
        turns=sum(said),
        known=len(memories) - new - gone + sum(not n for n in said),
        forgotten=gone + len(chats) - len(taken),
        samples=tuple(texts[:_SAMPLES]),
    )


def _forgotten(journal: Journal, user: str, keys: Iterable[str]) -> dict[str, str]:
    """Return which of these were forgotten here, each with where that is kept."""
    refs = {gone_arrival_ref(key): key for key in keys}
    return {refs[row.ref]: row.ref for row in journal.store.get(user, sorted(refs))}


def _unknown(
    journal: Journal, user: str, source: str, keys: Mapping[str, ArrivingMemory]
) -> list[Row]:
    """Return those that are not here: neither they nor others that say the same."""
    asked = Find(types=(Memory.type,), keys=tuple(keys), live=None)
    here = {row.key for row in journal.store.query(user, asked)} if keys else set()
    left = {key: one for key, one in keys.items() if key not in here}
    refs = many_refs(journal.store, user, journal.random, Memory.prefix, len(left))
    # Most have one of a few tables of metadata.
    about = {_same(one): one.metadata for one in left.values()}
    checked = {same: checked_metadata(metadata) for same, metadata in about.items()}
    made = [
        _memory(journal, source, one, user=user, key=key, ref=ref, metadata=checked[_same(one)])
        for ref, (key, one) in zip(refs, left.items(), strict=True)
    ]
    new = {row.digest: row for row in reversed([memory.row() for memory in made])}
    asked = Find(types=(Memory.type,), digests=tuple(new))
    said = {row.digest for row in journal.store.query(user, asked)} if new else set()
    return [row for print_, row in reversed(new.items()) if print_ not in said]


def _same(one: ArrivingMemory) -> str:
    return repr(one.metadata)


def _key(source: str, one: ArrivingMemory) -> str:
    # Made of where it comes from: what came before is known by it.
    return f"{ARRIVED}{source}:{digest(one.owner, one.id)[:24]}"


def _chat(source: str, one: ArrivingChat) -> str:
    return f"{source}:{one.id}"


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
        **values,
    )

"""Takes in what comes from elsewhere, in batches: what was taken before is known, and passed over.

A run that was interrupted goes on where it stopped, since every batch is written as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

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
TURNS = 200
"""Messages of conversations that are written at once: others may want to write meanwhile."""
_SAMPLES = 5
_LONGEST = 20_000


class KeepsConversations(Protocol):
    """Where conversations are stored, and learned from."""

    def count(self, session: str, messages: Sequence[Message]) -> int:
        """Return how many turns `store` would find new."""

    def store(self, session: str, messages: Sequence[Message]) -> int:
        """Store what was said there; return how many turns were new."""

    def learn(self, session: str, messages: Sequence[Message]) -> None:
        """Learn from what was stored of a conversation and waits for it."""


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

    conversations: KeepsConversations
    dry_run: bool = False
    """It is only told what would be."""
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
    """Take in what was found. Of a conversation it is told twice: as it is stored, and learned."""
    found = list(found)
    memories = [one for one in found if isinstance(one, ArrivingMemory)]
    chats = [one for one in found if isinstance(one, ArrivingChat) and one.messages]
    run = _Run(journal, user, source, how, len(memories) + 2 * len(chats))
    new, gone = run.take_memories(memories)
    said, gone_chats = run.take_chats(chats)
    texts = [one.text for one in memories[:_SAMPLES]]
    texts += [one.title or str(one.messages[0]["content"]) for one in chats[:_SAMPLES]]
    return TakenIn(
        memories=new,
        conversations=sum(map(bool, said)),
        turns=sum(said),
        known=len(memories) - new - gone + sum(not n for n in said),
        forgotten=gone + gone_chats,
        samples=tuple(texts[:_SAMPLES]),
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of taking in."""

    journal: Journal
    user: str
    source: str
    how: Taking
    total: int

    def take_memories(self, memories: Sequence[ArrivingMemory]) -> tuple[int, int]:
        """Write those that are new; return how many they are, and how many were forgotten here."""
        store, again = self.journal.store, self.how.again
        new, gone = 0, 0
        for start in range(0, len(memories), BATCH):
            batch = {_key(self.source, one): one for one in memories[start : start + BATCH]}
            with store.atomic(self.user):
                left = _forgotten(self.journal, self.user, batch)
                gone += 0 if again else len(left)
                wanted = {key: one for key, one in batch.items() if again or key not in left}
                fresh = _unknown(self.journal, self.user, self.source, wanted)
                new += len(fresh)
                if not self.how.dry_run:
                    store.delete(self.user, sorted(left.values()) if again else [])
                    store.put(fresh)
            self.how.told(min(start + BATCH, len(memories)), self.total)
        return new, gone

    def take_chats(self, chats: Sequence[ArrivingChat]) -> tuple[list[int], int]:
        """Store conversations, then learn from them.

        Return how many turns of each were new, and how many conversations were forgotten here.
        """
        into, store = self.how.conversations, self.journal.store
        marks = sorted({gone_ref(self._session(one)) for one in chats})
        gone = {row.ref for row in store.get(self.user, marks)}
        taken = [one for one in chats if self.how.again or gone_ref(self._session(one)) not in gone]
        if self.how.dry_run:
            would = [into.count(self._session(one), one.messages) for one in taken]
            return would, len(chats) - len(taken)
        if self.how.again:
            store.delete(self.user, sorted(gone))
        done, said = self.total - 2 * len(taken), []
        for some in _batches(taken):
            with store.atomic(self.user):
                said += [into.store(self._session(one), one.messages) for one in some]
            self.how.told(done + len(said), self.total)
        done += len(taken)
        for some in _batches(taken):
            with store.atomic(self.user):
                for one in some:
                    into.learn(self._session(one), one.messages)
            done += len(some)
            self.how.told(done, self.total)
        return said, len(chats) - len(taken)

    def _session(self, chat: ArrivingChat) -> str:
        return f"{self.source}:{chat.id}"


def _batches(chats: Sequence[ArrivingChat]) -> Iterator[list[ArrivingChat]]:
    """Yield them in order, so many at once as have about `TURNS` messages together."""
    some: list[ArrivingChat] = []
    for one in chats:
        some.append(one)
        if sum(len(each.messages) for each in some) >= TURNS:
            yield some
            some = []
    if some:
        yield some


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

"""What a model was really sent, by hashes: a past prompt is rebuilt, or says what is not stored.

A record keeps the hashes of those messages alone that are new since the record before it. What the
agent's own questions brought is kept as it was answered, and known again in a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ..protocols import Store
from ..recall.block import hash_of
from ..recall.outcome import used_of
from ..text.cleaning import digest
from ..values.items import long_ref
from ..values.messages import BRIDGE, Message, Spoken, message_text
from ..values.records import load_all
from .record import Build, ContextRecord

if TYPE_CHECKING:
    from ..recall.lanes import Choice
    from ..store.journal import Journal
    from .blocks import Blocks
    from .conversation import Identity
    from .state import SessionState

LENGTH = 16
"""So much of a message's hash is kept."""
LINKS = 32
"""After so many records that go on from another, one has all hashes again."""
NOT_STORED = "(not stored)"
KEPT = 64
"""Answers of a conversation that are known again; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """The last prompt of a conversation, for the next one to go on from."""

    record: str
    hashes: tuple[str, ...]
    prints: tuple[int, ...]
    """What tells its pieces from others in this process; tools come first."""
    links: int = 0
    """How many records it goes on from."""

    def goes_on(self, hashes: Sequence[str]) -> int:
        """Return how many of the next prompt's first messages are the same."""
        pairs = zip(self.hashes, hashes, strict=False)
        return next(
            (at for at, (old, new) in enumerate(pairs) if old != new),
            min(len(self.hashes), len(hashes)),
        )


def hashes_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the hash of each message: of who says it and of its text, as they are sent."""
    return tuple([message_hash(one["role"], message_text(one)) for one in messages])


def message_hash(role: str, text: str) -> str:
    """Return the hash of a message."""
    return digest(role, text)[:LENGTH]


def sent_fields(before: SentPrompt | None, hashes: tuple[str, ...]) -> dict[str, object]:
    """Return what a record keeps of the messages that were sent."""
    same = before.goes_on(hashes) if before is not None and before.links < LINKS else 0
    if before is None or not same:
        return {"sent": hashes}
    return {"sent": hashes[same:], "sent_after": before.record, "sent_same": same}


def sent_hashes(store: Store, record: ContextRecord) -> tuple[str, ...] | None:
    """Return the hashes of all messages of a call; None where that is not known any more."""
    later: list[ContextRecord] = [record]
    while later[-1].sent_after:
        found = load_all(store.get(record.user, [later[-1].sent_after]), ContextRecord)
        if not found:
            return None
        later.append(found[0])
    hashes: tuple[str, ...] = ()
    for one in reversed(later):
        hashes = (*hashes[: one.sent_same], *one.sent)
    return hashes or None


def as_sent(said: Sequence[Spoken], hashes: Sequence[str]) -> list[Spoken]:
    """Return messages in the order in which they were sent, each with whether it is exactly so.

    What was sent and is not among them stands there as a message that is not stored.
    """
    known = [message_hash(one.role, one.text) for one in said]
    found: list[Spoken] = []
    blocks = SequenceMatcher(None, known, list(hashes), autojunk=False).get_opcodes()
    for kind, first, last, start, end in blocks:
        mine = list(said[first:last])
        if kind == "equal":
            found += mine
            continue
        # In the place of as many, what is stored of them: without secrets, or changed since.
        near = iter(mine)
        found += [_bridge(hash_) or _not_exact(next(near, None)) for hash_ in hashes[start:end]]
    return found


def _bridge(hash_: str) -> Spoken | None:
    roles = (role for role in ("assistant", "user") if hash_ == message_hash(role, BRIDGE))
    return next((Spoken(role=role, ours=BRIDGE, theirs="") for role in roles), None)


def _not_exact(one: Spoken | None) -> Spoken:
    if one is None:
        return Spoken(role="", theirs=NOT_STORED, exact=False)
    return Spoken(role=one.role, ours=one.ours, theirs=one.theirs, exact=False)


def kept_answer(
    journal: Journal, who: Identity, state: SessionState, text: str, shown: Sequence[Choice]
) -> tuple[tuple[str, str], ...]:
    """Keep what an answer showed; return by what a conversation knows its answers again.

    In the transaction in which the state was read. An answer that shows nothing is not kept.
    """
    if not shown:
        return state.answers
    build = Build(
        user=who.user,
        ref=long_ref(Build.prefix, journal.random),
        at=journal.clock(),
        session=who.session,
        kind="fetched",
        hash=hash_of(text),
        tokens=sum(choice.tokens for choice in shown),
        used=used_of(shown, "fetched"),
    )
    journal.store.put([build.row()])
    return (*state.answers, (build.hash, build.ref))[-KEPT:]


def answers_in(state: SessionState, messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the builds of those answers that stand in the messages, in their order."""
    if not state.answers:
        return ()
    known = dict(state.answers)
    texts = [message_text(one) for one in messages if one["role"] == "tool"]
    return tuple(known[key] for key in map(hash_of, texts) if key in known)


def fetched_builds(blocks: Blocks, refs: Sequence[str]) -> tuple[Build, ...]:
    """Return how these answers came about."""
    found = (blocks.known_build(ref) for ref in refs)
    return tuple(build for build in found if build is not None)

"""What the agent's own questions brought: kept as it was answered, and known again in a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.blocks import Blocks
from ..conversation.conversation import Identity
from ..conversation.record import Build
from ..conversation.state import SessionState
from ..recall.block import hash_of
from ..recall.lanes import Choice
from ..recall.outcome import used_of
from ..store.journal import Journal
from ..values.items import long_ref
from ..values.messages import Message, message_text

KEPT = 64
"""Answers of a conversation that are known again; the oldest go first."""


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

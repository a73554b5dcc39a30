"""One model call of a conversation: from the caller's messages to the prompt and its record.

A call is planned from what is stored, then written in one transaction, provided nobody changed the
conversation meanwhile; otherwise it is planned again. The last plan is made inside the
transaction, so every call ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..compaction.compact import look, shrunk, up_to_date
from ..compaction.compactor import Compactor
from ..compaction.policy import Window
from ..conversation.conversation import Identity, Prepared
from ..conversation.record import ContextRecord
from ..errors import NotFound
from ..runtime.stages import stage
from ..values.messages import Message
from .plan import Plan, Seen

_OPTIMISTIC = 3
MANY_WAIT = 32
"""Turns that may wait to be learned from."""


@stage("prepare")
def prepare_call(
    using: Compactor,
    who: Identity,
    messages: Sequence[Message],
    window: Window | None = None,
    *,
    capture: bool = True,
) -> Prepared:
    """Return the messages with our blocks placed, and write down what was done.

    What was said is stored with it, unless told otherwise. A prompt that would take up too much of
    the window is compacted first.
    """
    seen = Seen.now(using.conversations, who)
    if len(seen.state.untaught) > MANY_WAIT:
        # Whoever never finishes a call has it learned here.
        using.learner.learn_what_waits(who)
        seen = Seen.now(using.conversations, who)
    history = up_to_date(
        using.conversations, who, look(using.conversations, who, messages, seen.state)
    )
    for attempt in range(_OPTIMISTIC):
        now = Seen.now(using.conversations, who) if attempt else seen
        plan = Plan(using, who, history, now, capture=capture)
        try:
            prepared = plan.make()
        except NotFound:
            continue  # the conversation was forgotten since the plan was begun
        if window is not None:
            smaller, _ = shrunk(using, who, history, _with_ours(window, prepared.context))
            if smaller is not history:
                history = smaller
                continue
        if plan.write():
            plan.keep_at_hand()
            return prepared
    with using.journal.store.atomic(who.user):
        plan = Plan(using, who, history, Seen.now(using.conversations, who), capture=capture)
        prepared = plan.make()
        plan.write()
    plan.keep_at_hand()
    return prepared


def peek_call(using: Compactor, who: Identity, messages: Sequence[Message]) -> Prepared:
    """Return what `prepare_call` would now, and leave no trace of it."""
    seen = Seen.now(using.conversations, who)
    return Plan(using, who, look(using.conversations, who, messages, seen.state), seen).make()


def _with_ours(window: Window, record: ContextRecord) -> Window:
    taken = window.taken + record.tokens
    return replace(window, taken=taken, replayed=record.replayed_tokens)

"""One model call of a conversation: from the caller's messages to the prompt and its record.

A call is planned from what is stored, then written in one transaction, provided nobody changed the
conversation meanwhile; otherwise it is planned again. The last plan is made inside the
transaction, so every call ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..compaction.compactor import Compactor
from ..compaction.policy import Window
from ..conversation.conversation import Identity, Prepared
from ..conversation.replay.current import current_history, with_present_note
from ..errors import NotFound
from ..runtime.stages import stage
from ..values.messages import Message
from .call import Call, Seen
from .commit import commit, keep_at_hand
from .fit import plan

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
    if len(using.conversations.load(who).untaught) > MANY_WAIT:
        # Whoever never finishes a call has it learned here.
        using.learner.learn_what_waits(who)
    for _ in range(_OPTIMISTIC):
        try:
            planned = plan(_begun(using, who, messages), window, capture=capture)
        except NotFound:
            continue  # the conversation was forgotten since the call was begun
        if commit(planned):
            break
    else:
        with using.journal.store.atomic(who.user):
            planned = plan(_begun(using, who, messages), capture=capture)
            commit(planned)
    keep_at_hand(planned)
    return planned.prepared


def peek_call(using: Compactor, who: Identity, messages: Sequence[Message]) -> Prepared:
    """Return what `prepare_call` would now, and leave no trace of it."""
    seen = Seen.now(using.conversations, who)
    history = current_history(using.conversations, who, messages, seen.state)
    return plan(Call.begin(using, who, history, seen)).prepared


def _begun(using: Compactor, who: Identity, messages: Sequence[Message]) -> Call:
    seen = Seen.now(using.conversations, who)
    history = current_history(using.conversations, who, messages, seen.state)
    present = with_present_note(using.conversations, who, history)
    if present is not history:
        seen = Seen.now(using.conversations, who)
    return Call.begin(using, who, present, seen)

"""Flushed messages: those that leave a history which others keep, such as a buffer.

They are captured, and a note tells what is gone; unlike a compacted history, the one they leave
is not ours to look at, so the note covers the user's first words too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.blocks import Blocks
from ..conversation.conversation import Conversations, Identity
from ..conversation.exchanges import Telling
from ..conversation.replay.trail import trail_of
from ..conversation.replay.views import View, captured_refs
from ..values.messages import Message
from ..values.records import Turn, load_all
from .compactor import Compactor
from .note import make_note
from .note_lines import Archived


def leave(compactor: Compactor, who: Identity, messages: Sequence[Message], limit: int) -> str:
    """Archive messages that are gone from a history; return the note of all that ever were."""
    journal, store = compactor.journal, compactor.journal.store
    trail = trail_of(messages)
    compactor.learner.capture(who, Telling(messages=messages, trail=trail, at=journal.clock()))
    refs = captured_refs(store, who.user, who.session, trail.anchors)
    gone = [refs[anchor] for anchor in trail.anchors if anchor in refs]
    with store.atomic(who.user):
        before = _left(compactor.conversations, who)
        ref = before.ref if before else journal.refs(who.user)(View.prefix)
        archived = tuple(dict.fromkeys((*(before.archived if before else ()), *gone)))
        rows = [row for row in store.get(who.user, archived) if row.type == Turn.type]
        about = Archived(ref=ref, turns=load_all(rows, Turn), with_goal=True)
        here = who.situation(compactor.conversations.load(who), journal.clock())
        note = make_note(about, limit, compactor.recall.printer.layout(here))
        archive = Blocks(store, who.user)
        archive.keep_block(note.block, journal.clock())
        view = View(
            user=who.user,
            ref=ref,
            at=journal.clock(),
            session=who.session,
            anchor="",
            after="",
            kept={},
            archived=archived,
            note=note.block.hash,
            tokens=0,
        )
        store.put([*archive.rows, view.row()])
        compactor.conversations.change(who, left=ref)
    compactor.learner.has_news(who.user)
    return note.block.text


def note_of_left(conversations: Conversations, who: Identity) -> str:
    """Return the note of what left; "" when nothing did."""
    view = _left(conversations, who)
    return Blocks(conversations.journal.store, who.user).block(view.note).text if view else ""


def _left(conversations: Conversations, who: Identity) -> View | None:
    state = conversations.load(who)
    rows = conversations.journal.store.get(who.user, [state.left]) if state.left else []
    return next((View.model_validate_json(row.body) for row in rows), None)

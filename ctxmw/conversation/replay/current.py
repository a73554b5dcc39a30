"""The caller's messages as the conversation shows them now: what every call begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...protocols import Store
from ...recall.in_view import InView
from ...values.messages import Message
from ..blocks import Blocks
from ..state import SessionState
from .strip import strip_ours
from .views import History, captured_refs, history_in_view, with_view

if TYPE_CHECKING:
    from ..conversation import Conversations, Identity


def current_history(
    conversations: Conversations,
    who: Identity,
    messages: Sequence[Message],
    state: SessionState | None = None,
) -> History:
    """Return the caller's messages as they are in view, without anything of ours.

    `state` is that of the conversation, when it was just read.
    """
    store = conversations.journal.store
    stripped = strip_ours(store, who.user, messages)
    known = state or conversations.load(who)
    blocks = Blocks(store, who.user, conversations.builds)
    return history_in_view(stripped.messages, stripped.hashes, known, blocks)


def with_present_note(conversations: Conversations, who: Identity, history: History) -> History:
    """Return the history; a note that lost a line, because something was forgotten, is kept so.

    From then on it is known by what is left of it.
    """
    if history.view is None or history.note.hash in ("", history.view.note):
        return history
    view = history.view.model_copy(update={"note": history.note.hash})
    journal = conversations.journal
    blocks = Blocks(journal.store, who.user)
    blocks.keep_block(history.note, journal.clock())
    with journal.store.atomic(who.user):
        journal.store.put([*blocks.rows, view.row()])
        state = conversations.load(who)
        conversations.put(state, views=with_view(state.views, view))
    return replace(history, view=view)


def said_in_view(store: Store, who: Identity, history: History) -> InView:
    """Return what the prompt holds of this conversation's own turns."""
    view, trail = history.view, history.trail
    if view is None:
        return InView(prints=frozenset(trail.prints))
    whole = [anchor for anchor in trail.anchors if not view.kept.get(anchor)]
    refs = captured_refs(store, who.user, who.session, whole)
    shown = frozenset((*refs.values(), *view.shows))
    return InView(prints=frozenset(trail.prints), refs=shown, compacted=True)

"""The caller's messages as the conversation shows them now: what every call begins with.

A caller may send last time's prompt again: our own text is taken out of it first. What is ours is
known by the hash of the block, never by its tags: a user may paste a tag, and that is the user's
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...protocols import Store
from ...recall.block import hash_of
from ...recall.in_view import InView
from ...values.messages import BRIDGE, Message, message_text, take_out
from ..blocks import Blocks
from ..state import SessionState, block_ref
from .trail import Beginning
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
    store, trails = conversations.journal.store, conversations.trails
    named = who.user, who.session
    begun = trails.begun(named, messages)
    left, framed, hashes = _stripped(store, who.user, messages, begun)
    if framed:
        begun = trails.begun(named, left)
    trail = trails.of(named, left, begun, plain=not framed)
    blocks = Blocks(store, who.user, conversations.builds)
    state = state or conversations.load(who)
    return history_in_view(left, trail, hashes, state, blocks, views=conversations.views)


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
        return InView(prints=frozenset(trail.prints), texts=_texts(history))
    whole = [anchor for anchor in trail.anchors if not view.kept.get(anchor)]
    refs = captured_refs(store, who.user, who.session, whole)
    shown = frozenset((*refs.values(), *view.shows))
    return InView(prints=frozenset(trail.prints), refs=shown, compacted=True, texts=_texts(history))


def _texts(history: History) -> tuple[str, ...]:
    return tuple(map(message_text, history.messages))


_OPEN, _CLOSE = "<ctxmw>\n", "</ctxmw>\n"


def _stripped(
    store: Store, user: str, messages: Sequence[Message], begun: Beginning
) -> tuple[list[Message], bool, frozenset[str]]:
    """Return the messages without any block that we made for this user, and the blocks' hashes.

    And in between, whether there was anything that might have been one.
    """
    first = begun.length if begun.plain else 0
    texts = enumerate(map(message_text, messages[first:]), first)
    suspects = {at: list(_framed(text)) for at, text in texts if _OPEN in text}
    blocks = {hash_of(text): text for texts in suspects.values() for text in texts}
    if not blocks:
        return list(messages), bool(suspects), frozenset()
    known = {row.ref for row in store.get(user, [block_ref(hash_) for hash_ in blocks])}
    ours = {text: hash_ for hash_, text in blocks.items() if block_ref(hash_) in known}
    stripped = [
        _without(message, suspects.get(at, ()), set(ours)) for at, message in enumerate(messages)
    ]
    left = [message for message in stripped if message is not None]
    return left, True, frozenset(ours.values())


def _without(message: Message, suspects: Sequence[str], ours: set[str]) -> Message | None:
    found = [text for text in suspects if text in ours]
    for text in found:
        message = take_out(message, text)
    # A system message that held nothing but our block was ours as a whole, and so is a bridge.
    if ours and message.get("content") == BRIDGE and not suspects:
        return None
    return None if found and message["role"] == "system" and not message["content"] else message


def _framed(text: str) -> Iterator[str]:
    start = text.find(_OPEN)
    while start >= 0:
        end = text.find(_CLOSE, start)
        if end < 0:
            return
        yield text[start : end + len(_CLOSE)]
        start = text.find(_OPEN, end)

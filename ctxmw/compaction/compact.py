"""Compaction that loses nothing: a history that grew too long is cut down in view, and kept whole.

What leaves the view is captured first, and committed; then the view is stored, and only then does a
prompt show it. Whoever is killed in between has it in both places, never in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..conversation.blocks import Blocks
from ..conversation.conversation import Conversations, Identity
from ..conversation.replay.strip import strip_ours
from ..conversation.replay.views import History, captured_refs, history_in_view, ref_of, with_view
from ..conversation.state import SessionState
from ..protocols import Store
from ..recall.in_view import InView
from ..tokens.prompt_cost import Measure, at_most
from ..values.messages import Message, place
from .compactor import Compactor
from .cutting import Cut, Room, cut
from .make_view import archived_view
from .policy import Compacted, Status, Window

ENOUGH = 0.75
"""A note that uses less of its room than this gives the rest back."""


def look(
    conversations: Conversations,
    who: Identity,
    messages: Sequence[Message],
    state: SessionState | None = None,
) -> History:
    """Return the caller's messages as they are in view, without anything of ours.

    `state` is that of the conversation, when it was just read.
    """
    stripped = strip_ours(conversations.journal.store, who.user, messages)
    known = state or conversations.load(who)
    archive = Blocks(conversations.journal.store, who.user, conversations.builds)
    return history_in_view(stripped.messages, stripped.hashes, known, archive)


def up_to_date(conversations: Conversations, who: Identity, history: History) -> History:
    """Return the history; a note that lost a line, because something was forgotten, is kept so.

    From then on it is known by what is left of it.
    """
    if history.view is None or history.note.hash in ("", history.view.note):
        return history
    view = history.view.model_copy(update={"note": history.note.hash})
    journal, store = conversations.journal, conversations.journal.store
    archive = Blocks(store, who.user)
    archive.keep_block(history.note, journal.clock())
    with store.atomic(who.user):
        store.put([*archive.rows, view.row()])
        state = conversations.load(who)
        conversations.change(who, views=with_view(state.views, view))
    return replace(history, view=view)


def compact(
    compactor: Compactor, who: Identity, messages: Sequence[Message], window: Window
) -> Compacted:
    """Return the messages, compacted when they are over the trigger."""
    measure = Measure(compactor.recall.printer.count)
    before = measure.messages(messages)
    history = up_to_date(compactor.conversations, who, look(compactor.conversations, who, messages))
    smaller, status = shrunk(compactor, who, history, window)
    view = smaller.view
    if view is None:
        given = list(messages)
        return Compacted(messages=given, tokens_before=before, tokens_after=before, status=status)
    placed = place(smaller.messages, "", smaller.notes)
    # What left the view is found again from now on.
    said = said_in_view(compactor.journal.store, who, smaller)
    compactor.conversations.prefixes.keep_said(who.user, who.session, said)
    return Compacted(
        messages=placed,
        archived=view.archived,
        cleared=tuple(ref for mark in view.kept.values() if (ref := ref_of(mark))),
        note=smaller.note.text,
        tokens_before=before,
        tokens_after=measure.messages(placed),
        status=status,
    )


def shrunk(
    compactor: Compactor, who: Identity, history: History, window: Window
) -> tuple[History, Status]:
    """Return the history, compacted when it is due and can be made smaller; then it is stored."""
    policy, measure = compactor.policy, Measure(compactor.recall.printer.count)
    most = int(policy.trigger * window.tokens) - window.taken
    if at_most(history.messages) + 4 * len(history.note.text) + window.replayed <= most:
        return history, "unchanged"
    tokens = _tokens(history, measure)
    shown = tokens + window.replayed
    if shown <= most:
        return history, "unchanged"
    view = history.view
    if view and shown < (1 + policy.growth) * view.tokens and shown <= window.tokens - window.taken:
        return history, "over_target"
    target = int(policy.target * window.tokens) - window.taken
    room = Room(target=target, most=most, note=policy.note, note_most=policy.note_most)
    chosen = cut(history.given, room, measure)
    if not chosen:
        return history, "over_target"
    smaller = _with_all_room(compactor, who, history, chosen, room)
    size = _tokens(smaller, measure)
    if size >= tokens or smaller.view is None:
        return history, "over_target"
    _store(compactor, who, smaller, size)
    return smaller, "compacted" if size <= target else "over_target"


def said_in_view(store: Store, who: Identity, history: History) -> InView:
    """Return what the prompt holds of this conversation's own turns."""
    view, trail = history.view, history.trail
    if view is None:
        return InView(prints=frozenset(trail.prints))
    whole = [anchor for anchor in trail.anchors if not view.kept.get(anchor)]
    refs = captured_refs(store, who.user, who.session, whole)
    shown = frozenset((*refs.values(), *view.shows))
    return InView(prints=frozenset(trail.prints), refs=shown, compacted=True)


def _with_all_room(
    compactor: Compactor, who: Identity, history: History, chosen: Cut, room: Room
) -> History:
    """Return the history in its new view; what the note did not need, messages have instead."""
    smaller = archived_view(compactor, who, history, chosen)
    needed = compactor.recall.printer.count(smaller.note.text)
    if compactor.summarizer is not None or needed > chosen.note * ENOUGH:
        return smaller
    again = cut(
        history.given, replace(room, note_most=needed), Measure(compactor.recall.printer.count)
    )
    return (
        archived_view(compactor, who, history, again) if again.dropped < chosen.dropped else smaller
    )


def _tokens(history: History, measure: Measure) -> int:
    return measure.messages(place(history.messages, "", history.notes))


def _store(compactor: Compactor, who: Identity, history: History, tokens: int) -> None:
    """Keep the view; a new epoch begins, and earlier parts are dropped, but for the open turn's."""
    assert history.view is not None
    view = history.view.model_copy(update={"tokens": tokens})
    store, conversations = compactor.journal.store, compactor.conversations
    archive = Blocks(store, who.user)
    archive.keep_block(history.note, view.at)
    with store.atomic(who.user):
        store.put([*archive.rows, view.row()])
        state = conversations.load(who)
        turn = history.trail.turn
        parts = [
            part if part.open and part.anchor == turn else part.emptied() for part in state.parts
        ]
        views = with_view(state.views, view)
        conversations.change(who, views=views, parts=tuple(parts), stale="compaction")
    compactor.recall.stats.count("compactions")
    compactor.learner.has_news(who.user)

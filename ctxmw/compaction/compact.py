"""Compaction that loses nothing: a history that grew too long is cut down in view, and kept whole.

It is decided by sizes alone, before anything is searched or printed. What leaves the view is
captured first, and committed; then the view is stored, and only then does a prompt show it. Whoever
is killed in between has it in both places, never in none.

Messages that leave a history which others keep, such as a buffer, are captured too, and a note
tells what is gone; that history is not ours to look at, so the note covers the user's first words.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from ..conversation.blocks import Blocks
from ..conversation.conversation import Conversations, Identity
from ..conversation.exchanges import Telling
from ..conversation.replay.current import current_history, said_in_view, with_present_note
from ..conversation.replay.trail import trail_of
from ..conversation.replay.views import History, View, captured_refs, ref_of, with_view
from ..protocols import TokenCounter
from ..recall.pipeline import build_stable
from ..text.cleaning import one_line
from ..tokens.prompt_counter import Measure, at_most
from ..values.messages import Message, place
from ..values.records import Turn, load_all
from ..values.situation import Situation
from .compactor import Compacted, Compaction, Compactor, Status, Window
from .cut import Cut, Room, cut
from .hooks import event_of, leaving_by, tell_after, tell_before

log = logging.getLogger("ctxmw")

ENOUGH = 0.75
"""A note that uses less of its room than this gives the rest back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What has to leave the view, if anything."""

    cut: Cut = field(default_factory=Cut)
    status: Status
    """What is to be said when nothing leaves."""
    spare: int
    """Tokens that may come on top before it has to be looked at again."""


def needed(history: History, window: Window, policy: Compaction, count: TokenCounter) -> Need:
    """Return what has to leave the view, as far as the window is known to be taken."""
    most = int(policy.trigger * window.tokens) - window.taken
    ceiling = at_most(history.messages) + 4 * len(history.note.text) + window.replayed
    if ceiling <= most:
        return Need(status="unchanged", spare=most - ceiling)
    measure, view = Measure(count), history.view
    shown = tokens_in_view(history, measure) + window.replayed
    if shown <= most:
        return Need(status="unchanged", spare=most - shown)
    grown = view is None or shown >= (1 + policy.growth) * view.tokens
    if not grown and shown <= window.tokens - window.taken:
        return Need(status="over_target", spare=-1)
    chosen = _cut(history, _room(window, policy), measure)
    return Need(cut=chosen, status="over_target", spare=-1)


def shrink(
    compactor: Compactor,
    who: Identity,
    history: History,
    window: Window,
    *,
    situation: Situation,
    known: Collection[str],
) -> History | None:
    """Return the history in a smaller view, not stored yet; None when there is none.

    Every message that is not in view any more is in the store, committed, when this returns. The
    note adds what the memory has for the goal and is not `known`: what the stable block shows, and
    what was removed from the conversation.
    """
    from .make_view import archive, make_view, refill

    count = compactor.recall.printer.count
    measure, room = Measure(count), _room(window, compactor.policy)
    leaving = leaving_by(compactor, history, room.target)
    chosen = _cut(history, room, measure, leaving)
    if not chosen:
        return None
    tell_before(compactor, who, history, chosen, tokens_in_view(history, measure))
    archive(compactor, who, history, chosen)
    more = refill(compactor.recall, situation, who.budget, history, known)
    smaller = make_view(compactor, who, history, chosen, more)
    spent = count(smaller.note.text)
    if compactor.summarizer is None and spent <= chosen.note * ENOUGH and not leaving:
        # What the note did not need, messages have instead.
        again = _cut(history, replace(room, note_most=spent), measure)
        if again.dropped < chosen.dropped:
            archive(compactor, who, history, again)
            smaller = make_view(compactor, who, history, again, more)
    size = tokens_in_view(smaller, measure)
    if size >= tokens_in_view(history, measure) or smaller.view is None:
        return None
    return replace(smaller, view=smaller.view.model_copy(update={"tokens": size}))


def store_view(compactor: Compactor, who: Identity, history: History) -> None:
    """Keep the view; a new epoch begins, and earlier parts are dropped, but for the open turn's."""
    view, turn = history.view, history.trail.turn
    assert view is not None
    store, conversations = compactor.journal.store, compactor.conversations
    blocks = Blocks(store, who.user)
    blocks.keep_block(history.note, view.at)
    with store.atomic(who.user):
        store.put([*blocks.rows, view.row()])
        state = conversations.load(who)
        parts = [
            part if part.open and part.anchor == turn else part.emptied() for part in state.parts
        ]
        views = with_view(state.views, view)
        conversations.put(state, views=views, parts=tuple(parts), stale="compaction")
    compactor.recall.stats.count("compactions")
    compactor.learner.has_news(who.user)
    tell_after(compactor, event_of(who, history))


def compact(
    compactor: Compactor, who: Identity, messages: Sequence[Message], window: Window
) -> Compacted:
    """Return the messages, compacted when they are over the trigger."""
    count, conversations = compactor.recall.printer.count, compactor.conversations
    measure = Measure(count)
    before = measure.messages(messages)
    history = with_present_note(conversations, who, current_history(conversations, who, messages))
    need = needed(history, window, compactor.policy, count)
    smaller, status = None, need.status
    if need.cut:
        state = conversations.load(who)
        situation = who.situation(state, compactor.journal.clock())
        stable = build_stable(compactor.recall, situation, who.budget, removed=state.left_out)
        known = {*stable.shown, *state.left_out}
        smaller = shrink(compactor, who, history, window, situation=situation, known=known)
    if smaller is not None:
        store_view(compactor, who, smaller)
        target = _room(window, compactor.policy).target
        status = "compacted" if tokens_in_view(smaller, measure) <= target else "over_target"
    history = smaller or history
    if tokens_in_view(history, measure) > window.tokens - window.taken:
        status = "over_window"
        log.warning(
            "the messages of conversation %r have more than the window of %d tokens even when they "
            "are compacted: what must stay in view takes more. Shorten the last message, or unpin "
            "messages.",
            one_line(who.session, 80),
            window.tokens,
        )
    if history.view is None:
        given = list(messages)
        return Compacted(messages=given, tokens_before=before, tokens_after=before, status=status)
    placed = history.bridged(place(history.messages, "", history.notes))
    # What left the view is found again from now on.
    said = said_in_view(compactor.journal.store, who, history)
    conversations.in_view.put((who.user, who.session), said)
    return Compacted(
        messages=placed,
        archived=history.view.archived,
        cleared=tuple(ref for mark in history.view.kept.values() if (ref := ref_of(mark))),
        note=history.note.text,
        tokens_before=before,
        tokens_after=measure.messages(placed),
        status=status,
    )


def leave(compactor: Compactor, who: Identity, messages: Sequence[Message], limit: int) -> str:
    """Archive messages that are gone from a history; return the note of all that ever were."""
    from .note import make_note
    from .note_lines import Archived

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


def _cut(history: History, room: Room, measure: Measure, leaving: Collection[int] = ()) -> Cut:
    """Return what of the caller's messages leaves the view, with what left it before."""
    places = history.places
    shown = [history.given[at] for at in places]
    room = replace(room, told=measure.text(history.note.text))
    chosen = cut(shown, room, measure, [at for at, place in enumerate(places) if place in leaving])
    if not chosen or len(places) == len(history.given):
        return chosen
    gone = frozenset(range(len(history.given))).difference(places)
    return replace(
        chosen,
        dropped=gone.union(places[at] for at in chosen.dropped),
        cleared=frozenset(places[at] for at in chosen.cleared),
        unread={places[at]: characters for at, characters in chosen.unread.items()},
    )


def _room(window: Window, policy: Compaction) -> Room:
    return Room(
        target=int(policy.target * window.tokens) - window.taken,
        most=int(policy.trigger * window.tokens) - window.taken,
        note=policy.note,
        note_most=policy.note_most,
    )


def tokens_in_view(history: History, measure: Measure) -> int:
    """Return what a history takes as it is in view, its note included."""
    return measure.messages(history.bridged(place(history.messages, "", history.notes)))

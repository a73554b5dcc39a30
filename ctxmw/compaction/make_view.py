"""The view made from a cut: what leaves is captured, a note is written, the rest stays in place.

The memory adds a refill to it. The stable block is made anew at that moment. Beside it there is
room for a little more of what belongs to the goal: summaries of earlier conversations, and index
lines; only what the stable block does not show. They are taken from what came into question for
that block: the one search of the call is the turn's own.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..conversation.conversation import Identity
from ..conversation.exchanges import Telling
from ..conversation.replay.views import (
    History,
    View,
    after_of,
    as_kept,
    captured_refs,
    cleared_mark,
    in_view,
    lines_in,
    seams,
)
from ..errors import SummarizerError
from ..recall.pipeline import Own, Recall, gather
from ..recall.render import Layout
from ..text.terms import content_terms
from ..values.budget import Budget
from ..values.items import Item, Shown
from ..values.messages import Message, message_text
from ..values.records import Turn, load_all
from ..values.situation import Situation
from .cut import Cut, groups_of
from .note import CompactionNote, make_note
from .note_lines import Archived

if TYPE_CHECKING:
    from .compactor import Compactor

log = logging.getLogger("ctxmw")

_ABOUT = 400
"""Tokens of a prompt besides what it quotes."""
_GOAL = 2_000
"""Characters of the user's first words that are quoted."""
SUMMARIES, LINES = 3, 10
"""How many summaries and index lines are added at most."""
GOAL = 2_000
"""Characters of the goal that are compared."""


def archive(compactor: Compactor, who: Identity, history: History, cut: Cut) -> None:
    """Capture every message up to the last one that is dropped or cleared, and commit it.

    What left the view before is captured already.
    """
    covered = cut.covered
    leaving = history.given[: covered + 1]
    now = compactor.journal.clock()
    places = [at for at in history.places if at <= covered]
    told = Telling(messages=leaving, trail=history.given_trail, at=now, places=places)
    compactor.learner.capture(who, told)


def make_view(
    compactor: Compactor, who: Identity, history: History, cut: Cut, more: Refill
) -> History:
    """Return the history in its new view, not stored yet; what leaves is archived already."""
    given, trail = history.given, history.given_trail
    covered = cut.covered
    anchors = [trail.anchors[at] for at in history.places if at <= covered]
    refs = captured_refs(compactor.journal.store, who.user, who.session, anchors)
    view = _view(compactor, who, history, cut, refs)
    note = _note(compactor, who, history, cut, view=view, more=more)
    shown = [
        as_kept(given[at], trail.anchors[at], view.kept, view.unread)
        for at in history.places
        if at <= covered and at not in cut.dropped and given[at]["role"] != "system"
    ]
    made = {"after": after_of(shown), "note": note.block.hash, "shows": dict(note.shows)}
    in_place = in_view(given, trail, view.model_copy(update=made), note.block)
    return replace(in_place, base=history.base)


def _view(
    compactor: Compactor, who: Identity, history: History, cut: Cut, refs: Mapping[str, str]
) -> View:
    """Return the view without its note."""
    anchors = history.given_trail.anchors
    cleared = cut.cleared | cut.unread.keys()
    earlier = history.base or history.view
    covered = cut.covered
    places = [at for at in history.places if at <= covered]
    said = [at for at in places if history.given[at]["role"] != "system"]
    # Whoever goes on with compacted messages has no more of what was cleared before.
    before = history.base.kept if history.base else {}
    kept = {
        anchors[at]: cleared_mark(refs.get(anchors[at], ""))
        if at in cleared
        else before.get(anchors[at], "")
        for at in said
        if at not in cut.dropped
    }
    # Answers of our own tools are not captured: what they said is in the memory.
    gone = [refs[anchors[at]] for at in said if at in cut.dropped and anchors[at] in refs]
    with compactor.journal.store.atomic(who.user):
        return compactor.journal.new(
            View,
            who.user,
            session=who.session,
            anchor=anchors[covered],
            after="",
            kept=kept,
            unread={anchors[at]: characters for at, characters in cut.unread.items()},
            bridged=frozenset(_bridged(history, cut) if compactor.policy.alternate else ()),
            archived=(*(earlier.archived if earlier else ()), *gone),
            unanswered=_unanswered(history, cut, refs),
            note="",
            tokens=0,
        )


def _bridged(history: History, cut: Cut) -> list[str]:
    anchors = history.given_trail.anchors
    # From the messages of whoever goes on with compacted ones, the lines of ours were taken.
    places = lines_in(history.given, anchors, history.base) if history.base else ()
    return [anchors[at] for at in seams(history.given, cut.dropped, places)]


def _note(
    compactor: Compactor, who: Identity, history: History, cut: Cut, *, view: View, more: Refill
) -> CompactionNote:
    told = _told_in(compactor, history, view)
    rows = [row for row in compactor.journal.store.get(who.user, told) if row.type == Turn.type]
    archived = Archived(
        ref=view.ref,
        turns=load_all(rows, Turn),
        total=len(view.archived) - len(told) + len(rows),
        cleared=sum(map(bool, view.kept.values())),
        unanswered=view.unanswered,
    )
    summary = _summary(compactor, history.given, archived, more.layout, cut.note)
    archived = replace(archived, summary=summary)
    more_limit = min(who.budget.stable_limit // 2, cut.note // 4)
    return make_note(archived, cut.note, more.layout, more=more.items, more_limit=more_limit)


def _told_in(compactor: Compactor, history: History, view: View) -> list[str]:
    """Return which of what is archived the note is made of.

    That is what left the view now, and of what left before what the note of that thought worth
    telling: a note costs the same however long a conversation is. A model is given all of it.
    """
    earlier = history.base or history.view
    if earlier is None or compactor.summarizer is not None:
        return list(view.archived)
    known, worth = frozenset(earlier.archived), history.note.refs
    return [ref for ref in view.archived if ref not in known or ref in worth]


def _unanswered(history: History, cut: Cut, refs: Mapping[str, str]) -> frozenset[str]:
    shown = history.places
    groups = groups_of([history.given[at] for at in shown])
    places = [shown[group.places[0]] for group in groups if group.open]
    anchors = [history.given_trail.anchors[at] for at in places if at in cut.dropped]
    return frozenset(refs[anchor] for anchor in anchors if anchor in refs)


def _summary(
    compactor: Compactor,
    given: tuple[Message, ...],
    archived: Archived,
    layout: Layout,
    limit: int,
) -> str:
    """Return a model's summary of what is archived; "" without a model, or when it fails."""
    if compactor.summarizer is None or not archived.turns:
        return ""
    goal = next(message_text(message) for message in given if message["role"] == "user")[:_GOAL]
    room = compactor.summarizer.limits.prompt - _ABOUT - layout.count(goal)
    # Excerpts of everything, not the last messages: what was said first matters as much.
    said = make_note(archived, max(0, room), layout).block.text
    asked = compactor.hooks.summary_prompt
    prompt = asked.format(words=max(40, limit // 3), goal=goal, said=said)
    try:
        return compactor.summarizer.ask(prompt, timeout=compactor.policy.summary_timeout)
    except SummarizerError as error:
        log.warning("the note of a compaction has no summary: %s", error)
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refill:
    """Items to add, each with how it is shown, and how they are printed here."""

    items: tuple[tuple[Item, Shown], ...]
    layout: Layout


def refill(
    recall: Recall, situation: Situation, budget: Budget, history: History, known: Collection[str]
) -> Refill:
    """Return what the memory has to add for the goal of this history to what is `known`."""
    goal = next((message_text(m) for m in history.given if m["role"] == "user"), "")
    offered = gather(recall, situation, budget, Own()).items
    others = [item for item in offered if item.ref not in known]
    told = [item for item in others if item.kind == "summary" and item.trust == "trusted"]
    newest = sorted(told, key=lambda item: (item.at is not None, item.at), reverse=True)[:SUMMARIES]
    rest = [item for item in others if item not in newest and item.score >= recall.floors.index]
    lines = _about(goal, rest)[:LINES] if situation.fetches else []
    return Refill(
        items=(*((item, "full") for item in newest), *((item, "index") for item in lines)),
        layout=recall.printer.layout(situation),
    )


def _about(goal: str, items: Sequence[Item]) -> list[Item]:
    """Return the items that share words with the goal, those that share most first."""
    terms = frozenset(content_terms(goal[:GOAL]))
    shared = {item.ref: len(terms.intersection(content_terms(item.text))) for item in items}
    related = [item for item in items if shared[item.ref]]
    return sorted(related, key=lambda item: (-shared[item.ref], -item.score))

"""How a call ends: its record is closed, what was said is captured, entries are committed."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..conversation.branches import settle_branches
from ..conversation.conversation import Conversations, Identity, Prepared
from ..conversation.exchanges import Telling, heard, unheard
from ..conversation.record import ContextRecord, State, reply_key
from ..conversation.replay.current import current_history
from ..learning.learner import Learner
from ..protocols import Find, Store
from ..recall.entries import committed, released
from ..runtime.telemetry import stage
from ..text.secrets.redaction import redact, redact_name
from ..values.messages import Message, message_text
from ..values.records import load_as
from .echoes import echoes_in


@stage("finish")
def finish_call(
    learner: Learner,
    who: Identity,
    prepared: Prepared,
    answer: Message | None,
    error: str,
    *,
    capture: bool = True,
) -> ContextRecord:
    """Write down how the call ended and return its record; ending it twice changes nothing.

    Except that an answer which was not captured may be, then or later.
    """
    ended: State = "failed" if error else "answered" if answer else "abandoned"
    echoes = echoes_in(prepared.context, prepared.given, answer)
    store = learner.conversations.journal.store
    with store.atomic(who.user):
        record = stored_record(store, prepared.context)
        if record is None:
            return prepared.context.model_copy(update={"state": ended})
        kept = answer is not None and capture
        if record.state in ("answered", ended) and not (kept and not record.reply):
            return record
        captured = _Captured()
        if answer and kept:
            # What waited is settled below.
            captured = _capture_answer(learner, who, prepared, answer)
        else:
            learner.learn_what_waits(who, _told(learner, prepared))
        changes: dict[str, Any] = {
            "state": ended,
            "error": redact(error).text,
            "reply": captured.ref,
        }
        if answer:
            said = {
                "reply_key": reply_key(message_text(answer)),
                "reply_id": redact_name(str(answer.get("id", ""))),
            }
            changes |= said
        if echoes is not None:
            changes["came_back"] = echoes.came_back
        record = record.model_copy(update=changes)
        if answer:
            _close_turn(learner.conversations, who, record, answer, captured)
        else:
            waits = released(store, who.user, record.entries, record.turn)
            store.put([record.row(), *waits])
    if echoes is not None:
        learner.telemetry.stats.count("items.shown", echoes.looked_at)
        learner.telemetry.stats.count("items.recurring", echoes.recurring)
    return record


@stage("began")
def commit_entries(store: Store, record: ContextRecord) -> None:
    """Commit the entries that a call showed: it is being answered, so they have arrived."""
    with store.atomic(record.user):
        store.put(committed(store, record.user, record.entries, record.ref))


@stage("capture")
def finish_without_record(
    learner: Learner,
    who: Identity,
    prepared: Prepared,
    answer: Message | None,
    error: str,
    *,
    capture: bool = True,
) -> ContextRecord:
    """Keep what was said in a call that went out without us, of which there is no record."""
    ended: State = "failed" if error else "answered" if answer else "abandoned"
    if prepared.capture:
        _keep_said(learner, who, prepared, answer if capture else None)
    return prepared.context.model_copy(update={"state": ended})


def stored_record(store: Store, record: ContextRecord) -> ContextRecord | None:
    """Return the record as it stands in the store, with the blocks this one carries.

    None when the conversation was forgotten meanwhile: then nothing more of it is kept.
    """
    rows = store.get(record.user, [record.ref])
    if not rows:
        return None
    kept = load_as(rows[0], ContextRecord)
    blocks = {
        "stable": record.stable,
        "part": record.part,
        "builds": record.builds,
        "earlier": record.earlier,
    }
    return kept.model_copy(update=blocks)


def _keep_said(learner: Learner, who: Identity, prepared: Prepared, answer: Message | None) -> None:
    conversations = learner.conversations
    store, now = conversations.journal.store, conversations.journal.clock()
    with store.atomic(who.user):
        history = current_history(conversations, who, prepared.given)
        messages, trail = history.given, history.given_trail
        state = conversations.load(who)
        fresh = unheard(store, state, messages, trail)
        conversations.change(who, **heard(state, messages, trail, fresh))
        if answer is not None:
            messages, trail = (*messages, answer), trail.then(answer)
            fresh.append(len(messages) - 1)
        told = Telling(messages=messages, trail=trail, at=now, places=fresh, learn=prepared.learn)
        learner.capture(who, told)


def _told(learner: Learner, prepared: Prepared) -> Telling:
    now = learner.conversations.journal.clock()
    return Telling(messages=prepared.given, trail=prepared.trail, at=now)


class _Captured(NamedTuple):
    """What was captured as a call ended: of one that was not to be, nothing."""

    ref: str = ""
    """Of the answer."""
    anchor: str = ""
    turns: int = 0
    """How many are new."""


def _capture_answer(
    learner: Learner, who: Identity, prepared: Prepared, answer: Message
) -> _Captured:
    """Capture the end of a call."""
    journal = learner.conversations.journal
    messages = [*prepared.given, answer]
    trail = prepared.trail.then(answer)
    start = trail.last if trail.last is not None else len(messages) - 1
    places = range(start, len(messages))
    told = Telling(
        messages=messages,
        trail=trail,
        at=journal.clock(),
        places=places,
        learn=prepared.learn,
        answered=True,
        shown=_strangers_shown(prepared.context),
    )
    turns = learner.capture(who, told, settle=False)
    if prepared.branches:
        settle_branches(journal, learner.conversations.load(who), trail)
    anchor = trail.anchors[-1]
    if turns and turns[-1].anchor == anchor:
        return _Captured(turns[-1].ref, anchor, len(turns))
    asked = Find(types=("turn",), sessions=(who.session,), digests=(anchor,))
    known = next((row.ref for row in journal.store.query(who.user, asked)), "")
    return _Captured(known, anchor, len(turns))


def _strangers_shown(record: ContextRecord) -> tuple[str, ...]:
    """Return the refs of strangers' words that our own text showed to the model."""
    shown = [used for build in record.builds for used in build.used if used.shown != "none"]
    return tuple(dict.fromkeys(used.ref for used in shown if used.trust == "untrusted"))


def _close_turn(
    conversations: Conversations,
    who: Identity,
    record: ContextRecord,
    answer: Message,
    captured: _Captured,
) -> None:
    """Write the record of an answered call, and the state with which its turn is over.

    Its entries have arrived, nothing waits to be learned from, the turn's parts are closed.
    """
    state = conversations.load(who)
    changes: dict[str, Any] = {"untaught": ()} if state.untaught else {}
    if captured.turns:
        changes["turns"] = state.turns + captured.turns
    if captured.anchor and not answer.get("tool_calls"):
        changes["answer"] = captured.anchor
    closed = [part for part in state.parts if part.open and part.anchor == record.turn]
    if closed and not answer.get("tool_calls"):
        shut = {part.build: part.model_copy(update={"open": False}) for part in closed}
        parts = tuple(shut.get(part.build, part) for part in state.parts)
        conversations.keep_what_is_shown(who.user, [part.build for part in closed])
        changes |= {"parts": parts, "at": max(state.at, conversations.journal.clock())}
    store = conversations.journal.store
    rows = [record.row(), *committed(store, record.user, record.entries, record.ref)]
    if changes:
        conversations.put(state, rows, **changes)
    else:
        store.put(rows)

"""How a call ends: its record is closed, what was said is captured, entries are committed."""

from __future__ import annotations

from typing import Any

from ..conversation.conversation import Identity, Prepared, change_state, load_state, put_state
from ..conversation.record import ContextRecord, State, reply_key
from ..conversation.replay.current import current_history
from ..conversation.replay.hearing import heard, unheard
from ..learning.capture import capture_messages, learn_what_waits
from ..learning.echo import recurring
from ..protocols import Find
from ..recall.entries import committed, released
from ..recall.pipeline import Setup
from ..runtime.stages import stage
from ..text.secrets.redaction import redact, redact_name
from ..values.messages import Message, message_text
from ..values.records import load_as


@stage("finish")
def finish_call(
    setup: Setup,
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
    echoes = recurring(prepared.context, prepared.given, answer) if answer else None
    with setup.store.atomic(who.user):
        record = stored_record(setup, prepared.context)
        if record is None:
            return prepared.context.model_copy(update={"state": ended})
        kept = answer is not None and capture
        if record.state in ("answered", ended) and not (kept and not record.reply):
            return record
        reply, turns = "", 0
        if answer and kept:
            # What waited is settled below.
            reply, turns = _capture_answer(setup, who, prepared, answer)
        else:
            learn_what_waits(setup, who, prepared.given, prepared.trail)
        changes = {"state": ended, "error": redact(error).text, "reply": reply}
        if answer:
            said = {
                "reply_key": reply_key(message_text(answer)),
                "reply_id": redact_name(str(answer.get("id", ""))),
            }
            changes |= said
        record = record.model_copy(update=changes)
        setup.store.put([record.row()])
        if answer:
            commit_entries(setup, record)
            _close_turn(setup, who, record, answer, turns)
        else:
            rows = released(setup.store, who.user, record.entries, record.turn)
            setup.store.put(rows)
    if echoes is not None:
        setup.stats.count("items.shown", echoes[0])
        setup.stats.count("items.recurring", echoes[1])
    return record


@stage("began")
def commit_entries(setup: Setup, record: ContextRecord) -> None:
    """Commit the entries that a call showed: it is being answered, so they have arrived."""
    with setup.store.atomic(record.user):
        rows = committed(setup.store, record.user, record.entries, record.ref)
        setup.store.put(rows)


@stage("capture")
def finish_without_record(
    setup: Setup,
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
        _keep_said(setup, who, prepared, answer if capture else None)
    return prepared.context.model_copy(update={"state": ended})


def stored_record(setup: Setup, record: ContextRecord) -> ContextRecord | None:
    """Return the record as it stands in the store, with the blocks this one carries.

    None when the conversation was forgotten meanwhile: then nothing more of it is kept.
    """
    rows = setup.store.get(record.user, [record.ref])
    if not rows:
        return None
    kept = load_as(rows[0], ContextRecord)
    blocks = {"stable": record.stable, "part": record.part, "builds": record.builds}
    return kept.model_copy(update=blocks)


def _keep_said(setup: Setup, who: Identity, prepared: Prepared, answer: Message | None) -> None:
    with setup.store.atomic(who.user):
        history = current_history(setup, who, prepared.given)
        messages, trail = history.given, history.given_trail
        state = load_state(setup, who, setup.clock())
        fresh = unheard(setup.store, state, messages, trail)
        change_state(setup, who, **heard(state, messages, trail, fresh))
        if answer is not None:
            messages, trail = (*messages, answer), trail.then(answer)
            fresh.append(len(messages) - 1)
        capture_messages(setup, who, messages, trail, setup.clock(), places=fresh)


def _capture_answer(
    setup: Setup, who: Identity, prepared: Prepared, answer: Message
) -> tuple[str, int]:
    """Capture the end of a call; return the ref of its answer, and how many turns are new."""
    messages = [*prepared.given, answer]
    trail = prepared.trail.then(answer)
    start = trail.last if trail.last is not None else len(messages) - 1
    places = range(start, len(messages))
    now = setup.clock()
    turns = capture_messages(setup, who, messages, trail, now, places=places, settle=False)
    if turns and turns[-1].anchor == trail.anchors[-1]:
        return turns[-1].ref, len(turns)
    asked = Find(types=("turn",), sessions=(who.session,), digests=(trail.anchors[-1],))
    return next((row.ref for row in setup.store.query(who.user, asked)), ""), len(turns)


def _close_turn(
    setup: Setup, who: Identity, record: ContextRecord, answer: Message, turns: int
) -> None:
    """Write down that nothing waits to be learned from, and that the turn's parts are closed."""
    state = load_state(setup, who, setup.clock())
    changes: dict[str, Any] = {"untaught": ()} if state.untaught else {}
    if turns:
        changes["turns"] = state.turns + turns
    closed = [part for part in state.parts if part.open and part.anchor == record.turn]
    if closed and not answer.get("tool_calls"):
        shut = {part.build: part.model_copy(update={"open": False}) for part in closed}
        parts = tuple(shut.get(part.build, part) for part in state.parts)
        # From now on the state says enough of them.
        setup.builds.let_go((who.user, part.build) for part in closed)
        changes |= {"parts": parts, "at": max(state.at, setup.clock())}
    if changes:
        put_state(setup, state, **changes)

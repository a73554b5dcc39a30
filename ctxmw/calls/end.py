"""How a conversation ends: what it was about is written down for the next ones.

The summary is made of what was said: what was asked first, what was done, decided and left open.
A conversation ends when somebody says so, or when it has been idle; any later call of the same
user notices that. One that is spoken in is never ended by another. One that cannot be ended holds
up nobody: that is kept with it in the store, and tried again after a minute, and after ever longer
pauses up to a day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter

from ..conversation.conversation import Identity, change_state, let_go
from ..conversation.epochs import IDLE
from ..conversation.state import SessionState, session_ref
from ..errors import CtxmwError, StoreError, UnreadableRecord
from ..learning.capture import learn_what_waits
from ..learning.observations import names_in, paths_in
from ..protocols import Find, Row
from ..recall.pipeline import Setup
from ..search.vectors.refusals import Refusal
from ..text.cleaning import one_line
from ..text.prose import sentences
from ..values.records import (
    AnyRecord,
    Memory,
    Note,
    Observation,
    Record,
    SessionSummary,
    Turn,
    load_all,
    load_as,
)
from ..values.refs import short_refs

TURNS = 200
"""How many turns of a conversation are looked at: its last."""
SENTENCE = 160
DECISIONS, CONCEPTS, FILES = 5, 6, 8
UNENDED = "unended:1"
"""Where the store keeps which conversations could not be ended, under their refs."""
_CHECK = timedelta(minutes=1)
_AT_ONCE = 20


def end(setup: Setup, who: Identity, given: SessionSummary | None = None) -> SessionSummary | None:
    """End a conversation and return its summary: the one given, else one made of what was said.

    A summary takes the place of the conversation's last one. One that still tells all stays.
    """
    store = setup.store
    with store.atomic(who.user):
        learn_what_waits(setup, who)
        state = change_state(setup, who, ended=True)
        let_go(setup, who.user, who.session)
        old = _last_summary(setup, who.user, who.session)
        if given is None and not setup.learn.summaries:
            return old
        new = given or _if_newer(setup, who.user, who.session, old)
        if new is None:
            return old
        if old is not None:
            # Deleting would rewrite the file.
            new = new.model_copy(update={"ref": old.ref})
        store.put([new.row()])
        # The next conversation begins with the summary, and not as this one did.
        setup.openings.let_go([(who.user, state.project, state.language)])
        if setup.distiller is not None and given is None:
            setup.distiller.summarize(who)
        return new


def end_idle(setup: Setup, who: Identity) -> None:
    """End the user's conversations in which nobody has said anything for a while, but this one."""
    now = setup.clock()
    known = setup.states.get((who.user, who.session)) is not None
    last = setup.idle.get(who.user)
    if known and last is not None and timedelta(0) <= now - last < _CHECK:
        return
    if setup.store.in_atomic():
        return  # an end that fails would undo what the caller has done; another call will do
    setup.idle.put(who.user, now)
    for session in _to_end(setup, who, now):
        try:
            _end_if_idle(setup, who.user, session, now)
        # Whatever it is: the call of another conversation is waiting. Nothing of this end is kept,
        # for it is a transaction of its own.
        except Exception as error:  # noqa: BLE001
            _set_aside(setup, who.user, session, error, now)
            if isinstance(error, StoreError) and not isinstance(error, UnreadableRecord):
                return  # the store itself may be failing: then the call that waits says so
        else:
            setup.has_news(who.user)


def summary_of(setup: Setup, user: str, session: str) -> SessionSummary | None:
    """Return what a conversation was about, in its own words; None when nothing was said."""
    asked = Find(types=("turn",), sessions=(session,), limit=TURNS)
    turns = _readable(setup, setup.store.query(user, asked), Turn)
    turns.sort(key=attrgetter("sequence"))
    said = [turn for turn in turns if turn.role in ("user", "assistant") and _trusted(turn)]
    notes = _readable(setup, setup.store.query(user, _of(session, "note")), Note)
    text = _told(said, [note for note in reversed(notes) if note.trust == "trusted"])
    if not text:
        return None
    found = setup.store.query(user, _of(session, "observation"))
    seen = [one for one in _readable(setup, found, Observation) if one.trust == "trusted"]
    # Notes first: of a conversation in which something was said, the last turn tells the scope.
    told_by: Sequence[Record] = [*notes[::-1], *turns]
    words = "\n".join(turn.text for turn in said)
    return SessionSummary(
        user=user,
        ref=short_refs(setup.store, user, setup.random)(SessionSummary.prefix),
        at=setup.clock(),
        session=session,
        scope=told_by[-1].scope,
        source="conversation",
        derived_from=tuple(one.ref for one in told_by),
        text=text,
        decisions=_decisions(setup, user, session, notes),
        concepts=_most_named([*(turn.text for turn in said), *(one.title for one in seen)]),
        files=_most((file for one in seen for file in one.files), paths_in(words), FILES),
    )


def _to_end(setup: Setup, who: Identity, now: datetime) -> list[str]:
    """Return conversations that have been idle, without those that failed to end not long ago."""
    # Before the moment after: it has been idle when it was last used just then.
    until = now - IDLE + timedelta.resolution
    found: list[str] = []
    rows: list[Row] = []
    start = 0
    # Those that fail must not keep the others out.
    while len(found) < _AT_ONCE and (start == 0 or len(rows) == _AT_ONCE):
        asked = Find(types=("session",), digests=(SessionState.OPEN,), until=until, offset=start)
        rows = setup.store.query(who.user, replace(asked, limit=_AT_ONCE))
        start += _AT_ONCE
        failed = _failed_ends(setup, who.user, [row.ref for row in rows])
        found += [
            row.session
            for row in rows
            if row.session != who.session
            and (row.ref not in failed or failed[row.ref].is_due(now.timestamp()))
        ]
    return found[:_AT_ONCE]


def _set_aside(setup: Setup, user: str, session: str, error: Exception, now: datetime) -> None:
    """Keep with a conversation that it could not be ended, and tell it once."""
    ref = session_ref(session)
    setup.stats.count(f"ends.failed.{type(error).__name__}")
    setup.faults.tell("end", (user, ref), error, f"the conversation {session!r} was not ended")
    # A store that cannot even keep this is for the call that waits to report.
    with suppress(CtxmwError):
        before = _failed_ends(setup, user, [ref]).get(ref)
        after = Refusal.after(before, now.timestamp(), final=False)
        setup.store.put_blobs(user, UNENDED, {ref: after.blob()})


def _failed_ends(setup: Setup, user: str, refs: Sequence[str]) -> dict[str, Refusal]:
    """Return which of these conversations could not be ended: how often, and when last."""
    if not refs:
        return {}
    kept = setup.store.get_blobs(user, UNENDED, refs)
    read = {ref: Refusal.of(blob) for ref, blob in kept.items()}
    return {ref: refusal for ref, refusal in read.items() if refusal is not None}


def _end_if_idle(setup: Setup, user: str, session: str, now: datetime) -> None:
    who = Identity(user=user, session=session)
    with setup.store.atomic(user):
        rows = setup.store.get(user, [session_ref(session)])
        # It may have gone on since it was looked for.
        if rows and now - rows[0].at >= IDLE:
            end(setup, who)


def _if_newer(
    setup: Setup, user: str, session: str, old: SessionSummary | None
) -> SessionSummary | None:
    new = summary_of(setup, user, session)
    if new is None or old is None:
        return new
    if old.derived_from:
        return None if old.derived_from == new.derived_from else new
    newest = setup.store.query(user, Find(types=("turn",), sessions=(session,), limit=1))
    return new if newest and newest[0].at > old.at else None


def _last_summary(setup: Setup, user: str, session: str) -> SessionSummary | None:
    rows = setup.store.query(user, Find(types=("summary",), sessions=(session,), limit=1))
    return load_all(rows, SessionSummary)[0] if rows else None


def _of(session: str, type_: str) -> Find:
    return Find(types=(type_,), sessions=(session,), limit=TURNS)


def _readable(setup: Setup, rows: Iterable[Row], cls: type[AnyRecord]) -> list[AnyRecord]:
    return setup.faults.read(rows, lambda row: load_as(row, cls))


def _trusted(turn: Turn) -> bool:
    return turn.trust == "trusted"


def _told(said: Sequence[Turn], notes: Sequence[Note]) -> str:
    """Return the summary's text: what was asked, what came of it, what is open."""
    asked = next((line for turn in said if turn.role == "user" if (line := _first(turn))), "")
    by_kind = {kind: [note.text for note in notes if note.kind == kind] for kind in _KINDS}
    done = by_kind["done"] or by_kind["decided"]
    parts = [
        asked,
        f"Done: {_joined(done[-3:])}" if done else _last_answer(said),
        f"Blocked: {_joined(by_kind['blocked'][-2:])}" if by_kind["blocked"] else "",
        f"Next: {_joined(by_kind['next'][-2:])}" if by_kind["next"] else "",
    ]
    return " ".join(filter(None, parts))


def _last_answer(said: Sequence[Turn]) -> str:
    """Return the last answer, and say so where it is not one to the first question."""
    last = max((at for at, turn in enumerate(said) if turn.role == "assistant"), default=0)
    answer = _first(said[last]) if said and said[last].role == "assistant" else ""
    asked = sum(turn.role == "user" for turn in said[:last])
    return f"Last answer: {answer}" if answer and asked > 1 else answer


_KINDS = ("done", "decided", "blocked", "next")


def _first(turn: Turn) -> str:
    found = sentences(turn.text)
    return one_line(found[0].text, SENTENCE) if found else ""


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(one_line(text, SENTENCE).rstrip(".;") for text in texts) + "."


def _decisions(setup: Setup, user: str, session: str, notes: Sequence[Note]) -> tuple[str, ...]:
    memories = _readable(setup, setup.store.query(user, _of(session, "memory")), Memory)
    made = [one.text for one in memories if one.kind == "decision"]
    made += [note.text for note in notes if note.kind == "decided"]
    return tuple(one_line(text, SENTENCE) for text in made[:DECISIONS])


def _most_named(texts: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(name for text in texts for name in names_in(text))
    return tuple(name for name, _ in counts.most_common(CONCEPTS))


def _most(first: Iterable[str], then: Iterable[str], n: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))[:n]

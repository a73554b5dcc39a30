"""How a conversation ends: what it was about is written down for the next ones.

The summary is made of what was said: what was asked first, what was done, decided and left open.
A conversation ends when somebody says so, or when it has been idle; any later call of the same
user notices that. One that is spoken in is never ended by another. One that cannot be ended holds
up nobody: that is kept with it in the store, and tried again after a minute, and after ever longer
pauses up to a day.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..conversation.conversation import IDLE, Identity
from ..conversation.state import SessionState, session_ref
from ..errors import CtxmwError, StoreError, UnreadableRecord
from ..learning.learner import Learner
from ..protocols import Find, Row, Store
from ..recall.pipeline import Recall
from ..store.journal import Journal
from ..values.records import SessionSummary, load_all

if TYPE_CHECKING:
    from ..search.vectors.embedding import Refusal

UNENDED = "unended:1"
"""Where the store keeps which conversations could not be ended, under their refs."""
_AT_ONCE = 20


def end(
    recall: Recall, learner: Learner, who: Identity, given: SessionSummary | None = None
) -> SessionSummary | None:
    """End a conversation and return its summary: the one given, else one made of what was said.

    A summary takes the place of the conversation's last one. One that still tells all stays.
    """
    journal, store = recall.journal, recall.journal.store
    with store.atomic(who.user):
        learner.learn_what_waits(who)
        state = learner.conversations.change(who, ended=True)
        learner.conversations.let_go(who.user, who.session)
        recall.search.let_go(who.user)
        old = _last_summary(store, who.user, who.session)
        if given is None and not learner.policy.summaries:
            return old
        new = given or _if_newer(journal, who.user, who.session, old)
        if new is None:
            return old
        if old is not None:
            # Deleting would rewrite the file.
            new = new.model_copy(update={"ref": old.ref})
        store.put([new.row()])
        # The next conversation begins with the summary, and not as this one did.
        recall.openings.let_go([(who.user, state.project, state.language)])
        if learner.distiller is not None and given is None:
            learner.distiller.summarize(who)
        return new


def end_idle(recall: Recall, learner: Learner, who: Identity) -> None:
    """End the user's conversations in which nobody has said anything for a while, but this one.

    To be called when `Conversations.idle_due` says so.
    """
    journal, conversations = recall.journal, learner.conversations
    now = journal.clock()
    if journal.store.in_atomic():
        return  # an end that fails would undo what the caller has done; another call will do
    conversations.idle.put(who.user, now)
    for session in _to_end(journal.store, who, now):
        try:
            _end_if_idle(recall, learner, Identity(user=who.user, session=session), now)
        # Whatever it is: the call of another conversation is waiting. Nothing of this end is kept,
        # for it is a transaction of its own.
        except Exception as error:  # noqa: BLE001
            learner.telemetry.stats.count(f"ends.failed.{type(error).__name__}")
            _set_aside(journal, who.user, session, error, now)
            if isinstance(error, StoreError) and not isinstance(error, UnreadableRecord):
                return  # the store itself may be failing: then the call that waits says so
        else:
            learner.has_news(who.user)


def _to_end(store: Store, who: Identity, now: datetime) -> list[str]:
    """Return conversations that have been idle, without those that failed to end not long ago."""
    # Before the moment after: it has been idle when it was last used just then.
    until = now - IDLE + timedelta.resolution
    found: list[str] = []
    rows: list[Row] = []
    start = 0
    # Those that fail must not keep the others out.
    while len(found) < _AT_ONCE and (start == 0 or len(rows) == _AT_ONCE):
        asked = Find(types=("session",), digests=(SessionState.OPEN,), until=until, offset=start)
        rows = store.query(who.user, replace(asked, limit=_AT_ONCE))
        start += _AT_ONCE
        failed = _failed_ends(store, who.user, [row.ref for row in rows])
        found += [
            row.session
            for row in rows
            if row.session != who.session
            and (row.ref not in failed or failed[row.ref].is_due(now.timestamp()))
        ]
    return found[:_AT_ONCE]


def _set_aside(journal: Journal, user: str, session: str, error: Exception, now: datetime) -> None:
    """Keep with a conversation that it could not be ended, and tell it once."""
    from ..search.vectors.embedding import Refusal

    ref = session_ref(session)
    journal.faults.tell("end", (user, ref), error, f"the conversation {session!r} was not ended")
    # A store that cannot even keep this is for the call that waits to report.
    with suppress(CtxmwError):
        before = _failed_ends(journal.store, user, [ref]).get(ref)
        after = Refusal.after(before, now.timestamp(), final=False)
        journal.store.put_blobs(user, UNENDED, {ref: after.blob()})


def _failed_ends(store: Store, user: str, refs: Sequence[str]) -> dict[str, Refusal]:
    """Return which of these conversations could not be ended: how often, and when last."""
    if not refs:
        return {}
    from ..search.vectors.embedding import Refusal

    kept = store.get_blobs(user, UNENDED, refs)
    read = {ref: Refusal.of(blob) for ref, blob in kept.items()}
    return {ref: refusal for ref, refusal in read.items() if refusal is not None}


def _end_if_idle(recall: Recall, learner: Learner, who: Identity, now: datetime) -> None:
    store = recall.journal.store
    with store.atomic(who.user):
        rows = store.get(who.user, [session_ref(who.session)])
        # It may have gone on since it was looked for.
        if rows and now - rows[0].at >= IDLE:
            end(recall, learner, who)


def _if_newer(
    journal: Journal, user: str, session: str, old: SessionSummary | None
) -> SessionSummary | None:
    from ..memory.summary import summary_of

    new = summary_of(journal, user, session)
    if new is None or old is None:
        return new
    if old.derived_from:
        return None if old.derived_from == new.derived_from else new
    newest = journal.store.query(user, Find(types=("turn",), sessions=(session,), limit=1))
    return new if newest and newest[0].at > old.at else None


def _last_summary(store: Store, user: str, session: str) -> SessionSummary | None:
    rows = store.query(user, Find(types=("summary",), sessions=(session,), limit=1))
    return load_all(rows, SessionSummary)[0] if rows else None

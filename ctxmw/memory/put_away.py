"""Forgetting that can be taken back: a memory is put away, and comes back when a person wants it.

An agent may be wrong about what its user wants forgotten, or may have been talked into it. So what
it forgets of a person's is put away: no prompt shows it and no search finds it, and a person brings
it back or removes it for good.
"""

from __future__ import annotations

from ..errors import InvalidValue, NotFound
from ..protocols import Find
from ..runtime.telemetry import stage
from ..store.journal import Journal
from ..values.records import Memory, load_as


@stage("put_away")
def put_away(journal: Journal, user: str, ref: str) -> Memory:
    """Keep a memory out of everything until it is brought back; return it."""
    with journal.store.atomic(user):
        memory = _memory(journal, user, ref)
        if memory.superseded_by:
            raise InvalidValue(
                f"memory {ref!r} was replaced by {memory.superseded_by!r}: put that away."
            )
        kept = memory.model_copy(update={"put_away": memory.put_away or journal.clock()})
        journal.store.put([kept.row()])
        return kept


@stage("restore")
def restore(journal: Journal, user: str, ref: str) -> Memory:
    """Bring back a memory that was put away; one that was not stays as it is."""
    with journal.store.atomic(user):
        memory = _memory(journal, user, ref)
        if memory.put_away is None:
            return memory
        back = memory.model_copy(update={"put_away": None})
        if taken := _in_its_place(journal, back):
            raise InvalidValue(
                f"memory {ref!r} was put away, and {taken!r} has its place by now: forget or put "
                "away that one first."
            )
        journal.store.put([back.row()])
        return back


def _memory(journal: Journal, user: str, ref: str) -> Memory:
    rows = [row for row in journal.store.get(user, [ref]) if row.type == Memory.type]
    if not rows:
        raise NotFound(f"there is no memory {ref!r} of user {user!r}: search for it.")
    return load_as(rows[0], Memory)


def _in_its_place(journal: Journal, back: Memory) -> str:
    """Return the ref of a memory that holds under the same key, or says the same; "" if none."""
    asked = [Find(types=(Memory.type,), digests=(back.row().digest,), limit=1)]
    if back.key:
        asked.append(Find(types=(Memory.type,), keys=(back.key,), scopes=(back.scope,), limit=1))
    found = [row.ref for find in asked for row in journal.store.query(back.user, find)]
    return found[0] if found else ""

"""The versions of a memory: what it was before, what took its place, and what has to go with it.

What is put away can be taken back. An agent may be wrong about what its user wants forgotten, or
may have been talked into it. So what it forgets of a person's is put away: no prompt shows it and
no search finds it, and a person brings it back or removes it for good.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..errors import InvalidValue, NotFound
from ..protocols import Find, Row, Store
from ..runtime.telemetry import stage
from ..store.journal import Journal
from ..text.cleaning import fold
from ..values.records import Memory, load_all, load_as

NO_MORE: Mapping[str, Any] = {"was": "", "was_at": None, "because": ""}
"""What a memory tells of one whose place it took, when that is forgotten."""


def versions(store: Store, memory: Memory) -> list[Memory]:
    """Return every version of a memory, the newest first."""
    found = [memory]
    for step in ("superseded_by", "supersedes"):
        at = memory
        while ref := getattr(at, step):
            rows = store.get(memory.user, [ref])
            if not rows:
                break
            at = load_as(rows[0], Memory)
            found = [at, *found] if step == "superseded_by" else [*found, at]
    return found


def all_versions(journal: Journal, user: str, refs: Collection[str]) -> set[str]:
    """Return the refs of every version of the memories among these.

    One memory may have taken the place of several: of its key's last one, and of one that said
    the same. History leads to one of them only, the others are known by whom they gave way to.
    """
    found: set[str] = set()
    new = set(refs)
    while new:
        rows = [row for row in journal.store.get(user, sorted(new)) if row.type == Memory.type]
        found |= {row.ref for row in rows}
        # One that cannot be read goes all the same; what it would lead to is not known.
        same = journal.read(_saying(journal.store, user, rows), Memory)
        asked = journal.read(rows, Memory)
        linked = [version for memory in asked for version in versions(journal.store, memory)]
        linked += [memory for memory in same if memory.superseded_by in found]
        new = {memory.ref for memory in linked} - found
    return found


def cut_from_history(
    store: Store, user: str, asked: Iterable[Row], gone: Collection[str]
) -> tuple[set[str], set[str]]:
    """Take what is forgotten out of the history of other memories.

    Return the refs to delete, and those of memories that quoted it. Where one of them still says
    it, it is theirs and stays.
    """
    rows = [row for row in asked if row.type == Memory.type]
    others = [row for row in _saying(store, user, rows) if row.ref not in gone]
    theirs = {row.digest for row in others if row.live}
    copies = [row.ref for row in others if row.digest not in theirs]
    quoting: set[str] = set()
    for ref in copies:
        # Read one by one: two of them may be neighbours.
        [row] = store.get(user, [ref])
        quoting |= _close_the_gap(store, user, row)
    return set(copies), quoting


def _saying(store: Store, user: str, rows: Collection[Row]) -> list[Row]:
    """Return the memories that say the same as one of these, history included."""
    if not rows:
        return []
    digests = tuple({row.digest for row in rows})
    return store.query(user, Find(types=(Memory.type,), digests=digests, live=None))


def _close_the_gap(store: Store, user: str, row: Row) -> set[str]:
    """Link the versions around one that goes, let none quote it, and return who did."""
    [copy] = load_all([row], Memory)
    quoting: set[str] = set()
    same = load_all(_saying(store, user, [row]), Memory)
    chain = versions(store, copy)
    linked = {memory.ref: memory for memory in (*same, *chain) if memory.ref != copy.ref}
    follows = any(memory.supersedes == copy.ref for memory in chain)
    for memory in linked.values():
        update: dict[str, Any] = {}
        if memory.supersedes == copy.ref:
            update["supersedes"] = copy.supersedes
        if memory.superseded_by == copy.ref:
            update["superseded_by"] = copy.superseded_by
        if memory.was and fold(memory.was) == fold(copy.text):
            update |= NO_MORE
            quoting.add(memory.ref)
        if update:
            store.put([memory.model_copy(update=update).row()])
    if copy.supersedes and not follows:
        _put_last(store, chain[0], copy.supersedes)
    return quoting


def _put_last(store: Store, newest: Memory, ref: str) -> None:
    """Let a version be the oldest of a memory that took its place by the way of one that goes."""
    known = versions(store, newest)
    if all(memory.ref != ref for memory in known):
        store.put([known[-1].model_copy(update={"supersedes": ref}).row()])


@stage("put_away")
def put_away(journal: Journal, user: str, ref: str) -> Memory:
    """Keep a memory out of everything until it is brought back; return it."""
    with journal.store.atomic(user):
        memory = memory_at(journal, user, ref)
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
        memory = memory_at(journal, user, ref)
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


def memory_at(journal: Journal, user: str, ref: str) -> Memory:
    """Return a user's memory, or raise."""
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

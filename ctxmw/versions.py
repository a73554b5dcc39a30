"""The versions of a memory: what it was before, what took its place, and what has to go with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .pipeline import Setup
from .protocols import Find, Row
from .records import Memory, load_all
from .text import fold


def versions(setup: Setup, memory: Memory) -> list[Memory]:
    """Return every version of a memory, the newest first."""
    found = [memory]
    for step in ("superseded_by", "supersedes"):
        at = memory
        while ref := getattr(at, step):
            rows = setup.store.get(memory.user, [ref])
            if not rows:
                break
            at = Memory.model_validate_json(rows[0].body)
            found = [at, *found] if step == "superseded_by" else [*found, at]
    return found


def all_versions(setup: Setup, user: str, refs: Collection[str]) -> set[str]:
    """Return the refs of every version of the memories among these.

    One memory may have taken the place of several: of its key's last one, and of one that said
    the same. History leads to one of them only, the others are known by whom they gave way to.
    """
    found: set[str] = set()
    new = set(refs)
    while new:
        rows = [row for row in setup.store.get(user, sorted(new)) if row.type == Memory.type]
        found |= {row.ref for row in rows}
        same = load_all(_saying(setup, user, rows), Memory)
        linked = [memory for row in rows for memory in versions(setup, load_all([row], Memory)[0])]
        linked += [memory for memory in same if memory.superseded_by in found]
        new = {memory.ref for memory in linked} - found
    return found


def cut_from_history(
    setup: Setup, user: str, asked: Iterable[Row], gone: Collection[str]
) -> set[str]:
    """Take what is forgotten out of the history of other memories; return the refs to delete.

    Where one of them still says it, it is theirs and stays.
    """
    rows = [row for row in asked if row.type == Memory.type]
    others = [row for row in _saying(setup, user, rows) if row.ref not in gone]
    theirs = {row.digest for row in others if row.live}
    copies = [row.ref for row in others if row.digest not in theirs]
    for ref in copies:
        # Read one by one: two of them may be neighbours.
        [copy] = load_all(setup.store.get(user, [ref]), Memory)
        _close_the_gap(setup, copy)
    return set(copies)


def _saying(setup: Setup, user: str, rows: Collection[Row]) -> list[Row]:
    """Return the memories that say the same as one of these, history included."""
    if not rows:
        return []
    digests = tuple({row.digest for row in rows})
    return setup.store.query(user, Find(types=(Memory.type,), digests=digests, live=None))


def _close_the_gap(setup: Setup, copy: Memory) -> None:
    """Link the versions around one that goes, and let none of them quote it."""
    for memory in versions(setup, copy):
        update: dict[str, Any] = {}
        if memory.supersedes == copy.ref:
            update["supersedes"] = copy.supersedes
        if memory.superseded_by == copy.ref:
            update["superseded_by"] = copy.superseded_by
        if memory.was and fold(memory.was) == fold(copy.text):
            update["was"] = ""
        if update:
            setup.store.put([memory.model_copy(update=update).row()])

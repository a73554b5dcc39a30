"""How memories come, change and go.

The same text in the same scope is a restatement: it counts, and nothing is stored twice. Another
text under the same key takes the old one's place; the old one stays as history and is no longer
found. Forgetting removes every version, and takes the text out of every block that shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .errors import InvalidValue, NotFound
from .pipeline import Setup
from .protocols import Find, Row
from .records import Memory, load_all
from .refs import short_refs
from .stages import stage
from .state import StoredBlock


@stage("remember")
def remember(setup: Setup, user: str, **values: Any) -> Memory:
    """Store a memory and return it as it now stands."""
    store = setup.store
    with store.atomic(user):
        make_ref = short_refs(store, user, setup.random)
        new = Memory(user=user, ref=make_ref(Memory.prefix), at=setup.clock(), **values)
        standing = _standing(setup, new)
        if len(standing) == 1 and _restates(new, standing[0]):
            kept = _restated(standing[0], new)
            store.put([kept.row()])
            return kept
        if standing:
            stated = sum(old.seen for old in standing if _says_same(new, old))
            update = {"supersedes": standing[0].ref, "seen": new.seen + stated}
            new = new.model_copy(update=update)
        return _put_in_place(setup, new, standing)


def edit(setup: Setup, user: str, ref: str, **values: Any) -> Memory:
    """Put another text, kind or scope in a memory's place; the old one stays as history."""
    store = setup.store
    with store.atomic(user):
        rows = [row for row in store.get(user, [ref]) if row.type == Memory.type]
        if not rows:
            raise NotFound(f"there is no memory {ref!r}: see search().")
        [old] = load_all(rows, Memory)
        if old.superseded_by:
            raise InvalidValue(f"memory {ref!r} was replaced by {old.superseded_by!r}: edit that.")
        new = old.model_copy(update=values)
        if new == old:
            return old
        made = short_refs(store, user, setup.random)(Memory.prefix)
        fresh = {"ref": made, "at": setup.clock(), "supersedes": ref}
        new = Memory(**(new.model_dump() | fresh))
        same = [other for other in _standing(setup, new) if other.ref != ref]
        return _put_in_place(setup, new, [old, *same])


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


@stage("forget")
def forget(setup: Setup, user: str, rows: Iterable[Row]) -> int:
    """Remove these rows, every version of the memories among them, and their text in blocks."""
    store = setup.store
    with store.atomic(user):
        refs = {row.ref for row in rows}
        refs |= _all_versions(setup, user, refs)
        store.put(_scrubbed(setup, user, refs))
        return store.delete(user, sorted(refs))


def _all_versions(setup: Setup, user: str, refs: Collection[str]) -> set[str]:
    """Return the refs of every version of the memories among these.

    One memory may have taken the place of several: of its key's last one, and of one that said
    the same. History leads to one of them only, the others are known by whom they gave way to.
    """
    found: set[str] = set()
    new = set(refs)
    while new:
        rows = [row for row in setup.store.get(user, sorted(new)) if row.type == "memory"]
        found |= {row.ref for row in rows}
        said = Find(types=("memory",), digests=tuple(row.digest for row in rows), live=None)
        same = load_all(setup.store.query(user, said), Memory) if rows else []
        linked = [memory for row in rows for memory in versions(setup, load_all([row], Memory)[0])]
        linked += [memory for memory in same if memory.superseded_by in found]
        new = {memory.ref for memory in linked} - found
    return found


def _put_in_place(setup: Setup, new: Memory, standing: Iterable[Memory]) -> Memory:
    replaced = [old.model_copy(update={"superseded_by": new.ref}) for old in standing]
    setup.store.put([memory.row() for memory in (*replaced, new)])
    return new


def _standing(setup: Setup, new: Memory) -> list[Memory]:
    """Return the live memories that the new one restates or replaces: same key, then same text."""
    asked = [Find(types=("memory",), digests=(new.row().digest,))]
    if new.key:
        asked.insert(0, Find(types=("memory",), keys=(new.key,), scopes=(new.scope,)))
    rows = {row.ref: row for find in asked for row in setup.store.query(new.user, find)}
    found = [Memory.model_validate_json(row.body) for row in rows.values()]
    return [old for old in found if _may_replace(new, old)]


def _may_replace(new: Memory, old: Memory) -> bool:
    if new.trust == "untrusted" and old.trust == "trusted":
        return False
    return not (new.key and old.key) or new.key == old.key


def _says_same(new: Memory, old: Memory) -> bool:
    return new.row().digest == old.row().digest


def _restates(new: Memory, old: Memory) -> bool:
    return _says_same(new, old) and (new.kind, new.trust) == (old.kind, old.trust)


def _restated(old: Memory, new: Memory) -> Memory:
    update = {"seen": old.seen + 1, "at": new.at, "key": new.key or old.key}
    return old.model_copy(update=update)


def _scrubbed(setup: Setup, user: str, refs: Collection[str]) -> list[Row]:
    found: dict[str, StoredBlock] = {}
    for ref in refs:
        for row, _ in setup.store.search(user, [ref], Find(types=("block",))):
            found.setdefault(row.ref, StoredBlock.model_validate_json(row.body))
    return [
        stored.model_copy(
            update={
                "pieces": stored.block.without(refs).pieces,
                "gone": (*stored.gone, *sorted(stored.block.refs & set(refs))),
            }
        ).row()
        for stored in found.values()
        if stored.block.refs & set(refs)
    ]

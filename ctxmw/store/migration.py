"""Moves everything from one store to another: every user, every row, history, feed and vectors.

It goes on where it was stopped: rows are taken over in the order of the changes feed and keep their
positions, so the target itself tells how far it is. What is written to the source meanwhile is
brought after. At the end both are read again and compared, by counts and by a hash of all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..errors import StoreError
from ..protocols import Change, Find, Row, Store
from ..text.cleaning import counted
from .rows import RowsDone, batches

BATCH = 500
"""Rows taken over at a time; what is stopped loses no more than these."""

WHOLE = "*"
"""The ref of blobs that are made from all rows of a user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """What a user has in a store."""

    rows: int
    gone: int
    blobs: int
    hash: str
    """SHA-256 over all of it, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What was moved, and found equal on both sides."""

    users: int
    rows: int
    blobs: int
    copied: int
    """Rows that were written now; the others were there from an earlier run."""
    hash: str
    """SHA-256 over the hashes of all users."""


def migrate(source: Store, target: Store, progress: RowsDone | None = None) -> Migrated:
    """Bring everything in the source into the target, and verify it.

    Raises StoreError when the target holds something of a user that the source does not, or when
    the two differ at the end because somebody writes to one of them.
    """
    users = source.users()
    for user in users:
        _check_takes(source, target, user)
    copied = _copied(source, target, users, progress)
    found = [_verified(source, target, user) for user in users]
    return Migrated(
        users=len(users),
        rows=sum(contents.rows for contents in found),
        blobs=sum(contents.blobs for contents in found),
        copied=copied,
        hash=sha256("".join(contents.hash for contents in found).encode()).hexdigest(),
    )


def contents(store: Store, user: str) -> StoreContents:
    """Read everything a user has in a store."""
    feed = store.changes(user, 0)
    hashed = sha256()
    rows = blobs = 0
    for change in feed:
        hashed.update(repr((change.seq, change.ref, change.type, change.gone)).encode())
    for row in _rows(store, user, feed):
        rows += 1
        hashed.update(repr(row).encode())
    for space, ref, data in _blobs(store, user):
        blobs += 1
        hashed.update(repr((space, ref)).encode() + sha256(data).digest())
    gone = sum(change.gone for change in feed)
    return StoreContents(rows=rows, gone=gone, blobs=blobs, hash=hashed.hexdigest())


def _check_takes(source: Store, target: Store, user: str) -> None:
    """Raise unless everything the target has of a user came from the source."""
    known = {change.ref for change in source.changes(user, 0)}
    strange = [change.ref for change in target.changes(user, 0) if change.ref not in known]
    if strange:
        raise StoreError(
            f"the target has {counted(len(strange), 'record')} of user {user!r:.60} that the "
            f"source has not ({strange[0]!r:.60}): choose an empty target. Nothing was changed."
        )


def _copied(source: Store, target: Store, users: Sequence[str], progress: RowsDone | None) -> int:
    total = sum(source.count(user, Find(live=None)) for user in users)
    before = sum(target.count(user, Find(live=None)) for user in users)
    copied = 0
    for user in users:
        for rows in _brought(source, target, user):
            copied += rows
            if progress is not None:
                progress(min(before + copied, total), total)
        _bring_blobs(source, target, user)
    if progress is not None:
        progress(total, total)
    return copied


def _brought(source: Store, target: Store, user: str) -> Iterator[int]:
    """Take over what the target lacks, and yield how many rows with each batch."""
    reached = max([0, *(change.seq for change in target.changes(user, 0))])
    while changes := source.changes(user, reached):
        for start in range(0, len(changes), BATCH):
            some = changes[start : start + BATCH]
            rows = source.get(user, [change.ref for change in some if not change.gone])
            # A row that was written again meanwhile comes with a later position, in a next round.
            due = [row for row in rows if row.seq <= some[-1].seq]
            target.restore(user, due, [change for change in some if change.gone])
            yield len(due)
        reached = changes[-1].seq


def _bring_blobs(source: Store, target: Store, user: str) -> None:
    for space in source.blob_spaces(user):
        known = set(target.blob_refs(user, space))
        # What is made from all rows may be another by now; the rest goes with its row.
        missing = (ref for ref in source.blob_refs(user, space) if ref not in known or ref == WHOLE)
        for refs in batches(missing, BATCH):
            target.put_blobs(user, space, source.get_blobs(user, space, refs))


def _verified(source: Store, target: Store, user: str) -> StoreContents:
    ours, theirs = contents(source, user), contents(target, user)
    if ours != theirs:
        raise StoreError(
            f"source and target differ for user {user!r:.60}: {ours.rows} and {theirs.rows} "
            f"records, {ours.blobs} and {theirs.blobs} vectors. Somebody writes to one of them: "
            "stop that and run it again."
        )
    return theirs


def _rows(store: Store, user: str, feed: Sequence[Change]) -> Iterator[Row]:
    for refs in batches((change.ref for change in feed if not change.gone), BATCH):
        yield from store.get(user, refs)


def _blobs(store: Store, user: str) -> Iterator[tuple[str, str, bytes]]:
    for space in store.blob_spaces(user):
        for refs in batches(store.blob_refs(user, space), BATCH):
            found: dict[str, Any] = store.get_blobs(user, space, refs)
            yield from ((space, ref, found[ref]) for ref in refs if ref in found)

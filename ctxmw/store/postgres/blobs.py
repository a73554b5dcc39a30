"""Bytes that can be made again from rows: vectors, and copies of search indexes.

They go with the rows they were made from, by triggers, so no writer can forget to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TypeVar

from ...errors import InvalidValue
from ...runtime.packing import Reads
from ..rows import identifier, named_user, possible_texts
from .address import Address
from .transactions import Transactions

T = TypeVar("T")


class Blobs:
    """The part of the store that keeps blobs."""

    address: Address
    transactions: Transactions

    def put_blobs(self, user: str, space: str, blobs: Mapping[str, bytes], /) -> None:
        """Keep bytes that can be made again from a row, under its ref: vectors, or an index.

        The ref "*" is for what is made from all of the user's rows. When a row goes, or its search
        text changes, the blobs under its ref and under "*" go in the same transaction; when it
        becomes history, only those under its ref. A blob whose row is not there, because it was
        forgotten meanwhile, is not kept.
        """
        user, space = named_user(user), identifier(space, "space")
        for ref, data in blobs.items():
            _check(ref, data)
        owner = self.address.owner(user)
        bound = {"owner": owner, "space": space, "refs": [*blobs], "blobs": [*blobs.values()]}
        # Blobs of rows have an owner already; those of nothing but themselves may be the first.
        named = [(_NEW_OWNER, [owner, user])] if "*" in blobs else []
        self.transactions.write(user, *named, (_PUT_BLOBS, bound))

    def get_blobs(self, user: str, space: str, refs: Sequence[str], /) -> dict[str, bytes]:
        """Return the blobs that exist, by ref."""
        user = named_user(user)
        asked = [
            self.address.owner(user),
            identifier(space, "space"),
            possible_texts(refs, "refs"),
        ]
        return dict(self.transactions.read(user, _GET_BLOBS, asked, binary=True))

    def read_blob(self, user: str, space: str, take: Callable[[Reads], T], /) -> T | None:
        """Return what is taken from the blob under "*"; None: no blob."""
        data = self.get_blobs(user, space, ["*"]).get("*")
        return None if data is None else take(BytesIO(data))

    def blob_refs(self, user: str, space: str, /) -> list[str]:
        """Return the refs that have a blob in this space."""
        user = named_user(user)
        asked = [self.address.owner(user), identifier(space, "space")]
        return sorted(ref for (ref,) in self.transactions.read(user, _BLOB_REFS, asked))

    def blob_spaces(self, user: str, /) -> list[str]:
        """Return the spaces in which the user has blobs."""
        user = named_user(user)
        found = self.transactions.read(user, _BLOB_SPACES, [self.address.owner(user)])
        return sorted(space for (space,) in found)

    def drop_blobs(self, user: str, space: str, /) -> None:
        """Forget every blob of this space."""
        user = named_user(user)
        bound = [self.address.owner(user), identifier(space, "space")]
        self.transactions.write(user, (_DROP_BLOBS, bound))


_NEW_OWNER = "INSERT INTO owners (owner, name, seq) VALUES (%s, %s, 0) ON CONFLICT DO NOTHING"
# A vector is made outside of any transaction; its row may be forgotten by the time it is kept.
_PUT_BLOBS = """
INSERT INTO blobs (owner, space, ref, data)
SELECT %(owner)s, %(space)s, new.ref, new.data
FROM unnest(%(refs)s::text[], %(blobs)s::bytea[]) AS new (ref, data)
WHERE new.ref = '*'
    OR EXISTS (SELECT 1 FROM records WHERE records.owner = %(owner)s AND records.ref = new.ref)
ON CONFLICT (owner, space, ref) DO UPDATE SET data = excluded.data"""
_GET_BLOBS = "SELECT ref, data FROM blobs WHERE owner = %s AND space = %s AND ref = ANY(%s)"
_BLOB_REFS = "SELECT ref FROM blobs WHERE owner = %s AND space = %s"
_BLOB_SPACES = "SELECT DISTINCT space FROM blobs WHERE owner = %s"
_DROP_BLOBS = "DELETE FROM blobs WHERE owner = %s AND space = %s"


def _check(ref: str, data: object) -> None:
    identifier(ref, "ref")
    if not isinstance(data, bytes):
        raise InvalidValue(f"the blob of {ref!r:.60} must be bytes, not {type(data).__name__}.")

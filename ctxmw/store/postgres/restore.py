"""Who has something in the Postgres store, and rows taken over as another store had them."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocols import Change, Row
from ..rows import identifier, named_user
from .address import Address
from .rows import columns_of
from .transactions import Step, Transactions


class Restoring:
    """The part of the store that moves whole stores."""

    address: Address
    transactions: Transactions

    def users(self) -> list[str]:
        """Return everybody who has something in the store, in order."""
        rows = self.transactions.read(_NOBODY, "SELECT name FROM owners", [], before=[(_ALL, [])])
        return sorted(name for (name,) in rows)

    def restore(self, user: str, rows: Sequence[Row], gone: Sequence[Change], /) -> None:
        """Write rows, and that others are gone, as another store had them, positions included."""
        user = named_user(user)
        newest = max([0, *(row.seq for row in rows), *(each.seq for each in gone)])
        bound = {"owner": self.address.owner(user), "name": user, "newest": newest}
        steps: list[Step] = [(_HEAD, bound)]
        if rows:
            columns = columns_of(rows) | {"place": [row.seq for row in rows]}
            steps.append((PUT.format(head="SELECT 0 AS seq"), {**columns, **bound}))
        if gone:
            refs = [identifier(each.ref, "ref") for each in gone]
            left = {"types": [each.type for each in gone], "seqs": [each.seq for each in gone]}
            steps.append((_DELETE, {"refs": refs, **bound}))
            steps.append((_GONE, {"refs": refs, **left, **bound}))
        self.transactions.write(user, *steps)


PUT = """
WITH head AS ({head})
INSERT INTO records (owner, ref, type, live, at, seq, session, key, digest, scope, source,
    search_text, words, body)
SELECT %(owner)s, new.ref, new.type, new.live, new.at, head.seq + new.place, new.session, new.key,
    new.digest, new.scope, new.source, new.search_text, new.words::tsvector, new.body
FROM head, unnest(%(ref)s::text[], %(type)s::text[], %(live)s::boolean[], %(at)s::timestamptz[],
    %(place)s::bigint[], %(session)s::text[], %(key)s::text[], %(digest)s::text[],
    %(scope)s::text[], %(source)s::text[], %(search_text)s::text[], %(words)s::text[],
    %(body)s::text[]) AS new (ref, type, live, at, place, session, key, digest, scope, source,
    search_text, words, body)
ON CONFLICT (owner, ref) DO UPDATE SET type = excluded.type, live = excluded.live,
    at = excluded.at, seq = excluded.seq, session = excluded.session, key = excluded.key,
    digest = excluded.digest, scope = excluded.scope, source = excluded.source,
    search_text = excluded.search_text, words = excluded.words, body = excluded.body"""
_HEAD = """
INSERT INTO owners (owner, name, seq) VALUES (%(owner)s, %(name)s, %(newest)s)
ON CONFLICT (owner) DO UPDATE SET seq = greatest(owners.seq, excluded.seq)"""
_DELETE = "DELETE FROM records WHERE owner = %(owner)s AND ref = ANY(%(refs)s)"
_GONE = """
INSERT INTO gone (owner, ref, type, seq)
SELECT %(owner)s, gone.ref, gone.type, gone.seq
FROM unnest(%(refs)s::text[], %(types)s::text[], %(seqs)s::bigint[]) AS gone (ref, type, seq)
ON CONFLICT (owner, ref) DO UPDATE SET type = excluded.type, seq = excluded.seq"""
_NOBODY = "\0everybody"
_ALL = "SELECT set_config('ctxmw.every_name', 'on', true)"

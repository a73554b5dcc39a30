"""What many workers do at once; light, for other processes load it too."""

from __future__ import annotations

from ctxmw.protocols import Find
from ctxmw.store.postgres.pool import Limits
from ctxmw.store.postgres.store import PostgresStore
from ctxmw.testing.case import at_once, row

WORKERS = 32
ANYTHING = Find(live=None)


def count_up_in_threads(
    dsn: str, schema: str, group: int, rounds: int
) -> list[tuple[int, list[str]]]:
    return at_once(lambda n: count_up(dsn, schema, group * 8 + n, rounds), WORKERS // 4)


def count_up(dsn: str, schema: str, number: int, rounds: int) -> tuple[int, list[str]]:
    """Add to a shared counter and to one's own rows; return what others' rows were seen."""
    store = PostgresStore(dsn, schema=schema, limits=Limits(connections=2, patience=20))
    mine, crossed = f"user{number}", []
    for turn in range(rounds):
        with store.atomic("shared"):
            (now,) = store.get("shared", ["count"])
            store.put([row("count", str(int(now.body) + 1), user="shared")])
        store.put([row(f"m{turn}", f"tea of {mine}", user=mine)])
        kept = store.query(mine, ANYTHING) + [hit for hit, _ in store.search(mine, ["tea"], Find())]
        crossed += [each.body for each in kept if each.body != f"tea of {mine}"]
    store.close()
    return rounds, crossed

"""Retention: what is removed by its age, where somebody asked for that, with a receipt of it.

Nothing is removed by age unless a policy says so. What is learned from a turn outlives the turn: it
has an age of its own. Of what goes every copy goes, in blocks that showed it too, and messages that
are sent once more are not captured again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar

from ..protocols import Find, Row
from ..runtime.lru import LruCache
from ..runtime.telemetry import Telemetry, stage
from ..store.journal import Journal
from ..text.cleaning import counted
from ..values.clocks import after
from ..values.items import long_ref
from ..values.records import Moment, Record
from ..values.retention import Retention

log = logging.getLogger("ctxmw")

PAUSE = timedelta(hours=1)
"""How often a process looks for what has come of age, for each user."""
AT_ONCE = 500
"""Records that go in one transaction: whoever else writes waits no longer than for these."""


class Receipt(Record):
    """What was removed by age: how many records of each type, which, and what was the limit."""

    type: ClassVar[str] = "receipt"
    prefix: ClassVar[str] = "receipt-"

    removed: dict[str, int]
    """How many, by type."""
    before: dict[str, Moment]
    """What was older than this went, by type."""
    refs: tuple[str, ...]
    oldest: Moment
    """The time of the oldest of them."""

    def foreign(self) -> str:
        """Return nothing: refs, times and figures are ours."""
        return ""

    def __str__(self) -> str:
        return ", ".join(counted(n, type_) for type_, n in sorted(self.removed.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Removes what is older than the policy allows."""

    policy: Retention
    journal: Journal
    telemetry: Telemetry
    looked: LruCache[str, datetime] = field(default_factory=lambda: LruCache(1024))
    """When each user's records were last looked at."""

    def apply(self, user: str) -> list[Receipt]:
        """Remove all that has come of age; return a receipt for each transaction."""
        receipts = []
        while (receipt := self._remove(user)) is not None:
            receipts.append(receipt)
        return receipts

    def due(self, user: str) -> dict[str, int]:
        """Return how many records of each type would go now; nothing is removed."""
        counts = {
            type_: self.journal.store.count(user, _older(type_, before))
            for type_, before in self._limits().items()
        }
        return {type_: n for type_, n in counts.items() if n}

    def look_in_passing(self, user: str) -> None:
        """Remove some of what has come of age, now and then, beside somebody's call.

        Whatever fails is set aside: the call that waits is about something else.
        """
        if self.journal.store.in_atomic():
            return  # a removal that fails would undo what the caller has done
        now, last = self.journal.clock(), self.looked.get(user)
        if last is not None and timedelta(0) <= now - last < PAUSE:
            return
        self.looked.put(user, now)
        try:
            receipt = self._remove(user)
            if receipt is not None and len(receipt.refs) >= AT_ONCE:
                self.looked.let_go([user])  # there may be more: the next call goes on
        # A transaction of its own: nothing of it is half done.
        except Exception as error:  # noqa: BLE001
            says = "what has come of age was not removed"
            self.journal.faults.tell("retention", (user, "retention"), error, says)

    @stage("retention")
    def _remove(self, user: str) -> Receipt | None:
        from .forget import remembering_what_is_gone, scrubbed_blocks

        store = self.journal.store
        with self.telemetry.observer.operation("retention"), store.atomic(user):
            limits, rows = self._limits(), list[Row]()
            for type_, before in limits.items():
                rows += store.query(user, _older(type_, before, AT_ONCE - len(rows)))
                if len(rows) >= AT_ONCE:
                    break
            if not rows:
                return None
            receipt = self._receipt(user, rows, limits)
            store.put(remembering_what_is_gone(self.journal, user, receipt.refs))
            store.put(scrubbed_blocks(store, user, receipt.refs))
            store.delete(user, receipt.refs)
            store.put([receipt.row()])
        for type_, n in receipt.removed.items():
            self.telemetry.stats.count(f"retention.{type_}", n)
        log.info("removed by age: %s (%s)", receipt, receipt.ref)
        return receipt

    def _limits(self) -> dict[str, datetime]:
        now = self.journal.clock()
        return {type_: after(now, -age) for type_, age in self.policy.ages().items()}

    def _receipt(self, user: str, rows: list[Row], limits: Mapping[str, datetime]) -> Receipt:
        removed = Counter(row.type for row in rows)
        return Receipt(
            user=user,
            ref=long_ref(Receipt.prefix, self.journal.random),
            at=self.journal.clock(),
            removed=dict(removed),
            before={type_: limits[type_] for type_ in removed},
            refs=tuple(sorted(row.ref for row in rows)),
            oldest=min(row.at for row in rows),
        )


def _older(type_: str, before: datetime, limit: int | None = None) -> Find:
    return Find(types=(type_,), until=before, live=None, newest_first=False, limit=limit)


def receipts_of(journal: Journal, user: str) -> list[Receipt]:
    """Return the receipts of all that was removed by age, the newest first."""
    return journal.read(journal.store.query(user, Find(types=(Receipt.type,))), Receipt)

"""Where records are written: the store, the time, and refs that are not taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from ..protocols import Clock, Row, Store
from ..runtime.faults import Faults
from ..values.items import MakeRef, short_refs
from ..values.records import AnyRecord, load_as


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What it takes to write a record, and to read one that may be damaged."""

    store: Store
    clock: Clock
    random: Random
    faults: Faults

    def new(self, cls: type[AnyRecord], user: str, **values: Any) -> AnyRecord:
        """Return a new record of the user's, of this moment unless `at` is given; not stored yet.

        To be called inside `store.atomic`: its ref is one that the user has not got.
        """
        if "at" not in values:
            values["at"] = self.clock()
        return cls(user=user, ref=self.refs(user)(cls.prefix), **values)

    def refs(self, user: str) -> MakeRef:
        """Return a maker of refs for several new records; use it inside `store.atomic`."""
        return short_refs(self.store, user, self.random)

    def read(self, rows: Iterable[Row], cls: type[AnyRecord]) -> list[AnyRecord]:
        """Return the records of these rows; those that cannot be read are set aside."""
        return self.faults.read(rows, lambda row: load_as(row, cls))

"""What earlier conversations left: notes on where the work stands, summaries, observations."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocols import Store
from ...runtime.faults import Faults
from ...store.feed import Feed
from ...values.items import Item
from ...values.record_items import row_item
from ...values.situation import Situation, Weights
from .shelf import Shelf
from .shortlist import Shortlist


class Sessions:
    """Notes, summaries and observations of every conversation but the present one."""

    name = "sessions"

    def __init__(
        self, store: Store, faults: Faults | None = None, feed: Feed | None = None
    ) -> None:
        types = ("note", "summary", "observation")
        self._shelf = Shelf(store, types, row_item, faults=faults, feed=feed)

    def items(self, situation: Situation, /) -> tuple[Item, ...]:
        """Return what other conversations left behind."""
        return tuple(
            item
            for item in self._shelf.items(situation.user)
            if item.session != situation.session and item.trust == "trusted"
        )

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best of it that is in scope."""
        return self._shelf.best(situation, weights, most)

"""What people asked to be remembered."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocols import Row, Store
from ...runtime.telemetry import Faults
from ...store.journal import Feed
from ...values.items import Item
from ...values.record_items import memory_item
from ...values.records import Memory, load_as
from ...values.situation import Situation, Weights
from .shelf import Shelf
from .shortlist import Shortlist


class Memories:
    """The user's memories."""

    name = "memories"

    def __init__(
        self, store: Store, faults: Faults | None = None, feed: Feed | None = None
    ) -> None:
        self._shelf = Shelf(store, ("memory",), _item_of_row, faults=faults, feed=feed)

    def items(self, situation: Situation, /) -> tuple[Item, ...]:
        """Return what trusted writers left and holds; strangers' words come when asked for."""
        kept = self._shelf.items(situation.user)
        trusted = [item for item in kept if item.trust == "trusted"]
        return tuple([item for item in trusted if item.holds_at(situation.now)])

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best of them that are in scope."""
        return self._shelf.best(situation, weights, most)


def _item_of_row(row: Row) -> Item:
    # A memory is of no conversation: the one that brought it about shows it, too.
    return memory_item(load_as(row, Memory), "")

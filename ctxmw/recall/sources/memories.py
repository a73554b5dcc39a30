"""What people asked to be remembered."""

from __future__ import annotations

from collections.abc import Mapping

from ...protocols import Row, Store
from ...runtime.faults import Faults
from ...store.feed import Feed
from ...text.cleaning import digest, one_line
from ...values.items import Item, Scope, changed
from ...values.records import INSTRUCTING, LASTING, Memory, load_as
from ...values.scoring import Weights
from ...values.situation import Situation
from .shelf import Shelf, Shortlist

WAS = 80
"""Characters that are shown of what a memory took the place of."""


class Memories:
    """The user's memories."""

    name = "memories"

    def __init__(
        self, store: Store, faults: Faults | None = None, feed: Feed | None = None
    ) -> None:
        self._shelf = Shelf(store, ("memory",), _item_of_row, faults=faults, feed=feed)

    def items(self, situation: Situation, /) -> tuple[Item, ...]:
        """Return what trusted writers left; strangers' words come only when asked for."""
        trusted = [item for item in self._shelf.items(situation.user) if item.trust == "trusted"]
        return tuple(trusted)

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best of them that are in scope."""
        return self._shelf.best(situation, weights, most)


def memory_item(memory: Memory) -> Item:
    """Return a memory as an item."""
    scope = Scope.parse(memory.scope)
    universal_decision = scope.kind == "universal" and memory.kind == "decision"
    return Item(
        ref=memory.ref,
        kind=memory.kind,
        text=_text_of(memory),
        lane=scope.kind,
        section="decisions" if universal_decision else scope.kind,
        label="Avoid" if memory.kind == "anti_pattern" else "",
        scope=scope,
        at=memory.at,
        session=memory.session,
        seen=memory.seen,
        ages=memory.kind not in LASTING,
        instructs=memory.kind in INSTRUCTING,
        trust=memory.trust,
        source=memory.source,
        version=digest(memory.text, memory.was)[:16],
        origins=memory.derived_from,
    )


def _text_of(memory: Memory) -> str:
    return f"{memory.text} (was: {one_line(memory.was, WAS)})" if memory.was else memory.text


def _item_of_row(row: Row) -> Item:
    # A memory is of no conversation: the one that brought it about shows it, too.
    return changed(memory_item(load_as(row, Memory)), session="")

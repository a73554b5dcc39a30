"""What the store offers by itself: memories of people, and what earlier conversations left.

That is notes on where the work stands, summaries, observations.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocols import Find, Row, Store
from ...runtime.telemetry import Faults
from ...store.journal import Feed, Journal
from ...values.items import Item
from ...values.record_items import memory_item, row_item
from ...values.records import Memory, load_as
from ...values.situation import Situation, Weights
from .shelf import Shelf, Shortlist


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


LATEST = 6
"""Notes of work with tools that come with the first message of a conversation."""
_LOOKED_AT = 40


def notes_after_tools(journal: Journal, situation: Situation) -> list[Item]:
    """Return the latest notes that are no more trusted than the tools they were made after.

    They have no place in a system prompt, and still tell where the work stands. What is done is
    told in its project only: elsewhere nobody goes on with it.
    """
    asked = Find(types=("note",), limit=_LOOKED_AT)
    rows = journal.store.query(situation.user, asked)
    here = {"project": situation.project, "language": situation.language}
    notes = {
        " ".join(item.text.casefold().split()): item
        for item in reversed(journal.faults.read(rows, row_item))
        if item.trust == "untrusted"
        and item.session != situation.session
        and item.scope.admits(**here)
        and (item.kind != "done" or item.scope.kind == "project")
    }
    return list(notes.values())[-LATEST:]


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

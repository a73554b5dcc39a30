"""What a prompt shows already, and what need not be said again because of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ..store.journal import Journal
from ..values.items import Item
from ..values.records import Derived, Turn, load

_QUOTING = ("memory", "observation", "note")
"""What is learned from a turn and may repeat its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InView:
    """What a prompt holds of its own conversation."""

    prints: frozenset[str] = frozenset()
    """Hashes of the messages in view."""
    refs: frozenset[str] = frozenset()
    """Captured turns that are in view, where the conversation was compacted."""
    compacted: bool = False

    def own(self, session: str) -> tuple[str, int] | None:
        """Return the conversation and how many messages of it are in view, when that is all.

        Of a compacted conversation most turns are not.
        """
        return None if self.compacted else (session, len(self.prints))

    def holds(self, item: Item) -> bool:
        """Say whether the words of a turn are in view, wherever they were said."""
        return item.version.rstrip("*") in self.prints or item.ref in self.refs


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyShown:
    """What a prompt shows before the turn's part is chosen."""

    refs: Collection[str] = ()
    """What is in view in whatever form, and what was taken out of the conversation."""
    whole: Collection[str] = ()
    """Those of it that are there in full."""
    listed: Collection[str] = ()
    """What an index in view lists."""
    said: InView = field(default_factory=InView)
    """Messages of the conversation itself."""
    points_on: bool = True
    """Whether the prompt tells how to ask for more."""


def unsaid(journal: Journal, user: str, items: Sequence[Item], said: InView) -> Sequence[Item]:
    """Return the items without what was learned from a message that is in view."""
    origins = {ref for item in items for ref in item.origins}
    if not origins:
        return items
    rows = [row for row in journal.store.get(user, sorted(origins)) if row.type == "turn"]
    turns = journal.read(rows, Turn)
    seen = {turn.ref for turn in turns if turn.print in said.prints}
    return [item for item in items if seen.isdisjoint(item.origins)]


def unquoted(
    journal: Journal, user: str, items: Sequence[Item], shown: Collection[str]
) -> Sequence[Item]:
    """Return the items without turns that something shown in full was learned from, and quotes."""
    turns = {item.ref: item for item in items if item.kind == "turn"}
    if not turns or not shown:
        return items
    rows = [row for row in journal.store.get(user, sorted(shown)) if row.type in _QUOTING]
    quoted = {
        ref
        for record in journal.faults.read(rows, load)
        if isinstance(record, Derived)
        for ref in record.derived_from
        if ref in turns and _on_one_line(turns[ref].text) in _on_one_line(record.says())
    }
    return [item for item in items if item.ref not in quoted]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())

"""One item that a prompt was made from, as the record of it keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .items import Include, Shown, Trust
from .records import TYPES_OF_KIND
from .text import one_line

if TYPE_CHECKING:
    from .selection import Choice

BlockKind = Literal["stable", "turn"]
Since = Literal["", "changed", "gone"]
_RECORDED = frozenset({*TYPES_OF_KIND, "notice"}) - {"rule"}
"""Kinds of items whose words are looked up in the store; of others, the title is kept."""


class Used(NamedTuple):
    """One item that was considered: how it came in, what it scored, how it was shown.

    A record holds a hundred of them: as tuples they are made fast and stored without field names.
    """

    ref: str
    kind: str
    include: Include
    shown: Shown
    score: float
    tokens: int
    """Tokens as shown; in full when it was not shown."""
    lane: str
    block: BlockKind
    version: str
    """Hash of the text that was shown."""
    trust: Trust = "trusted"
    reason: str = ""
    signals: dict[str, float] = {}  # noqa: RUF012 - a default of a tuple, never written to
    name: str = ""
    """What it is called, if it is no record: its name in the catalog, a definition, a file."""
    words: str = ""
    """What it says; looked up, never stored with the record."""
    since: Since = ""
    """What became of it after it was shown; looked up as well."""

    @property
    def title(self) -> str:
        """Its first words."""
        return one_line(self.words, 60)

    def stored(self) -> dict[str, Any]:
        """Return what is kept, by name: all but what is looked up."""
        return dict(zip(self._fields[:STORED], self, strict=False))


STORED = Used._fields.index("words")
"""So many of its fields are kept."""


def used_of(choices: Iterable[Choice], block: BlockKind) -> tuple[Used, ...]:
    """Return what the record keeps of choices."""
    return tuple([_used(choice, block) for choice in choices])


def _used(choice: Choice, block: BlockKind) -> Used:
    item, shown, tokens, reason = choice
    return Used(
        item.ref,
        item.kind,
        item.include,
        shown,
        item.score,
        tokens,
        item.lane,
        block,
        item.version,
        item.trust,
        reason,
        dict(item.reasons),
        item.title if item.kind not in _RECORDED else "",
        item.title or item.text,
    )

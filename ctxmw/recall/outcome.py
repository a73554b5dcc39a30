"""One item that a prompt was made from, as the record of it keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator

from ..text.cleaning import one_line
from ..values.items import Include, Shown, Trust
from ..values.records import TYPES_OF_KIND

if TYPE_CHECKING:
    from .lanes import Choice

BlockKind = Literal["stable", "turn", "replayed", "fetched"]
"""The system prompt's block, the part of the call's turn, parts of earlier turns that are shown
again at their messages, and answers of our tools that the prompt holds."""
Since = Literal["", "changed", "gone"]
_RECORDED = frozenset({*TYPES_OF_KIND, "notice"}) - {"rule"}
"""Kinds of items whose words are looked up in the store; of others, the title is kept."""


def _pairs(given: Any) -> Any:
    """Return signals as they are kept here; stored, they are an object."""
    return tuple(given.items()) if isinstance(given, dict) else given


Reasons = Annotated[tuple[tuple[str, float], ...], BeforeValidator(_pairs)]


class ItemOutcome(NamedTuple):
    """One item that was considered: how it came in, what it scored, how it was shown.

    A record holds a hundred of them: as tuples they are made fast and stored without field names.
    """

    ref: str
    kind: str
    include: Include
    shown: Shown
    score: float
    tokens: int
    """Tokens as shown; in full, or about that, when it was not shown."""
    lane: str
    block: BlockKind
    version: str
    """Hash of the text that was shown."""
    trust: Trust = "trusted"
    reason: str = ""
    rated: Reasons = ()
    """The signals behind the score; a tuple, for it is the item's own and not made anew."""
    name: str = ""
    """What it is called, if it is no record: its name in the catalog, a definition, a file."""
    words: str = ""
    """What it says; looked up, never stored with the record."""
    since: Since = ""
    """What became of it after it was shown; looked up as well."""

    @property
    def signals(self) -> dict[str, float]:
        """The signals behind the score, by name."""
        return dict(self.rated)

    @property
    def title(self) -> str:
        """Its first words."""
        return one_line(self.words, 60)

    def kept(self) -> tuple[Any, ...]:
        """Return what is kept: all but what is looked up."""
        return (*self[:_RATED], dict(self.rated), *self[_RATED + 1 : _KEPT])

    def stored(self) -> dict[str, Any]:
        """Return what is kept, by name."""
        names = (*self._fields[:_RATED], "signals", *self._fields[_RATED + 1 : _KEPT])
        return dict(zip(names, self.kept(), strict=True))


_RATED, _KEPT = ItemOutcome._fields.index("rated"), ItemOutcome._fields.index("words")


def used_of(choices: Iterable[Choice], block: BlockKind) -> tuple[ItemOutcome, ...]:
    """Return what the record keeps of choices."""
    return tuple([_used(choice, block) for choice in choices])


def _used(choice: Choice, block: BlockKind) -> ItemOutcome:
    item, shown, tokens, reason = choice
    return ItemOutcome(
        item.ref,
        item.kind,
        item.include,
        shown,
        item.score,
        tokens,
        item.lane,
        block,
        item.version,
        "untrusted" if item.tainted else item.trust,
        reason or item.because,
        item.reasons,
        item.title if item.kind not in _RECORDED else "",
        item.title or item.text,
    )

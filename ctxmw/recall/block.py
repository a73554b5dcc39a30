"""A block of rendered text, and the draft it is made from.

A block is kept as pieces, each with the ref it shows, so that one item can be taken out later
without touching a byte of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ..errors import InvalidValue
from ..protocols import Renderer
from ..tokens.prompt_counter import PromptCounter
from ..values.items import Item, Shown, newest_first, urgency
from .render import SECTIONS, TIMELINES

Piece = tuple[str, str]
"""The ref a text shows, or the mark of what holds the block together, and the text. A text made
from several records names them all, joined by `BETWEEN_REFS`."""

FRAME, HEADING, GROUP, END = "", "#", "##", "/"
_MARKS = frozenset({FRAME, HEADING, GROUP, END})
BETWEEN_REFS = "\x1f"


@dataclass(frozen=True)
class Block:
    """Rendered text, piece by piece. An empty block has no pieces and no text."""

    pieces: tuple[Piece, ...] = ()

    @cached_property
    def text(self) -> str:
        return "".join([text for _, text in self.pieces])

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the text, by which we recognise it as ours; "" for an empty block."""
        return hash_of(self.text) if self.text else ""

    @cached_property
    def refs(self) -> frozenset[str]:
        """What the block shows, in whatever form."""
        return frozenset(refs_of(BETWEEN_REFS.join([mark for mark, _ in self.pieces]))) - _MARKS

    def without(self, refs: Collection[str]) -> Block:
        """Return the block with these items taken out; empty when nothing else is left."""
        kept: list[Piece] = []
        # Headings wait for the first item under them that stays.
        heading: list[Piece] = []
        group: list[Piece] = []
        for piece in self.pieces:
            mark = piece[0]
            if mark == HEADING:
                heading, group = [piece], []
            elif mark == GROUP:
                group = [piece]
            elif mark == FRAME or (mark == END and not heading):
                kept.append(piece)
            elif mark != END and not any(ref in refs for ref in refs_of(mark)):
                kept += [*heading, *group, piece]
                heading, group = [], []
        block = Block(tuple(kept))
        return block if block.refs else Block()


def refs_of(mark: str) -> list[str]:
    """Return the refs that a piece's mark names."""
    return mark.split(BETWEEN_REFS)


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text as hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_PLENTY = 100
"""Tokens that hold most lines."""
_REF = 4
"""What a ref costs, on average."""
HUGE = 100_000
"""Characters beyond which a text is never shown in full."""

_Entry = tuple[Item, Shown, str]
"""An item, how much of it is shown, and the text it is printed as."""


class Draft:
    """What is going to be in a block so far, and what one more item would cost."""

    def __init__(
        self,
        renderer: Renderer,
        count: PromptCounter,
        title: Callable[[str], str],
        *,
        hint: bool,
        fetches: bool = True,
    ) -> None:
        """Where nothing `fetches`, what is shown in part does not tell where the rest of it is."""
        self._fetches = fetches
        self._renderer = renderer
        self._count = count
        self._title = title
        self._hint = hint
        self._entries: dict[str, _Entry] = {}
        self._open: set[str | tuple[str, str]] = set()
        """Sections that have something in them, and groups within them."""
        self._pieces: dict[tuple[str, str, Shown, str], tuple[str, int]] = {}
        """What was printed already and its tokens, by ref, version, form and passage; an item is
        asked for several times."""
        self.counts: dict[str, int] = {}
        """The tokens of what was printed."""
        self._headings: dict[str, tuple[str, str, int]] = {}

    @cached_property
    def frame_cost(self) -> int:
        return sum(map(self._count, self._renderer.frame(hint=self._hint)))

    def cost(self, item: Item) -> int:
        """Return what the item's full text costs, without its headings."""
        # What no budget can hold is not counted to the token.
        if len(item.text) > HUGE:
            return len(item.text) // 4
        return self._piece(item, "full")[1]

    def line_cost(self, item: Item) -> int:
        """Return what a line in the index costs that stands for the item, with any ref."""
        # Refs are random letters, and what is shown must not hang on which.
        return self._piece(item, "index")[1] - self._count(f" {item.ref}") + _REF

    def about(self, item: Item) -> int:
        """Return what the item's full text costs, or about that where it is not known."""
        known = self._at_hand(item, "full")
        if known is not None:
            return known[1]
        guess = self._count.about(item.text)
        return self.cost(item) if guess is None else guess

    def price(self, item: Item, shown: Shown, most: int) -> int:
        """Return what adding the item costs now, with the headings it would bring.

        What plainly costs more than `most` is not counted to the token.
        """
        if shown == "full" and len(item.text) > HUGE:
            return len(item.text)
        known = self._at_hand(item, shown)
        if known is None and most <= _PLENTY and shown != "brief":
            # Counting takes ten times as long as a glance. Of a line in the index, what the full
            # text costs is left open there: it is part of the line.
            text = self._renderer.item(item, shown, 0)
            if self._count.at_least(text) > most:
                return most + 1
            known = self._counted(item, shown, text) if shown == "full" else None
        price = (known or self._made(item, shown))[1]
        section = "index" if shown == "index" else item.section
        if section not in self._open:
            price += self._heading(section)[2]
        if item.group and shown != "index" and (section, item.group) not in self._open:
            price += self._count(self._renderer.group(item.group_title))
        return price

    def add(self, item: Item, shown: Shown) -> None:
        self._entries[item.ref] = (item, shown, self._piece(item, shown)[0])
        self._opened_by(item, shown)

    def drop_last(self) -> Item | None:
        """Take out what was added last and return it; None when nothing is left."""
        if not self._entries:
            return None
        item, _, _ = self._entries.pop(next(reversed(self._entries)))
        self._open.clear()
        for other, shown, _ in self._entries.values():
            self._opened_by(other, shown)
        return item

    def block(self) -> Block:
        """Return the draft as a block; empty when there is nothing in it."""
        if not self._entries:
            return Block()
        partial = {shown for _, shown, _ in self._entries.values()} != {"full"}
        opening, closing = self._renderer.frame(hint=self._hint and partial)
        sections: dict[str, list[_Entry]] = {}
        for entry in self._entries.values():
            section = "index" if entry[1] == "index" else entry[0].section
            sections.setdefault(section, []).append(entry)
        pieces = [
            piece
            for name in sorted(sections, key=SECTIONS.index)
            for piece in self._section_pieces(name, sections[name])
        ]
        return Block(((FRAME, opening), *pieces, (FRAME, closing)))

    def _section_pieces(self, name: str, entries: list[_Entry]) -> list[Piece]:
        opening, closing, _ = self._heading(name)
        pieces: list[Piece] = [(HEADING, opening)]
        group = ""
        begins = _begins(entries)
        for item, shown, text in sorted(entries, key=lambda entry: _printed_order(entry, begins)):
            if shown != "index" and item.group != group:
                group = item.group
                pieces.append((GROUP, self._renderer.group(item.group_title)))
            pieces.append((item.ref, text))
        return [*pieces, (END, closing)] if closing else pieces

    def _opened_by(self, item: Item, shown: Shown) -> None:
        if shown == "index":
            self._open.add("index")
            return
        self._open.add(item.section)
        if item.group:
            self._open.add((item.section, item.group))

    def _heading(self, section: str) -> tuple[str, str, int]:
        known = self._headings.get(section)
        if known is None:
            opening, closing = self._renderer.heading(self._title(section))
            known = opening, closing, self._count(opening) + self._count(closing)
            self._headings[section] = known
        return known

    def _at_hand(self, item: Item, shown: Shown) -> tuple[str, int] | None:
        """Return what was printed of the item and counted before, if it is known."""
        if not item.version:
            return None
        return self._pieces.get((item.ref, item.version, shown, item.passage))

    def _piece(self, item: Item, shown: Shown) -> tuple[str, int]:
        return self._at_hand(item, shown) or self._made(item, shown)

    def _made(self, item: Item, shown: Shown) -> tuple[str, int]:
        """Print the item and count that, for the first time."""
        cost = 0 if shown == "full" or not self._fetches else self.cost(item)
        return self._counted(item, shown, self._renderer.item(item, shown, cost))

    def _counted(self, item: Item, shown: Shown, text: str) -> tuple[str, int]:
        tokens = self._count(text)
        if item.version:
            self._pieces[item.ref, item.version, shown, item.passage] = text, tokens
            self.counts[text] = tokens
        return text, tokens


_Order = tuple[Any, ...]


def _begins(entries: Iterable[_Entry]) -> dict[str, _Order]:
    """Return what sorts each group among the others: what was said in it first."""
    begins: dict[str, _Order] = {}
    for item, _, _ in entries:
        begins[item.group] = min(item.order, begins.get(item.group, item.order))
    return begins


def _printed_order(entry: _Entry, begins: Mapping[str, _Order]) -> _Order:
    """Order what a section shows; what is equal stays in the order in which it was chosen.

    Conversations and what was said in them are told as they went. What conversations left comes
    newest first, open before done, and all else by priority, instructions before facts, the best
    first.
    """
    item, shown, _ = entry
    if shown == "index":
        return ((), "", -item.score, item.place, newest_first(item))
    if item.group:
        return (begins[item.group], item.group, item.order, item.place, -item.score)
    if item.section in TIMELINES:
        return ((), "", urgency(item), item.lane != "open", newest_first(item))
    first = urgency(item), not item.instructs, -item.score
    return ((), "", *first, item.place, item.order, newest_first(item))


def checked_item(item: object) -> Item:
    """Return an item of somebody's own source, or raise when it could not be shown."""
    if not isinstance(item, Item):
        raise InvalidValue(f"{item!r:.60} is no item: give Item(ref=..., kind=..., text=...).")
    if item.section not in SECTIONS:
        allowed = ", ".join(SECTIONS)
        raise InvalidValue(
            f"item {item.ref!r} has the section {item.section!r}. Allowed: {allowed}."
        )
    if item.ref in _MARKS:
        raise InvalidValue(f"an item has the ref {item.ref!r}: give it a name of its own.")
    return item

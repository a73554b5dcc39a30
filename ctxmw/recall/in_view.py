"""What a prompt shows already, and what need not be said again because of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..store.journal import Journal
from ..text.cleaning import fold
from ..text.terms import content_terms
from ..values.items import Item
from ..values.record_items import OUTDATED
from ..values.records import Memory, Turn

_SPACES = 8
"""Characters by which two texts may differ in length that say the same."""
_A_PHRASE = 20
"""Characters of what may stand anywhere by chance."""
_LOOKED_AT = 200
"""Memories that have run out whose turns are looked for."""
_MORE_THAN = 2
"""A turn that is longer than so many times what was learned from it says something else, too."""

_LITTLE_MORE = 0.2
"""The share of its words that a turn may have beside what was learned from it."""
_ACKNOWLEDGED = 4
"""Words of an answer that says no more than "Noted"."""
_COURTESY = frozenset(
    content_terms(
        "hi hello hey thanks thank please remember note actually way also ok okay well sorry just"
    )
)
"""Words that only lead up to what is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InView:
    """What a prompt holds of its own conversation."""

    prints: frozenset[str] = frozenset()
    """Hashes of the messages in view."""
    refs: frozenset[str] = frozenset()
    """Captured turns that are in view, where the conversation was compacted."""
    compacted: bool = False
    texts: tuple[str, ...] = ()
    """What the messages in view say."""

    def own(self, session: str) -> tuple[str, int] | None:
        """Return the conversation and how many messages of it are in view, when that is all.

        Of a compacted conversation most turns are not.
        """
        return None if self.compacted else (session, len(self.prints))

    def holds(self, item: Item) -> bool:
        """Say whether the words of a turn are in view, wherever they were said."""
        return item.version.rstrip("*") in self.prints or item.ref in self.refs


@dataclass(frozen=True, kw_only=True)
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
    texts: Sequence[str] = ()
    """The blocks in view, as they are printed."""

    def has_line(self, text: str) -> bool:
        """Say whether a block in view has this text."""
        line = _on_one_line(text)
        if line in self._told:
            return True
        # Code is printed line by line.
        return "\n" in text and any(line in _on_one_line(block) for block in self.texts)

    @cached_property
    def _told(self) -> str:
        """All blocks in view; no line of text reaches from one into the next."""
        return "\n".join(self.texts)

    def says(self, text: str) -> bool:
        """Say whether the prompt has just these words already, whoever said them, and when."""
        if len(text) > _A_PHRASE and self.has_line(text):
            return True
        near = [told for told in self.said.texts if abs(len(told) - len(text)) <= _SPACES]
        return bool(near) and fold(text) in map(fold, near)


def unsaid(journal: Journal, user: str, items: Sequence[Item], said: InView) -> Sequence[Item]:
    """Return the items without what was learned from a message that is in view."""
    origins = {ref for item in items for ref in item.origins}
    if not origins:
        return items
    rows = [row for row in journal.store.get(user, sorted(origins)) if row.type == "turn"]
    turns = journal.read(rows, Turn)
    seen = {turn.ref for turn in turns if turn.print in said.prints}
    return [item for item in items if seen.isdisjoint(item.origins)]


def unquoted(items: Sequence[Item], told: Iterable[Item], shown: AlreadyShown) -> Sequence[Item]:
    """Return the items without turns that say little more than what was learned from them.

    `told` is what is in view; of it counts what stands there in full, be it in several lines. The
    few words that acknowledged such a turn go with it.
    """
    turns = {item.ref: item for item in items if item.kind == "turn"}
    lines: dict[str, list[str]] = {}
    for one in told:
        if turns.keys().isdisjoint(one.origins):
            continue
        if one.ref in shown.whole or shown.has_line(one.text):
            for ref in one.origins:
                lines.setdefault(ref, []).append(_NAMES.sub("", one.text))
    quoted = {ref for ref in turns.keys() & lines.keys() if _is_told(turns[ref].text, lines[ref])}
    quoted |= {ref for ref, turn in turns.items() if is_emptied(turn)}
    exchanges = {(turns[ref].session, turns[ref].order[:2]) for ref in quoted}
    acknowledged = {
        ref
        for ref, turn in turns.items()
        if (turn.session, turn.order[:2]) in exchanges
        and len(content_terms(turn.text)) <= _ACKNOWLEDGED
    }
    return [item for item in items if item.ref not in quoted | acknowledged]


_NAMES = re.compile(r"^(?:About|Files): .*$", re.MULTILINE)
"""The lines of a summary that only name what was spoken of."""


def is_emptied(item: Item) -> bool:
    """Say whether nothing is left of a turn but that something was left out."""
    if OUTDATED not in item.text:
        return False
    return not set(content_terms(item.text.replace(OUTDATED, " "))) - _COURTESY


def _is_told(text: str, lines: Sequence[str]) -> bool:
    """Say whether the lines say what a text does, but for a word or two."""
    if any(_on_one_line(text) in _on_one_line(line) for line in lines):
        return True
    if "?" in text:
        return False  # what answered it matters
    said = set(content_terms(text.replace(OUTDATED, " "))) - _COURTESY
    more = said.difference(*(content_terms(line) for line in lines))
    return len(more) <= _LITTLE_MORE * len(said)


def not_over(
    journal: Journal, user: str, items: Sequence[Item], run_out: Sequence[str]
) -> Sequence[Item]:
    """Return the items without turns that say little more than what has run out."""
    turns = {item.ref: item for item in items if item.kind == "turn"}
    if not turns or not run_out:
        return items
    memories = journal.read(journal.store.get(user, run_out[:_LOOKED_AT]), Memory)
    over = {
        ref
        for memory in memories
        for ref in memory.derived_from
        if ref in turns and len(turns[ref].text) <= _MORE_THAN * len(memory.text)
    }
    return [item for item in items if item.ref not in over]


def under_their_questions(items: Sequence[Item], withheld: Iterable[Item]) -> list[Item]:
    """Return the items with those questions without which an answer would stand under another.

    `withheld` is what was found and need not be shown, for one because it was asked again just now.
    """
    asked = {item.exchange: item for item in withheld if item.is_question}
    if not asked:
        return list(items)
    begins: dict[str, tuple[Any, ...]] = {}
    for item in items:
        begins[item.group] = min(item.order, begins.get(item.group, item.order))
    shown: list[Item] = []
    for item in items:
        question = asked.pop(item.exchange, None)
        if question is not None and begins[item.group] < question.order:
            shown.append(question)
        shown.append(item)
    return shown


def _on_one_line(text: str) -> str:
    return " ".join(text.split())

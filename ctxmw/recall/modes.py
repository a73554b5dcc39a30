"""Words that switch on a way of working: "ultrawork" brings an instruction to go all the way.

The table is the user's: `open(modes=[*MODES, Mode(...)])` adds to it, `open(modes=[])` empties it.
A word in code or in quotes is talked about, not said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import InvalidValue
from ..text.cleaning import digest
from ..values.items import Item
from ..workspace.mentions import excerpt, without_code

_LONGEST = 100


@dataclass(frozen=True, kw_only=True)
class Mode:
    """An instruction, and the words that bring it."""

    name: str
    words: tuple[str, ...]
    """Words or phrases, in any case; a whole word each."""
    instruction: str

    def __post_init__(self) -> None:
        if not self.name or not self.instruction.strip():
            raise InvalidValue(f"the mode {self.name!r} needs a name and an instruction.")
        if not _are_words(self.words):
            raise InvalidValue(
                f"the words of mode {self.name!r} are {self.words!r:.60}: give a tuple of words."
            )

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """Its words as `modes_in` looks for them, between spaces."""
        return tuple(f" {_spelled(word)} " for word in self.words)

    def item(self) -> Item:
        """Return the instruction as an item of a turn's part."""
        return Item(
            ref=f"mode:{self.name}",
            kind="mode",
            text=self.instruction,
            lane="turn",
            section="rules",
            label=f"{self.name} mode",
            title=f"{self.name} mode",
            include="agent",
            priority="high",
            source="keyword",
            version=digest(self.instruction)[:16],
            score=1.0,
            reasons=(("keyword", 1.0),),
        )


def modes_in(text: str, modes: Sequence[Mode]) -> list[Mode]:
    """Return the modes that a message switches on."""
    said = f" {' '.join(_WORDS.findall(without_code(excerpt(text)).lower()))} "
    return [mode for mode in modes if any(words in said for words in mode.spelled)]


_WORDS = re.compile(r"[\w'-]++")


def _spelled(word: str) -> str:
    return " ".join(_WORDS.findall(word.lower()))


def _are_words(words: object) -> bool:
    """Say whether these are words; of a text each letter would be one."""
    return isinstance(words, tuple | list) and bool(words) and all(map(_is_word, words))


def _is_word(word: object) -> bool:
    return isinstance(word, str) and len(word) <= _LONGEST and bool(_spelled(word))


MODES: tuple[Mode, ...] = (
    Mode(
        name="ultrawork",
        words=("ultrawork", "ulw"),
        instruction=(
            "Work until the whole request is done and shown to work. Plan the steps first, do "
            "independent ones at the same time, leave none out, and check the result against "
            "every point that was asked for before you answer."
        ),
    ),
    Mode(
        name="search",
        words=("search mode", "deep search", "search everywhere"),
        instruction=(
            "Search widely before you answer: try several wordings and places, the code and its "
            "tests, the documentation and what is remembered (mem_search). Name the places you "
            "found, and say what you looked for and did not find."
        ),
    ),
    Mode(
        name="analyze",
        words=("analyze", "analyse", "analyze mode", "deep analysis"),
        instruction=(
            "Gather the facts before you judge: read what is concerned, follow causes and "
            "effects, weigh more than one explanation, and tell what is known from what is "
            "supposed. Then conclude."
        ),
    ),
)
"""The modes there are unless told otherwise."""

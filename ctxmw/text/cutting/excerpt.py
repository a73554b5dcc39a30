"""An excerpt of a tool's output: what it is made of decides where it is cut."""

from __future__ import annotations

from dataclasses import dataclass

from .json_text import cut_json
from .rows import cut_lines, cut_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of an output is left."""

    characters: int
    """At most; the words that say what is missing come on top."""
    lines: int | None = None
    """Lines or rows at either end at most; None: as many as there is room for."""


def cut_down(text: str, extent: Extent, rest: str) -> str:
    """Return a text cut down to an extent; `rest` says how to get all of it.

    JSON is cut to JSON, with its keys and first elements; a table keeps its header and whole rows;
    of any other text the lines at both ends are left. Where it was cut, it says what is missing.
    """
    if len(text) <= extent.characters and extent.lines is None:
        return text
    made = cut_json(text, extent.characters, rest)
    if made is None:
        made = cut_table(text, extent.characters, extent.lines, rest)
    return cut_lines(text, extent.characters, extent.lines, rest) if made is None else made

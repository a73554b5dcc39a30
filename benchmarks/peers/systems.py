"""What every system in the comparison does: take in turns, and bring back what a question needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from benchmarks.retrieval import COUNT

GENEROUS = 100
"""How many hits a peer without a token budget is asked for; the budget is then filled from them."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text that would be put into a prompt, and the ids of the turns it claims to hold."""

    text: str
    ids: frozenset[str]


class System(Protocol):
    """A memory under comparison. It begins empty, in a folder of its own."""

    def add(self, items: Sequence[dict[str, Any]]) -> None:
        """Take in turns, in order."""
        ...

    def recall(self, query: str, budget: int) -> Recalled:
        """Return what would be put into a prompt within this many tokens."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the comparison: how it is made, and what it needs."""

    name: str
    make: Callable[[Path, str], System]
    """Takes a folder and the name of the embedder."""
    needs: tuple[str, ...] = ()
    """Packages, by the name they are imported under."""
    setting: str = ""
    """How it is set up, for the table."""
    most: int = 1_000_000
    """The largest number of records it is tried with."""

    def missing(self) -> list[str]:
        return [name for name in self.needs if find_spec(name) is None]


def line_of(item: dict[str, Any]) -> str:
    """Return a turn as peers store it: with its speaker, whom questions name."""
    return f"{item['speaker']}: {item['text']}"


def packed(ranked: Iterable[tuple[str, str]], budget: int) -> Recalled:
    """Return the best hits that fit, each on a line: what a careful user does with a ranked list.

    A hit that does not fit is passed over for the next one.
    """
    lines: list[str] = []
    ids: list[str] = []
    left = budget
    for ref, text in ranked:
        cost = COUNT(f"{text}\n")
        if cost <= left:
            lines.append(text)
            ids.append(ref)
            left -= cost
    return Recalled("\n".join(lines), frozenset(ids))

"""How many tokens each part of a request may take, and how much comes by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import InvalidValue
from ..runtime.displayed import Displayed

if TYPE_CHECKING:
    from .items import Item

MEMORY_LANES = ("universal", "language", "project")
NOTE_LANES = ("done", "decided", "open")

Appetite = Literal["lean", "balanced", "full"]
"""How eager a turn's part is: how likely something must be to matter, for its tokens, to go in."""
APPETITES: tuple[Appetite, ...] = get_args(Appetite)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Displayed):
    """New tokens a request may cost, and how they are shared out.

    Only `total` is an amount. The lanes are sizes relative to each other and scale with it; at the
    default total they are tokens. Whatever is printed is paid for: frame, headings and bullets too.
    Of a model's window, where it is known, all of it has at most a quarter.
    """

    total: int = 4000
    """The stable block and the turn's part together, at most."""
    instructions: int = 400
    """Rules, preferences, anti-patterns and corrections, whatever their scope: filled before all
    other memories. What it leaves over goes to the reserve."""
    universal: int = 200
    """Other memories that hold everywhere, and instructions that found no room in their lane."""
    language: int = 200
    """The same for the language at hand."""
    project: int = 300
    """The same for the project at hand."""
    reserve: int = 100
    """Overflow that the three memory lanes share, best score first."""
    done: int = 300
    """Notes on finished work."""
    decided: int = 200
    """Notes on decisions."""
    open: int = 300
    """Notes on what is blocked and what is next."""
    pinned: int = 400
    """Rules and references that are always in or were added by hand; charged first."""
    index: int = 400
    """Summaries of the last conversations and the index: theirs whatever else there is."""
    turn: int = 1200
    """The turn's part: what the user's words bring."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_amount(f"Budget.{field.name}", getattr(self, field.name))
        if not self._sizes():
            raise InvalidValue("every lane of the budget is 0: give at least one lane a size.")

    @property
    def turn_limit(self) -> int:
        """Tokens the turn's part may take."""
        return self.total * self.turn // self._sizes()

    @property
    def stable_limit(self) -> int:
        """Tokens the stable block may take."""
        return self.total - self.turn_limit

    def within(self, tokens: int) -> Budget:
        """Return the same budget, scaled down to so many tokens when it has more."""
        return replace(self, total=min(self.total, tokens))

    def lanes(self) -> dict[str, int]:
        """Return the tokens of each lane of the stable block; they add up to its limit."""
        sizes = self._sizes()
        limits = {name: self.total * getattr(self, name) // sizes for name in _LANES}
        limits["index"] += self.stable_limit - sum(limits.values())
        return limits

    def with_stable_limit(self, tokens: int) -> Budget:
        """Return the same budget with so many tokens for the stable block, its lanes in scale."""
        turn, stable = self.turn_limit, self._sizes() - self.turn
        # Whole numbers in the right proportion: lanes to each other as before, to the turn anew.
        lanes = {name: getattr(self, name) * tokens for name in _LANES}
        return replace(self, total=tokens + turn, turn=stable * turn, **lanes)

    def with_turn_limit(self, tokens: int) -> Budget:
        """Return the same budget with so many tokens for the turn's part, the rest as it is."""
        stable, sizes = self.stable_limit, self._sizes() - self.turn
        if not sizes:
            return replace(self, total=tokens)
        lanes = {name: getattr(self, name) * max(1, stable) for name in _LANES}
        return replace(self, total=stable + tokens, turn=sizes * tokens, **lanes)

    def _sizes(self) -> int:
        return sum(_SIZES(self))


_LANES = [field.name for field in fields(Budget) if field.name not in ("total", "turn")]
_SIZES = attrgetter(*_LANES, "turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemand:
    """What the agent may fetch by itself in one epoch of a conversation."""

    universal: int = 150
    """Tokens of one `memory_context` answer for what holds everywhere ..."""
    language: int = 150
    """... for the language at hand ..."""
    project: int = 200
    """... and for the project at hand."""
    queries: int = 2
    """Calls of `memory_context` answered in full; the next ones get index lines."""
    search: int = 500
    """Tokens of one `mem_search` answer."""
    get: int = 1500
    """Tokens of one `mem_get` answer."""
    session: int = 3000
    """Memories and notes of the stable block and all `memory_context` answers together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_amount(f"OnDemand.{field.name}", getattr(self, field.name))

    def within(self, window: int | None) -> OnDemand:
        """Return the same with answers that leave room for a conversation in a small window."""
        if window is None:
            return self
        search, get = min(self.search, window // 8), min(self.get, window // 4)
        return replace(self, search=search, get=get)

    def lanes(self) -> dict[str, int]:
        """Return the tokens of each lane of one `memory_context` answer."""
        return {name: getattr(self, name) for name in MEMORY_LANES}


def _check_amount(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValue(f"{name} is {value!r}: it must be a whole number of tokens.")
    if value < 0:
        raise InvalidValue(f"{name} is {value}: it must be 0 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """What comes by itself, and how much of it. Whatever stays away, tools and search still find.

    Counts hold whatever tokens are left; None means as many as fit.
    """

    decisions: bool = True
    """Decisions that were remembered or noted."""
    session_history: bool = True
    """What was said, noted and summed up in earlier conversations."""
    recent_sessions: int = 5
    """Summaries of the last conversations at most."""
    index_entries: int | None = None
    """Lines of a block's index at most."""
    appetite: Appetite = "balanced"
    """When the turn's part stops: "lean" soon, "balanced" when the next hit is hardly worth its
    tokens, "full" when the budget is spent."""

    def __post_init__(self) -> None:
        for name in ("recent_sessions", "index_entries"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise InvalidValue(f"Arriving.{name} is {value!r}: it must be 0 or more.")
        if self.appetite not in APPETITES:
            allowed = ", ".join(APPETITES)
            raise InvalidValue(f"Arriving.appetite is {self.appetite!r}. Allowed: {allowed}.")

    def admitted(self, items: Iterable[Item]) -> list[Item]:
        """Return those of the items that may come by themselves."""
        return [item for item in items if self.decisions or item.kind not in _DECISIONS]


_DECISIONS = ("decision", "decided")

"""The counter that prompts are made with: any counter, with the shortcuts that making one takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..errors import InvalidValue
from ..protocols import TokenCounter
from .counter import Counter


class PromptCounter(TokenCounter, Protocol):
    """Counts tokens, and knows ways around counting."""

    @property
    def name(self) -> str:
        """What is counted, for records."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counts."""
        ...

    def warm(self) -> None:
        """Load what counting takes now, and not in somebody's request."""
        ...

    def at_least(self, text: str) -> int:
        """Return what a text cannot have less than, at a glance."""
        ...

    def about(self, text: str) -> int | None:
        """Return about how many tokens a text has, at a glance; None when only counting tells."""
        ...

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined; `known` are those of some."""
        ...


def prompt_counter(count: object) -> PromptCounter:
    """Return a counter for prompts whose counts are whole numbers, whatever it counts with."""
    if isinstance(count, Counter | OwnCounter):
        return count
    if not callable(count):
        raise InvalidValue(
            f"count is {count!r:.60}: give a function from a text to its number of tokens, or name "
            "the model (model=...)."
        )
    return OwnCounter(count)


class OwnCounter:
    """Rounds up what a person's counter says: an estimate may be a fraction, a budget holds.

    Nothing is known of its tokens, so every text is counted, and as a whole.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        # The seam is the call alone: a plain function has no name, and nothing to warm.
        self.name = str(getattr(inner, "name", "custom"))
        self.exact = bool(getattr(inner, "exact", True))

    def __call__(self, text: str, /) -> int:
        said = self._inner(text)
        if type(said) is int and said >= 0:
            return said
        try:
            # A number of numpy's, say, is one too; True and "5" are not.
            tokens = math.ceil(said) if not isinstance(said, bool | str) else -1
        except (TypeError, ValueError, OverflowError):  # nothing like a number, nan, infinity
            tokens = -1
        if tokens < 0:
            raise InvalidValue(
                f"the token counter says {said!r:.60} of a text of {len(text)} characters: it must "
                "return a number of tokens, 0 or more."
            )
        return tokens

    def warm(self) -> None:
        """Load what the counter loads, where it says how."""
        warm = getattr(self._inner, "warm", None)
        if warm is not None:
            warm()

    def at_least(self, text: str) -> int:
        """Return 0: a text may have no tokens at all."""
        return 0

    def about(self, text: str) -> None:
        """Return None: only counting tells."""

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined."""
        return self("".join(texts))

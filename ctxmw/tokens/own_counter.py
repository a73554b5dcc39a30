"""A person's own token counter, held to its promise: a whole number of tokens, 0 or more."""

from __future__ import annotations

import math
from typing import Any

from ..errors import InvalidValue
from ..protocols import TokenCounter
from .counter import Counter


def checked_counter(count: object) -> TokenCounter:
    """Return a counter whose counts are whole numbers, whatever it counts with."""
    if isinstance(count, Counter | OwnCounter):
        return count
    if not callable(count):
        raise InvalidValue(
            f"count is {count!r:.60}: give a function from a text to its number of tokens, or name "
            "the model (model=...)."
        )
    return OwnCounter(count)


class OwnCounter:
    """Rounds up what a counter says: an estimate may be a fraction, a budget is kept all the same.

    What it has besides, such as a name, is as before.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, text: str, /) -> int:
        said = self.inner(text)
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

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # a copy that is not made yet has none
            raise AttributeError(name)
        return getattr(self.inner, name)

"""What a source offers for the stable block: its best, and how the scores of the others spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...values.items import Item
from ...values.situation import Situation, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """The best of a source, rated, and the scores of the others."""

    items: tuple[Item, ...]
    others: tuple[NDArray[np.float64], ...] = ()
    """The scores of what is in scope and not on the list."""

    def left_out(self, floor: float) -> tuple[int, int]:
        """Return how many others have at least this score, and how many have not."""
        above = sum(int((scores >= floor).sum()) for scores in self.others)
        return above, sum(map(len, self.others)) - above


class ListedSource(Protocol):
    """A source as the pipeline asks it: of whatever it has, for the best."""

    name: str

    def best(self, situation: Situation, weights: Weights, most: Mapping[str, int]) -> Shortlist:
        """Return the best that is in scope, rated: of each lane no more than can be shown."""
        ...

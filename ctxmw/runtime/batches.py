"""Many of something, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(many: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most this size."""
    left = iter(many)
    while batch := list(islice(left, size)):
        yield batch

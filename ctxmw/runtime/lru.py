"""A small memory of what was used last, safe for threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Keeps the values of the keys used last: no more than `size`, and no more than have `room`."""

    def __init__(
        self,
        size: int,
        *,
        room: int = 0,
        weigh: Callable[[V], int] | None = None,
        growing: bool = False,
    ) -> None:
        """`weigh` says how much of the room a value takes; one may take it all.

        Of values that are `growing`, what they weighed when they were put is remembered.
        """
        self._size = size
        self._room = room
        self._weigh = weigh
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._weights: dict[K, int] | None = {} if growing else None
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value kept for the key, if any."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V | None:
        """Keep a value and return the one it replaces."""
        with self._lock:
            before = self._without(key)
            self._keep(key, value)
            return before

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value kept for the key; make and keep one when there is none."""
        with self._lock:
            if key not in self._kept:
                self._keep(key, make())
            self._kept.move_to_end(key)
            return self._kept[key]

    def let_go(self, keys: Iterable[K]) -> None:
        """Keep nothing for these keys."""
        with self._lock:
            for key in keys:
                self._without(key)

    def values(self) -> list[V]:
        """Return every value, the one used longest ago first."""
        with self._lock:
            return list(self._kept.values())

    def _keep(self, key: K, value: V) -> None:
        self._kept[key] = value
        if self._weigh is not None:
            weight = self._weigh(value)
            self._weight += weight
            if self._weights is not None:
                self._weights[key] = weight
        while len(self._kept) > self._size or (self._weight > self._room and len(self._kept) > 1):
            self._without(next(iter(self._kept)))

    def _without(self, key: K) -> V | None:
        value = self._kept.pop(key, None)
        if self._weigh is not None and value is not None:
            known = self._weights
            self._weight -= self._weigh(value) if known is None else known.pop(key)
        return value

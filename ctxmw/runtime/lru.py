"""A small memory of what was used last, safe for threads."""

from __future__ import annotations

import sys
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
        room: int = sys.maxsize,
        weigh: Callable[[V], int] | None = None,
    ) -> None:
        """`weigh` says how much of the room a value takes when it is put; one may take it all."""
        self._size = size
        self._room = room
        self._weigh = weigh
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._weights: dict[K, int] = {}
        self.weight = 0
        """What all values together take of the room."""
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value kept for the key, if any."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def get_all(self, keys: Iterable[K]) -> dict[K, V]:
        """Return the values kept for those of the keys that have one."""
        found = {}
        with self._lock:
            for key in keys:
                value = self._kept.get(key)
                if value is not None:
                    self._kept.move_to_end(key)
                    found[key] = value
        return found

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

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()
            self._weights.clear()
            self.weight = 0

    def values(self) -> list[V]:
        """Return every value, the one used longest ago first."""
        with self._lock:
            return list(self._kept.values())

    def _keep(self, key: K, value: V) -> None:
        self._kept[key] = value
        if self._weigh is not None:
            self._weights[key] = self._weigh(value)
            self.weight += self._weights[key]
        while len(self._kept) > self._size or (self.weight > self._room and len(self._kept) > 1):
            self._without(next(iter(self._kept)))

    def _without(self, key: K) -> V | None:
        self.weight -= self._weights.pop(key, 0)
        return self._kept.pop(key, None)

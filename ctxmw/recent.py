"""A small memory of what was used last, safe for threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the values of the keys used last, and no more than `size` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[K, V] = OrderedDict()
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
            before = self._kept.pop(key, None)
            self._kept[key] = value
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return before

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """Return the value kept for the key; make and keep one when there is none."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return self._kept[key]

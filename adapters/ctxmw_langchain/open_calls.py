"""Calls that wait for what becomes of their answer."""

from __future__ import annotations

import threading
from collections import OrderedDict

from ctxmw import Session

from .call import ModelCall

_MOST = 1024
"""Calls that may wait at a time; older ones are left as they are."""


class OpenCalls:
    """The last call of each conversation."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], tuple[str | None, ModelCall]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, call: ModelCall, answer: str | None = None) -> None:
        """Have a call wait; `answer` is the id of what was answered, where that is known."""
        with self._lock:
            self._calls[call.session.user, call.session.id] = (answer, call)
            while len(self._calls) > _MOST:
                self._calls.popitem(last=False)

    def take(self, chat: Session, answer: str | None = None) -> ModelCall | None:
        """Return the call that waits in a conversation; none when its answer is another."""
        with self._lock:
            known, call = self._calls.get((chat.user, chat.id), (None, None))
            if known != answer:
                return None
            self._calls.pop((chat.user, chat.id), None)
            return call

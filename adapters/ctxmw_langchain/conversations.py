"""Which conversation a call belongs to.

`config["configurable"]` says it (`user_id`; `session_id`, else `thread_id`), else `with chat:`,
else the `session` given to the wrapper. A wrapper that was given none has one conversation of its
own. A memory that serves many users never guesses a user.
"""

from __future__ import annotations

import threading
from typing import Self

from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import ContextMiddleware, InvalidValue, MissingUser, Session, current_session


class Conversations:
    """Finds the conversation of a call on one wrapper."""

    def __init__(self, ctx: ContextMiddleware, session: Session | None = None) -> None:
        _check("ctx", ctx, ContextMiddleware, "a memory, such as ContextMiddleware.open()")
        if session is not None:
            _check("session", session, Session, "a conversation, such as ctx.session()")
        self.ctx = ctx
        self.session = session
        self._own = ""
        self._lock = threading.Lock()

    def __deepcopy__(self, _: object) -> Self:
        # The copy of a runnable has the same memory.
        return self

    def of(self, config: RunnableConfig | None) -> Session:
        """Return the conversation that a call with this config belongs to."""
        named = ensure_config(config)["configurable"]
        user = named.get("user_id")
        name = named.get("session_id") or named.get("thread_id")
        around = [chat for chat in (current_session(), self.session) if chat is not None]
        if around and user is None:
            user = around[0].user
        for chat in around:
            if chat.user == user and name in (None, chat.id):
                return chat
        return self._named(user, None if name is None else str(name))

    def _named(self, user: str | None, name: str | None) -> Session:
        try:
            return self.ctx.session(name or self._own_name(user), user=user)
        except MissingUser:
            raise MissingUser(
                "this memory serves many users and the call names none: pass "
                'config={"configurable": {"user_id": "..."}}, or call it inside `with chat:`.'
            ) from None

    def _own_name(self, user: str | None) -> str:
        # One name for all users is enough: a conversation belongs to its user.
        with self._lock:
            self._own = self._own or self.ctx.session(user=user).id
            return self._own


def _check(name: str, value: object, kind: type, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InvalidValue(f"{name} is {type(value).__name__}: give {wanted}.")

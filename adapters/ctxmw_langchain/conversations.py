"""Which conversation a call belongs to.

`config["configurable"]` says it (`user_id`; `session_id`, else `thread_id`), else `with chat:`,
else the `session` given to the wrapper. A wrapper that was given none has one conversation of its
own. A `with chat:` of another memory is not for this one, and a memory that serves many users
never guesses a user.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from langchain_core.runnables import RunnableConfig, ensure_config

from ctxmw import ContextMiddleware, InvalidValue, MissingUser, Session, current_session


class Conversations:
    """Finds the conversation of a call on one wrapper."""

    def __init__(self, ctx: ContextMiddleware, session: Session | None = None) -> None:
        _check("ctx", ctx, ContextMiddleware, "a memory, such as ContextMiddleware.open()")
        if session is not None:
            _check("session", session, Session, "a conversation, such as ctx.session()")
            if not ctx.owns(session):
                raise InvalidValue(
                    f"session is {session!r} of another memory: give one of this, such as "
                    f"ctx.session({session.id!r})."
                )
        self.ctx = ctx
        self.session = session
        self._own = ""
        self._lock = threading.Lock()

    def __deepcopy__(self, _: object) -> Self:
        # The copy of a runnable has the same memory.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has its own lock, and opens the conversation again by its id.
        chat = None if self.session is None else (self.session.id, self.session.user)
        return _reopened, (self.ctx, chat, self._own)

    def of(self, config: RunnableConfig | None) -> Session:
        """Return the conversation that a call with this config belongs to."""
        named = ensure_config(config)["configurable"]
        user = _name(named, "user_id")
        name = _name(named, "session_id") or _name(named, "thread_id")
        around = self._around()
        if around and user is None:
            user = around[0].user
        for chat in around:
            if chat.user == user and name in (None, chat.id):
                return chat
        return self._named(user, name)

    def _around(self) -> list[Session]:
        chats = [chat for chat in (current_session(), self.session) if chat is not None]
        return [chat for chat in chats if self.ctx.owns(chat)]

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


def _reopened(ctx: ContextMiddleware, chat: tuple[str, str] | None, own: str) -> Conversations:
    session = None if chat is None else ctx.session(chat[0], user=chat[1])
    conversations = Conversations(ctx, session)
    conversations._own = own
    return conversations


def _name(named: Mapping[str, Any], key: str) -> str | None:
    """Return a name of the config; numbers and UUIDs, as databases hand them out, as text."""
    value = named.get(key)
    if value is None or (isinstance(value, str) and value):
        return value
    # A bool is an int to Python; any other object's text may change from run to run.
    if isinstance(value, int | UUID) and not isinstance(value, bool):
        return str(value)
    raise InvalidValue(
        f'config["configurable"]["{key}"] is {value!r}: give text, a whole number or a UUID.'
    )


def _check(name: str, value: object, kind: type, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InvalidValue(f"{name} is {type(value).__name__}: give {wanted}.")

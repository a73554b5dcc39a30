"""Which conversation a call belongs to, and where it takes place.

The call says it (its user as in `callers`; `session_id`, else `thread_id`), else `with chat:`, else
the `session` given to the wrapper. A wrapper that was given none has one conversation of its own. A
`with chat:` of another memory is not for this one, nor is one of another user than the call or the
wrapper names. A memory that serves many users never guesses a user, and the memory or the wrapper
of one refuses calls that name another. Project and folder are those of the call, else of `with
chat:` or `session`, else those given to the wrapper, else those the memory was opened with.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

from ctxmw import (
    ContextMiddleware,
    InvalidValue,
    MissingUser,
    Session,
    WrongUser,
    current_session,
)

from .callers import configurable, in_subagent, learns, place_of, session_of, user_of


class Conversations:
    """Finds the conversation of a call on one wrapper."""

    def __init__(
        self,
        ctx: ContextMiddleware,
        session: Session | None = None,
        *,
        learn: bool = True,
        project: str | None = None,
        cwd: str | Path | None = None,
    ) -> None:
        _check("ctx", ctx, ContextMiddleware, "a memory, such as ContextMiddleware.open()")
        if session is not None:
            _check("session", session, Session, "a conversation, such as ctx.session()")
            if not ctx.owns(session):
                raise InvalidValue(
                    f"session is {session!r} of another memory: give one of this, such as "
                    f"ctx.session({session.id!r})."
                )
        _check("learn", learn, bool, "True or False")
        self.ctx = ctx
        self.session = session
        self.learn = learn
        """Whether something is learned from the wrapper's calls."""
        self.place: dict[str, Any] = _place(project, cwd, session)
        """The project and the folder of its conversations, as far as they were given."""
        self._own = ""
        self._lock = threading.Lock()

    def __deepcopy__(self, _: object) -> Self:
        # The copy of a runnable has the same memory.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has its own lock, and opens the conversation again by its id.
        chat = None if self.session is None else (self.session.id, self.session.user)
        return _reopened, (self.ctx, chat, self._own, {"learn": self.learn, **self.place})

    def of(self, config: RunnableConfig | None) -> Session:
        """Return the conversation that a call with this config belongs to.

        What is called inside of a subagent has one of its own.
        """
        named = configurable(config)
        chat = self._of(named).placed(**place_of(named))
        if inner := in_subagent(config):
            return chat.child(inner)
        return chat if self.learn and learns(named) else chat.without_learning()

    def _of(self, named: Mapping[str, Any]) -> Session:
        user, name = self._allowed(user_of(named)), session_of(named)
        around = self._around(user)
        if user is None and around:
            user = around[0].user
        for chat in around:
            if chat.user == user and name in (None, chat.id):
                return chat
        return self._named(user, name)

    def _allowed(self, user: str | None) -> str | None:
        """Return the user to go by; raise when the call names another than this is for."""
        mine = self.session.user if self.session else self.ctx.user
        if user is not None and mine is not None and user != mine:
            raise WrongUser(_refusal(user, mine, self.session))
        return user or (self.session.user if self.session else None)

    def _around(self, user: str | None) -> list[Session]:
        chats = [chat for chat in (current_session(user), self.session) if chat is not None]
        return [chat for chat in chats if self.ctx.owns(chat)]

    def _named(self, user: str | None, name: str | None) -> Session:
        try:
            return self.ctx.session(name or self._own_name(user), user=user, **self.place)
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


def _reopened(
    ctx: ContextMiddleware, chat: tuple[str, str] | None, own: str, options: dict[str, Any]
) -> Conversations:
    session = None if chat is None else ctx.session(chat[0], user=chat[1])
    conversations = Conversations(ctx, session, **options)
    conversations._own = own
    return conversations


def _place(
    project: str | None, cwd: str | Path | None, session: Session | None
) -> dict[str, str | Path]:
    """Return where a wrapper's conversations take place, as far as that is given."""
    if project is not None and (not isinstance(project, str) or not project):
        raise InvalidValue(f"project is {project!r:.60}: give its name.")
    if cwd is not None and not isinstance(cwd, str | Path):
        raise InvalidValue(f"cwd is {cwd!r:.60}: give the path of a folder.")
    given = {"project": project, "cwd": cwd}
    place = {name: value for name, value in given.items() if value is not None}
    if place and session is not None:
        raise InvalidValue(
            f"{' and '.join(place)} given beside {session!r}, which has its own place: say it "
            f"where that is made, ctx.session({session.id!r}, {next(iter(place))}=...)."
        )
    return place


def _refusal(user: str, mine: str, session: Session | None) -> str:
    if session is not None:
        return (
            f"the call names the user {user!r}, but this was made for {session!r}: make one "
            "without session=, or with a conversation of that user."
        )
    return (
        f"the call names the user {user!r}, but this memory was opened for {mine!r} alone: open it "
        f"with user=None to serve many users, or with user={user!r} if it is theirs."
    )


def _check(name: str, value: object, kind: type, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InvalidValue(f"{name} is {type(value).__name__}: give {wanted}.")

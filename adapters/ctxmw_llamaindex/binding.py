"""What a wrapper is bound to: a memory, and the conversation its calls belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from ctxmw import (
    ContextMiddleware,
    InvalidValue,
    MissingUser,
    Session,
    WrongUser,
    current_session,
)

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A memory, and which conversation to use where none of the same user is current."""

    ctx: ContextMiddleware
    session: Session | str | None
    """A conversation, or the id of one."""
    user: str | None
    project: str | None = None
    """The project of its conversations; without, the folder's or the memory's."""
    cwd: str | Path | None = None
    """The folder of its conversations; without, the memory's."""
    own: str | None = None
    """A conversation of the wrapper's own; a bare model has none."""
    original: Any = None
    """What was wrapped."""
    learn: bool = True
    """Whether something is learned from its calls."""

    def __post_init__(self) -> None:
        if not isinstance(self.learn, bool):
            raise InvalidValue(f"learn is {self.learn!r:.60}: give True or False.")
        if not isinstance(self.ctx, ContextMiddleware):
            raise InvalidValue(
                f"ctx is {self.ctx!r:.60}: give a memory, such as ContextMiddleware.open()."
            )
        if isinstance(self.session, Session):
            self._check_conversation(self.session)
        elif self.session is not None:
            # Who is meant by a wrong id or name must be told where it is given, not at some call.
            self.ctx.session(self.session, user=self.user or self.ctx.user or "anybody")
        if self.user is not None:
            self.ctx.session("any", user=self.user)
        self._check_place()

    def _check_conversation(self, session: Session) -> None:
        if not self.ctx.owns(session):
            raise InvalidValue(
                f"session is {session!r} of another memory: give one of this, such as "
                f"ctx.session({session.id!r})."
            )
        if self.user not in (None, session.user):
            raise WrongUser(
                f"user is {self.user!r}, but session is {session!r}: leave user out, or give a "
                "conversation of that user."
            )

    def _check_place(self) -> None:
        if self.project is not None and (not isinstance(self.project, str) or not self.project):
            raise InvalidValue(f"project is {self.project!r:.60}: give its name.")
        if self.cwd is not None and not isinstance(self.cwd, str | Path):
            raise InvalidValue(f"cwd is {self.cwd!r:.60}: give the path of a folder.")
        if isinstance(self.session, Session) and (self.project or self.cwd) is not None:
            raise InvalidValue(
                f"project or cwd given beside {self.session!r}, which has its own place: say it "
                f"where that is made, ctx.session({self.session.id!r}, project=...)."
            )

    def chat(self, said: Mapping[str, str] = NOTHING) -> Session:
        """Return the conversation of `with chat:`, else the one that was named, else the own.

        What somebody has entered for another user than the one that was named is not for this.
        What the call itself has `said` (user_id, session_id, project, cwd) wins, but for a user
        that this is not for.
        """
        named = self._allowed(said.get("user_id"))
        entered = current_session(named)
        chat = entered if entered is not None and self.ctx.owns(entered) else None
        if chat is None or said.get("session_id", chat.id) != chat.id:
            chat = self.own_chat(named, said.get("session_id"))
        chat = chat.placed(project=said.get("project"), cwd=said.get("cwd"))
        return chat if self.learn else chat.without_learning()

    def _allowed(self, user: str | None) -> str | None:
        """Return the user to go by; raise when the call names another than this is for."""
        mine = self.session.user if isinstance(self.session, Session) else self.user
        known = mine or self.ctx.user
        if user is not None and known is not None and user != known:
            raise WrongUser(
                f"the call names the user {user!r}, but this is for {known!r}: open the memory "
                "with user=None to serve many users, and leave user and session out here."
            )
        return user or mine

    def own_chat(self, user: str | None = None, session: str | None = None) -> Session:
        """Return the conversation that was named, else the own."""
        if isinstance(self.session, Session) and session in (None, self.session.id):
            return self.session
        named = session or (self.session if isinstance(self.session, str) else None) or self.own
        if named is None:
            raise InvalidValue(
                "this model was called outside of a conversation: call it inside `with chat:` "
                "(chat = ctx.session(...)), or name one: with_context(llm, ctx, session='...')."
            )
        try:
            return self.ctx.session(
                named, user=user or self.user, project=self.project, cwd=self.cwd
            )
        except MissingUser:
            raise MissingUser(
                "this memory serves many users and the call names none: call it inside "
                "`with chat:` (chat = ctx.session('...', user='...')), or name one where it is "
                "made: with_context(..., ctx, user='...')."
            ) from None

    def portable(self) -> Self:
        """Return what another process can use: a conversation goes by its id."""
        if not isinstance(self.session, Session):
            return replace(self, original=None)
        return replace(self, session=self.session.id, user=self.session.user, original=None)

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        # A copy of a wrapper belongs to the same memory and conversation.
        return self

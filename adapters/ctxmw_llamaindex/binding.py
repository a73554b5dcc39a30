"""What a wrapper is bound to: a memory, and the conversation its calls belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from ctxmw import (
    ContextMiddleware,
    InvalidValue,
    MissingUser,
    Session,
    WrongUser,
    current_session,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A memory, and which conversation to use where none of the same user is current."""

    ctx: ContextMiddleware
    session: Session | str | None
    """A conversation, or the id of one."""
    user: str | None
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

    def chat(self) -> Session:
        """Return the conversation of `with chat:`, else the one that was named, else the own.

        What somebody has entered for another user than the one that was named is not for this.
        """
        named = self.session.user if isinstance(self.session, Session) else self.user
        entered = current_session(named)
        own = entered is not None and self.ctx.owns(entered)
        chat = entered if entered is not None and own else self.own_chat()
        return chat if self.learn else chat.without_learning()

    def own_chat(self) -> Session:
        """Return the conversation that was named, else the own."""
        if isinstance(self.session, Session):
            return self.session
        named = self.session or self.own
        if named is None:
            raise InvalidValue(
                "this model was called outside of a conversation: call it inside `with chat:` "
                "(chat = ctx.session(...)), or name one: with_context(llm, ctx, session='...')."
            )
        try:
            return self.ctx.session(named, user=self.user)
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

"""One turn of an engine or agent: what the user asked, and the model calls it took.

The turn is known to whatever is called inside it, in threads and tasks too, so that all its calls
are prepared for what the user said and belong to one conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ctxmw import ContextRecord, ForgivingSession, Prepared, Session

from .callers import asked_by_a_model
from .convert import Message

if TYPE_CHECKING:
    from llama_index.core.memory import BaseMemory

_TURN: ContextVar[Turn | None] = ContextVar("ctxmw_llamaindex_turn", default=None)
Step = tuple[Prepared, Message]


def current_turn() -> Turn | None:
    """Return the turn that the caller is part of, if any."""
    return _TURN.get()


class Turn:
    """The calls of one turn. An answer is kept back until the turn ends, as it may be a step.

    A step with tool calls is known as one. Others are not: the text of a ReAct agent, or a draft
    that is refined. Only the last answer was said to the user, and closes the turn. Async code has
    it end by `chat.off_loop`.
    """

    def __init__(
        self,
        chat: Session,
        asked: str,
        *,
        name: str,
        around: Collection[str] = (),
        among_documents: bool = False,
    ) -> None:
        """`around` are the texts that an engine puts before every conversation.

        `name` is whose turn it is: a subagent's conversation goes by it. `among_documents`: the
        engine retrieves, so its model answers from what others wrote.
        """
        outer = current_turn()
        self.by_person = outer is None and not asked_by_a_model(asked)
        """Whether a person asks: inside another turn, or a graph, an agent hands on a task."""
        chat = chat.child(name) if outer is not None and outer.is_of(chat) else chat
        self.session = chat
        self.around = frozenset(around)
        self.among_documents = among_documents
        self.chat: ForgivingSession = chat.forgiving()
        self.watched = self.chat.watched(self.fail)
        """A block, `with` or `async with`, for what may fail."""
        self.asked = asked
        self.metadata: dict[str, Any] = {}
        """What rides on the answer; filled as the turn goes on."""
        self.failed: set[str] = set()
        """Ids of the calls of tools that failed: their messages do not tell."""
        self.memory: BaseMemory | None = None
        """What the framework keeps of the conversation, all of it."""
        self._steps: list[Step] = []
        self._over = False
        self._lock = threading.Lock()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Make this the turn of whatever is called inside."""
        token = _TURN.set(self)
        try:
            with self.session:
                yield
        finally:
            _TURN.reset(token)

    def is_of(self, chat: Session) -> bool:
        """Say whether it is a turn of this conversation."""
        return (chat.user, chat.id) == (self.session.user, self.session.id)

    def note(self, record: ContextRecord) -> None:
        """Have the answer name this record, the last one of the turn."""
        self.metadata.update(record.told())

    def keep(self, prepared: Prepared, reply: Message) -> bool:
        """Keep an answer back until the turn ends; not when it is a step or the turn is over."""
        with self._lock:
            if self._over or reply.get("tool_calls"):
                return False
            self._steps.append((prepared, reply))
            return True

    def finish(self, text: str) -> None:
        """End the turn with what the user got to see."""
        steps = self._end()
        for prepared, reply in steps[:-1]:
            self.chat.finish(prepared, reply, capture=False)
        for prepared, reply in steps[-1:]:
            self.note(self.chat.finish(prepared, {**reply, "content": text}))

    def fail(self, _: BaseException | None = None) -> None:
        """End a turn that gave the user no answer; its calls are on record."""
        for prepared, reply in self._end():
            self.chat.finish(prepared, reply, capture=False)

    def _end(self) -> list[Step]:
        with self._lock:
            self._over = True
            steps, self._steps = self._steps, []
            return steps

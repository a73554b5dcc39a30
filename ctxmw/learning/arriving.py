"""Conversations that were held elsewhere: first all of them are stored, then they are learned from.

Storing is quick, and whatever is stored can be found. What waits to be learned from is written down
with its conversation: a run that breaks off goes on there, or else the conversation's end does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..conversation.conversation import Identity
from ..conversation.exchanges import Telling
from ..conversation.replay.current import current_history
from ..values.argument_checks import check_name
from ..values.messages import Message, check_messages
from .learner import Learner, stored_turns


@dataclass(frozen=True, slots=True)
class ArrivingConversations:
    """Conversations of one user on their way in. They belong to no project."""

    learner: Learner
    user: str

    def count(self, session: str, messages: Sequence[Message]) -> int:
        """Return how many turns `store` would find new."""
        who = self._who(session)
        anchors = self._told(who, messages).trail.anchors
        store = self.learner.conversations.journal.store
        known = stored_turns(store, self.user, session, anchors)
        return sum(row is None for row in known.values())

    def store(self, session: str, messages: Sequence[Message]) -> int:
        """Store what was said there; return how many turns were new."""
        who = self._who(session)
        return len(self.learner.capture_untaught(who, self._told(who, messages)))

    def learn(self, session: str, messages: Sequence[Message]) -> None:
        """Learn from what was stored of a conversation and waits for it."""
        who = self._who(session)
        if self.learner.conversations.load(who).untaught:
            self.learner.learn_what_waits(who, self._told(who, messages))
        self.learner.conversations.let_go(self.user, session)

    def _who(self, session: str) -> Identity:
        return Identity(user=self.user, session=check_name(session, "a conversation's id"))

    def _told(self, who: Identity, messages: Sequence[Message]) -> Telling:
        conversations = self.learner.conversations
        history = current_history(conversations, who, check_messages(messages))
        at = conversations.journal.clock()
        return Telling(messages=history.given, trail=history.given_trail, at=at)

"""What goes on around a call: files, code, rules, modes, and what an application's sources have."""

from __future__ import annotations

from functools import cached_property

from ..conversation.state import SessionState
from ..recall.pipeline import Own, Recall, own_items
from ..recall.surroundings import Brought
from ..runtime.stages import stage
from ..values.situation import Situation


class Around:
    """What the message and its surroundings bring; looked at when it is first needed, and once."""

    def __init__(
        self, recall: Recall, situation: Situation, state: SessionState | None, head: int
    ) -> None:
        """`state` is the conversation's; None when there is no message of a user."""
        self._recall = recall
        self._situation = situation
        self._state = state
        self._head = head

    @cached_property
    def brought(self) -> Brought:
        """What the message and what is going on bring by themselves."""
        state = self._state
        if state is None:
            return Brought()
        with stage("surroundings"):
            return self._recall.surroundings.look(
                self._situation,
                state.triggers,
                state.activity_feed,
                self._recall.floors.query,
                self._head,
            )

    @cached_property
    def own(self) -> Own:
        """What the application's own sources have; they are asked once a call."""
        if not self._recall.own_sources:
            return Own()
        return own_items(self._recall, self.brought.seen_from(self._situation))

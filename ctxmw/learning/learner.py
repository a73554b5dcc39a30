"""What was said is stored, and learned from, each message once and whatever became of its call.

A question is stored as its call is prepared, so that nothing can lose it any more. What it teaches
is learned when the call is finished, or at the next occasion: the rules for that take a while to
load, and a prompt does not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation.conversation import Conversations, Identity
from ..conversation.exchanges import StoredTurns, Telling
from ..conversation.replay.trail import Trail
from ..conversation.state import SessionState
from ..errors import InvalidValue
from ..runtime.stages import stage
from ..runtime.telemetry import Telemetry
from ..search.search import Search
from ..search.vectors.dense import Dense
from ..values.items import Trust
from ..values.messages import Message
from ..values.records import Turn, load_all
from .policy import Learning, check_trust
from .turns import new_turns, stored_turns

if TYPE_CHECKING:
    from .distill import Distiller


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Stores what is said in conversations, and what that teaches."""

    conversations: Conversations
    search: Search
    telemetry: Telemetry
    policy: Learning
    trust: Mapping[str, Trust]
    """How far each source is trusted, where that is not plain."""
    dense: Dense | None
    distiller: Distiller | None
    """Puts conversations to the summarizer; None when nothing is to be asked."""

    @stage("capture")
    def capture(self, who: Identity, told: Telling, *, settle: bool = True) -> list[Turn]:
        """Store what is told as turns, and learn from it; return those that are new.

        Whoever writes the state right after may write instead of `settle` that nothing waits any
        more, and how many turns there are.
        """
        store = self.conversations.journal.store
        with store.atomic(who.user):
            state = self.conversations.load(who, told.at)
            anchors = [*(told.trail.anchors[place] for place in told.chosen), *state.untaught]
            known = stored_turns(store, who.user, who.session, anchors)
            turns = self.store_turns(who, state, told, known)
            self._learn(who, state, told, _waiting(state, known), turns)
            if settle and (turns or state.untaught):
                self.conversations.put(state, untaught=(), turns=state.turns + len(turns))
        return turns

    def store_turns(
        self, who: Identity, state: SessionState, told: Telling, known: StoredTurns | None = None
    ) -> list[Turn]:
        """Store what is told as turns; return those that are new.

        To be called inside a transaction; nothing is learned. `known` tells which are stored.
        """
        journal = self.conversations.journal
        turns = new_turns(journal, who, state, told, known=known, trust=self.trust)
        journal.store.put([turn.row() for turn in turns])
        return turns

    def learn_what_waits(self, who: Identity, told: Telling | None = None) -> None:
        """Learn from what was stored as calls were prepared; `told` is in the present call."""
        store = self.conversations.journal.store
        with store.atomic(who.user):
            state = self.conversations.load(who)
            if state.untaught:
                known = stored_turns(store, who.user, who.session, state.untaught)
                nothing = Telling(messages=(), trail=Trail(), at=state.at)
                self._learn(who, state, told or nothing, _waiting(state, known))
                self.conversations.put(state, untaught=())

    def has_news(self, user: str) -> None:
        """Say that something of the user was written: it can be worked on beside the requests."""
        if self.dense is not None:
            self.dense.embed_soon(user)
        if self.distiller is not None:
            self.distiller.work_off(self)

    def reindex(self, user: str, progress: Callable[[int, int], None] | None) -> int:
        """Embed everything of a user anew; return how many records it were."""
        if self.dense is None:
            raise InvalidValue("there is no embedder to reindex with: open with embedder=...")
        return self.dense.vectors.reindex(user, progress).embedded

    def counts(self) -> dict[str, int]:
        """Return how far embedding is, where records are embedded."""
        return self.dense.counts() if self.dense is not None else {}

    def settle(self, timeout: float) -> bool:
        """Wait until the summarizer has been asked all there is; say whether that came in time."""
        return self.distiller is None or self.distiller.settle(timeout)

    def close(self) -> None:
        """Stop what works beside the requests; closing twice is fine."""
        if self.distiller is not None:
            self.distiller.close()
        if self.dense is not None:
            self.dense.close()

    def trust_in(self, source: str, given: Trust | None) -> Trust:
        """Return how far a source is trusted: as the call says, else as it was opened with."""
        trust = self.trust.get(source, "trusted") if given is None else given
        check_trust(trust)
        return trust

    def _learn(
        self,
        who: Identity,
        state: SessionState,
        told: Telling,
        waiting: Sequence[Turn],
        turns: Sequence[Turn] = (),
    ) -> None:
        """Learn from new turns, and before them from those that wait."""
        # Its rules take a tenth of a second to load, and a command that only looks needs none.
        from .lessons import learn

        # The trail may go on where the messages end.
        anchors = told.trail.anchors[: len(told.messages)]
        places = {anchor: at for at, anchor in enumerate(anchors)}
        here = [_moved(turn, places[turn.anchor]) for turn in waiting if turn.anchor in places]
        for turn in waiting:
            if turn.anchor not in places:
                # Its call is not this one: another branch, or a history that was cut.
                learn(self, who, state, [_as_message(turn)], [_moved(turn, 0)])
        learn(self, who, state, told.messages, [*here, *turns])


def _waiting(state: SessionState, known: StoredTurns) -> list[Turn]:
    rows = [row for anchor in state.untaught if (row := known[anchor])]
    turns = load_all(rows, Turn)
    return sorted(turns, key=lambda turn: (turn.at, turn.position))


def _moved(turn: Turn, place: int) -> Turn:
    return turn.model_copy(update={"position": place})


def _as_message(turn: Turn) -> Message:
    return {
        "role": turn.role,
        "content": turn.text,
        "name": turn.speaker,
        "author": turn.author,
    }

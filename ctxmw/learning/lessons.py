"""From turns that were just captured to what they teach: memories, notes and observations.

What a user states becomes a memory; where the work stands becomes a note, whoever tells it; what
tools did becomes an observation. An assistant's or a tool's words are never a user's preference.
Everything knows the turns it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..conversation.conversation import Identity
from ..conversation.state import SessionState
from ..memory.remember import remember
from ..protocols import Find
from ..text.cleaning import fold, one_line
from ..text.terms import content_terms
from ..values.items import MakeRef
from ..values.messages import Message, message_text
from ..values.records import MEMORY_KINDS, Note, Observation, Record, Turn
from .learner import asked_by
from .observations import Observed, observations_in
from .statements.reading import Statement, statements
from .statements.scoping import scope_for

if TYPE_CHECKING:
    from .learner import Learner

NOTE = 200
"""Characters of a note: it is one line on where the work stands."""
OPEN_NOTES = 60
"""How many notes of a scope are looked at when something is done."""
COVERED = 0.6
"""The share of an open note's words that what is done must have to close it."""
_POLARITY = frozenset(
    "always never please do don't dont not no avoid stop must should you use using i i'd prefer we"
    " make sure ever to be from now on instead".split()
)


def learn(
    learner: Learner,
    who: Identity,
    state: SessionState,
    messages: Sequence[Message],
    turns: Sequence[Turn],
) -> list[Record]:
    """Store what these new turns teach, inside the caller's transaction; return it.

    What an application wrote, and whatever answers it, teaches nothing.
    """
    asking = asked_by(messages)
    turns = [turn for turn in turns if asking[turn.position] == "person"]
    lesson = Lesson(learner, who, state, turns)
    policy = learner.policy
    if policy.statements:
        lesson.take_statements(messages, _strangers(messages, who.user))
    if policy.observations and any(turn.role == "tool" for turn in turns):
        lesson.take_observations(messages)
    if learner.distiller is not None:
        learner.distiller.learn_from(who, turns)
    return lesson.learned


class Lesson:
    """What turns of one conversation teach, being stored."""

    def __init__(
        self, learner: Learner, who: Identity, state: SessionState, turns: Sequence[Turn]
    ) -> None:
        self._learner = learner
        self._journal = learner.conversations.journal
        self._who = who
        self._turns = turns
        self._project = who.project or state.project
        self._language = who.language or state.language
        self._make_ref: MakeRef = self._journal.refs(who.user)
        self.learned: list[Record] = []

    def take_statements(self, messages: Sequence[Message], strangers: frozenset[str]) -> None:
        tools_said = [fold(turn.text) for turn in self._turns if turn.role == "tool"]
        for turn in self._turns:
            if turn.speaker in strangers:
                continue
            asked = turn.position and message_text(messages[turn.position - 1]).rstrip().endswith(
                "?"
            )
            about = {"answers": bool(asked), "working": bool(tools_said)}
            for stated in statements(turn.text, turn.role, **about):
                # An assistant that repeats a tool speaks for whoever wrote the tool's output.
                if turn.role == "user" or not any(fold(stated.said) in said for said in tools_said):
                    self.take(stated, turn, "conversation" if turn.role == "user" else "assistant")

    def take(self, stated: Statement, turn: Turn, source: str) -> None:
        """Store one statement."""
        here = {"project": self._project, "language": self._language}
        about = {
            "session": self._who.session,
            "scope": scope_for(stated.kind, stated.text, **here),
            "source": source,
            "trust": turn.trust,
            "derived_from": (turn.ref,),
            "message_id": turn.message_id,
        }
        if stated.kind in MEMORY_KINDS:
            self._remember(stated, turn, about)
        else:
            self._note(stated, turn, about)

    def take_observations(self, messages: Sequence[Message]) -> None:
        by_place = {turn.position: turn for turn in self._turns}
        scope = f"project:{self._project}" if self._project else "universal"
        for one in observations_in(messages, list(by_place)):
            turns = [by_place[place] for place in one.places if place in by_place]
            if turns:
                self._observe(one, turns, scope)

    def _remember(self, stated: Statement, turn: Turn, about: Mapping[str, Any]) -> None:
        values = {"kind": stated.kind, "text": stated.text, "key": _topic(stated), **about}
        search, user = self._learner.search, self._who.user
        with self._learner.telemetry.observer.operation("remember"):
            self.learned.append(remember(self._journal, search, user, at=turn.at, **values))

    def _note(self, stated: Statement, turn: Turn, about: Mapping[str, Any]) -> None:
        values = {"kind": stated.kind, "text": one_line(_dense(stated), NOTE), **about}
        ref = self._make_ref(Note.prefix)
        note = Note(user=self._who.user, ref=ref, at=turn.at, **values)
        store, row = self._journal.store, note.row()
        said = Find(types=("note",), sessions=(note.session,), digests=(row.digest,), live=None)
        if store.query(note.user, said):
            return
        closed = self._closed_by(note) if note.kind == "done" else []
        store.put([row, *(one.row() for one in closed)])
        self.learned.append(note)

    def _closed_by(self, done: Note) -> list[Note]:
        """Return the steps and blockers that this work settles."""
        terms = _told_terms(done)
        asked = Find(types=("note",), scopes=(done.scope,), limit=OPEN_NOTES)
        rows = self._journal.store.query(done.user, asked)
        notes = self._journal.read(rows, Note)
        open_ = [note for note in notes if note.kind in ("next", "blocked")]
        waiting = [note for note in open_ if note.at <= done.at]
        return [
            note.model_copy(update={"closed_by": done.ref})
            for note in waiting
            if len((own := _told_terms(note)) & terms) >= max(2, COVERED * len(own))
        ]

    def _observe(self, one: Observed, turns: Sequence[Turn], scope: str) -> None:
        strange = any(turn.trust == "untrusted" for turn in turns) and one.trust == "untrusted"
        record = Observation(
            user=self._who.user,
            ref=self._make_ref(Observation.prefix),
            at=turns[-1].at,
            session=self._who.session,
            scope=scope,
            source=one.source,
            trust="untrusted" if strange else "trusted",
            derived_from=tuple(turn.ref for turn in turns),
            kind=one.kind,
            title=one.title,
            text=one.text,
            files=one.files,
            concepts=one.concepts,
        )
        self._journal.store.put([record.row()])
        self.learned.append(record)


def _told_terms(note: Note) -> set[str]:
    # The stemmer makes "ad" of "added".
    return {"add" if term == "ad" else term for term in content_terms(note.text)}


def _strangers(messages: Sequence[Message], user: str) -> frozenset[str]:
    """Return the speakers whose words are not the user's: all, where several people talk."""
    spoken = {str(message.get("name") or "") for message in messages if message["role"] == "user"}
    names = spoken - {"", user}
    return frozenset(names if len(names) > 1 or (names and "" in spoken) else ())


_WHO = re.compile(
    r"(?:(?:and|so|then|also|now|today|finally|yesterday)[, ]+)*"
    r"(?:(?:i|we)(?:'ve| have|'ll| will|'m| am|'re| are)?(?: (?:just|now|also|already|finally|"
    r"successfully|recently|both|all|then))* "
    r"(?=\w+ed |wrote |built |sent |set |split |cut |got |paid )"
    r"|(?:i|we) (?:still )?(?:need|have) to |(?:i|we)(?:'ll| will) )",
    re.IGNORECASE,
)


def _dense(stated: Statement) -> str:
    """Return a statement as a note has it: who did it is plain, so what was done comes first."""
    text = _WHO.sub("", stated.text, count=1) if _WHO.match(stated.text) else stated.text
    return text[:1].upper() + text[1:]


def _topic(stated: Statement) -> str:
    """Return what two instructions share that say the opposite of each other; "" for others.

    "Always use tabs" and "Never use tabs" are about the same: the later one holds.
    """
    if stated.kind not in ("preference", "correction"):
        return ""
    words = [word for word in fold(stated.text).split() if word.strip(",.;:!") not in _POLARITY]
    return f"said: {' '.join(words)}" if 1 <= len(words) <= 12 else ""

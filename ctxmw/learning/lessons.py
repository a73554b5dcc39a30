"""From turns that were just captured to what they teach: memories, notes and observations.

What a user states becomes a memory; where the work stands becomes a note, whoever tells it; what
tools did becomes an observation. An assistant's or a tool's words are never a user's preference.
Everything knows the turns it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..conversation.conversation import Identity
from ..conversation.exchanges import Telling
from ..conversation.state import SessionState
from ..conversation.strangers import strangers_kept
from ..memory.remember import remember
from ..protocols import Find
from ..text.cleaning import fold, one_line
from ..text.periods import ALWAYS, period_in
from ..text.speech.own_words import own_words
from ..text.terms import content_terms, repeats
from ..values.items import MakeRef
from ..values.messages import Message, last_user, message_text
from ..values.records import MEMORY_KINDS, Note, Observation, Record, Turn
from .learner import asked_by, is_anothers, stored_turns
from .observations import Observed, observations_in
from .statements.cutting import Statement, whole_sentence
from .statements.reading import OWN, statements, untold
from .statements.scoping import scope_for
from .subjects.affected import affected_by
from .subjects.attributes import is_request
from .subjects.subject import subject_of
from .taint import trust_of_words

if TYPE_CHECKING:
    from .learner import Learner

_TAKEN_OUT = re.compile(r"\[REDACTED|<\w+_hash:\w+>|\[(?:\w+ )?removed\]", re.IGNORECASE)
"""Where others have taken something private out of a sentence: what is left is no fact."""
_MASKED = re.compile(r"\*{4,}")
NOTE = 200
"""Characters of a note: it is one line on where the work stands."""
OPEN_NOTES = 60
"""How many notes of a scope are looked at when something is done."""
TRIES = 20
"""Observations of a conversation among which those are that a remedy tells."""
COVERED = 0.6
"""The share of an open note's words that what is done must have to close it."""


def learn(
    learner: Learner,
    who: Identity,
    state: SessionState,
    told: Telling,
    turns: Sequence[Turn],
) -> list[Record]:
    """Store what these new turns teach, inside the caller's transaction; return it.

    What an application wrote, and whatever answers it, teaches nothing.
    """
    messages = told.messages
    asking = asked_by(messages, [turn.position for turn in turns])
    turns = [turn for turn in turns if asking[turn.position] == "person" and turn.teaches]
    lesson = Lesson(learner, who, state, turns, told)
    policy = learner.policy
    if policy.statements:
        lesson.take_statements(messages)
    if policy.observations and any(turn.role == "tool" for turn in turns):
        lesson.take_observations(messages)
    if learner.distiller is not None:
        learner.distiller.learn_from(who, turns)
    return lesson.learned


class Lesson:
    """What turns of one conversation teach, being stored."""

    def __init__(
        self,
        learner: Learner,
        who: Identity,
        state: SessionState,
        turns: Sequence[Turn],
        told: Telling | None = None,
    ) -> None:
        self._learner = learner
        self._told = told
        self._journal = learner.conversations.journal
        self._who = who
        self._turns = turns
        self._project = who.project or state.project
        self._language = who.language or state.language
        self._make_ref: MakeRef = self._journal.refs(who.user)
        self.learned: list[Record] = []

    def take_statements(self, messages: Sequence[Message]) -> None:
        tools_said = [fold(turn.text) for turn in self._turns if turn.role == "tool"]
        for turn in self._turns:
            if is_anothers(messages[turn.position], self._who.user):
                continue
            asked = turn.position and message_text(messages[turn.position - 1]).rstrip().endswith(
                "?"
            )
            about = {"answers": bool(asked), "working": bool(tools_said)}
            own = own_words(turn.text) if turn.role == "user" else turn.text
            own = _MASKED.sub("[REDACTED]", own)
            for stated in statements(own, turn.role, **about):
                if _TAKEN_OUT.search(stated.said):
                    continue
                # What only repeats a tool is with the tool's turn already.
                if turn.role == "user" or not any(fold(stated.said) in said for said in tools_said):
                    self.take(stated, turn, "conversation" if turn.role == "user" else "assistant")
            if turn.role == "user":
                self._take_changes(own, turn)

    def _take_changes(self, own: str, turn: Turn) -> None:
        """Learn what says nothing by itself, but that something known has changed."""
        for stated in untold(own):
            subject = subject_of(stated.text, stated.said)
            # "The queue is fast again" says nothing of who owns the queue.
            names = subject.keys or subject.tells.things or subject.tells.aspects
            theirs = subject.is_exact or is_request(subject.tells)
            of_speaker = bool(names and OWN.search(stated.said))
            told = bool(subject.given_up) or theirs or subject.alters or of_speaker
            if not (told and subject.may_replace) or _TAKEN_OUT.search(stated.said):
                continue
            scope = scope_for(
                stated.kind, stated.text, project=self._project, language=self._language
            )
            if affected_by(self._journal, self._who.user, scope, subject, stated.said).replaced:
                self.take(stated, turn, "conversation")

    def take(self, stated: Statement, turn: Turn, source: str) -> None:
        """Store one statement."""
        here = {"project": self._project, "language": self._language}
        about = {
            "session": self._who.session,
            "scope": scope_for(stated.kind, stated.text, **here),
            "source": source,
            "trust": trust_of_words(turn),
            "derived_from": (turn.ref, *self._strangers_before(turn, stated.said)),
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

    def _strangers_before(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return refs of the strangers' words that an assistant may have had something from.

        Those are all of its exchange, of earlier ones what has its words, and what we showed.
        """
        told = self._told
        if told is None or turn.role != "assistant" or not turn.tainted:
            return ()
        since = last_user(told.messages[: turn.position]) or 0
        places = [
            place
            for place in self._learner.strangers(self._who.user, told).before(turn.position)
            if place >= since or repeats(said, message_text(told.messages[place]))
        ]
        # What came along with an answer's call, documents in a system prompt perhaps, is no turn:
        # the question that it came along with is.
        anchors = [told.trail.anchors[place] for place in {*places, *([since] * bool(turn.brings))}]
        found = stored_turns(self._journal.store, self._who.user, self._who.session, anchors)
        here = [row.ref for row in found.values() if row]
        kept = () if here else strangers_kept(self._journal, self._who)
        left_out = [one.ref for one in kept if repeats(said, one.says())] or [
            one.ref for one in kept[:1]
        ]
        return (*here, *left_out, *told.shown)

    def _remember(self, stated: Statement, turn: Turn, about: Mapping[str, Any]) -> None:
        private = self._learner.policy.marks(stated.text)
        if private and self._learner.policy.sensitive == "never":
            return
        subject = subject_of(stated.text, stated.said)
        scope = about["scope"]
        known = affected_by(
            self._journal, self._who.user, scope, subject, stated.said, turn=turn.ref
        )
        if known.replaced and not subject.says_all(stated.text):
            # What took the old one's place stands in another part of the sentence.
            stated = replace(stated, text=whole_sentence(stated.said), part="")
        reworded = stated.text.rstrip(".").casefold() not in turn.text.casefold()
        values = {"kind": stated.kind, "text": stated.text, "key": subject.key, **about}
        said = stated.part or stated.said
        values |= {"said": said if reworded else "", "sensitive": private}
        values |= _period(stated.text, said, turn.at)
        search, user = self._learner.search, self._who.user
        values["near"] = known.unsure
        with self._learner.telemetry.observer.operation("remember"):
            new = remember(
                self._journal, search, user, at=turn.at, replaces=known.replaced, **values
            )
        self.learned.append(new)

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
        strange = any(turn.trust == "untrusted" or turn.tainted for turn in turns)
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
            fails=one.fails,
        )
        if one.fails and self._is_known(record):
            return
        told = [old.model_copy(update={"rejected": True}) for old in self._told_by(one)]
        self._journal.store.put([record.row(), *(old.row() for old in told)])
        self.learned.append(record)

    def _told_by(self, one: Observed) -> list[Observation]:
        """Return what was noticed in this conversation before, and is told by this now."""
        if not one.instead_of:
            return []
        asked = Find(types=(Observation.type,), sessions=(self._who.session,), limit=TRIES)
        rows = self._journal.store.query(self._who.user, asked)
        known = self._journal.read(rows, Observation)
        return [old for old in known if old.title in one.instead_of and not old.fails]

    def _is_known(self, remedy: Observation) -> bool:
        asked = Find(types=(Observation.type,), digests=(remedy.fails,), scopes=(remedy.scope,))
        rows = self._journal.store.query(remedy.user, asked)
        return any(known.title == remedy.title for known in self._journal.read(rows, Observation))


def _period(text: str, said: str, at: datetime) -> dict[str, datetime]:
    """Return when a statement holds where only what leads up to it tells: "From Monday on, ..."."""
    told = ALWAYS if period_in(text, at) != ALWAYS else period_in(said, at)
    ends = {"since": told.since, "until": told.until}
    return {name: moment for name, moment in ends.items() if moment is not None}


def _told_terms(note: Note) -> set[str]:
    # The stemmer makes "ad" of "added".
    return {"add" if term == "ad" else term for term in content_terms(note.text)}


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

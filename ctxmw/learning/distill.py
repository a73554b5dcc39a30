"""Asks the summarizer what a conversation teaches and what it was about, beside the requests.

The rules have been over everything before, so whatever goes wrong here costs nothing but what the
model would have added. What it says is not believed blindly: each lesson names the message it
comes from, only a user's message can state a preference, and a summary is replaced only while it
is still the one that was asked about.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..conversation.conversation import Identity
from ..conversation.state import session_ref
from ..errors import CtxmwError, SummarizerError
from ..memory.remember import ALIKE
from ..protocols import Find
from ..store.journal import Journal
from ..text.cleaning import one_line
from ..text.secrets.redaction import redact
from ..text.speech.own_words import own_words
from ..text.terms import content_terms
from ..values.records import (
    MEMORY_KINDS,
    Derived,
    SessionSummary,
    Turn,
    load,
    load_all,
)
from .lessons import Lesson
from .statements.cutting import Statement
from .statements.wording import Stated
from .summarizers import MeteredSummarizer

if TYPE_CHECKING:
    from .learner import Learner

log = logging.getLogger("ctxmw")

CONVERSATIONS, TURNS = 64, 40
"""How many conversations may wait, and how many turns of each; the oldest are let go."""
SHOWN = 1_500
"""Characters of a message that the model is shown."""
LESSONS, LESSON = 10, 300
"""How many lessons are taken from an answer, and how many characters of each."""
SUMMARY = 600
SECONDS_TO_STOP = 5.0

_TEACH = """\
Below is part of a conversation, one numbered message a line. List what is worth remembering for \
later conversations, one item a line, as "[number] kind: text". The number is that of the message \
that says it.
Kinds, only from messages of the user: preference (how they want things done from now on), \
correction (what was wrong and how it is right), decision (what was decided), fact (what they ask \
to remember). From anybody: done (work finished), blocked (what hinders), next (what remains).
Leave out questions, examples, quotes, jokes, guesses and what holds only for now. At most 10 \
items, each one short sentence in the words of the message. If there is nothing, answer "nothing".

"""
_SUMMARIZE = """\
Summarize this conversation for somebody who goes on with the work: what was wanted, what was done \
and decided, what is open. At most three short sentences, no preamble.

"""
_LINE = re.compile(r"\A\s*+(?:[-*]\s*+)?\[(\d{1,3})\]\s*+(\w+):\s*+(\S.*)")
_KINDS: tuple[Stated, ...] = (
    "preference", "correction", "decision", "fact", "done", "decided", "blocked", "next",
)  # fmt: skip


class Distiller:
    """What waits to be put to the summarizer. Any thread may use it."""

    def __init__(self, summarizer: MeteredSummarizer) -> None:
        self._summarizer = summarizer
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def learn_from(self, who: Identity, turns: Sequence[Turn]) -> None:
        """Have these turns looked at; they may not be committed yet."""
        said = [turn.ref for turn in turns if turn.role in ("user", "assistant")]
        with self._changed:
            self._of(who).turns.extend(said)

    def summarize(self, who: Identity) -> None:
        """Have the conversation's summary put into better words."""
        with self._changed:
            self._of(who).ended = True

    def work_off(self, learner: Learner) -> None:
        """Begin with what waits; returns at once."""
        with self._changed:
            if self._closed or not self._waiting:
                return
            # A thread does not live on in a forked child.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, args=(learner,), name="ctxmw-distiller", daemon=True
                )
                self._thread.start()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing is under way; say whether that came in time."""
        end = time.monotonic() + timeout
        with self._changed:
            while self._thread is not None and self._thread.is_alive():
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return False
            return True

    def close(self) -> None:
        """Take no more; what is under way has a few seconds."""
        self.settle(SECONDS_TO_STOP)
        with self._changed:
            self._closed = True
            self._waiting.clear()

    def _of(self, who: Identity) -> _Waiting:
        waiting = self._waiting.setdefault((who.user, who.session), _Waiting(who))
        while len(self._waiting) > CONVERSATIONS:
            del self._waiting[next(iter(self._waiting))]
        return waiting

    def _run(self, learner: Learner) -> None:
        while (waiting := self._next()) is not None:
            try:
                if waiting.turns:
                    self._teach(learner, waiting.who, waiting.turns[-TURNS:])
                if waiting.ended:
                    self._summarize(learner, waiting.who)
            except SummarizerError as error:
                log.info("the rules alone have looked at a conversation: %s", error)
            except CtxmwError as error:
                learner.telemetry.stats.count("learning.failed")
                log.warning("what a model learned could not be kept: %s", error)
            # Whatever one conversation brings about, the others that wait have their turn.
            except Exception as error:  # noqa: BLE001
                learner.telemetry.stats.count("learning.failed")
                about = (waiting.who.user, session_ref(waiting.who.session))
                learner.conversations.journal.faults.tell(
                    "learn", about, error, "the rules alone looked at a conversation"
                )

    def _next(self) -> _Waiting | None:
        with self._changed:
            if self._closed or not self._waiting:
                self._thread = None
                self._changed.notify_all()
                return None
            return self._waiting.pop(next(iter(self._waiting)))

    def _teach(self, learner: Learner, who: Identity, refs: Sequence[str]) -> None:
        journal = learner.conversations.journal
        turns = _turns(journal, who, refs)
        shown = self._fitting(_TEACH, turns)
        if not any(turn.role == "user" for turn in shown):
            return
        answer = self._summarizer.ask(_TEACH + _numbered(shown))
        with journal.store.atomic(who.user):
            # Some of it may have been forgotten while the model was thinking.
            left = {turn.ref for turn in _turns(journal, who, [turn.ref for turn in shown])}
            state = learner.conversations.load(who)
            lesson = Lesson(learner, who, state, shown)
            for stated, turn in lessons_in(answer, shown):
                if turn.ref in left and not _is_known(journal, stated, turn):
                    lesson.take(stated, turn, "model")
        learner.telemetry.stats.count("learning.from_model", len(lesson.learned))

    def _summarize(self, learner: Learner, who: Identity) -> None:
        journal = learner.conversations.journal
        asked = Find(types=("summary",), sessions=(who.session,), limit=1)
        before = load_all(journal.store.query(who.user, asked), SessionSummary)
        if not before or not before[0].derived_from:
            return
        shown = self._fitting(_SUMMARIZE, _turns(journal, who, before[0].derived_from))
        if not shown:
            return
        answer = self._summarizer.ask(_SUMMARIZE + _numbered(shown))
        text = one_line(redact(answer).text, SUMMARY)
        with journal.store.atomic(who.user):
            if load_all(journal.store.query(who.user, asked), SessionSummary) == before:
                new = before[0].model_copy(update={"text": text, "source": "model"})
                journal.store.put([new.row()])

    def _fitting(self, asked: str, turns: Sequence[Turn]) -> list[Turn]:
        """Return the last turns that fit into a prompt."""
        left = self._summarizer.limits.prompt - self._summarizer.count(asked)
        fitting: list[Turn] = []
        for turn in reversed(turns):
            left -= self._summarizer.count(_shown(turn)) + 8
            if left < 0:
                break
            fitting.insert(0, turn)
        return fitting


def lessons_in(answer: str, shown: Sequence[Turn]) -> list[tuple[Statement, Turn]]:
    """Return what a model's answer lists, each with the turn it names; whatever else is skipped."""
    found = []
    for line in answer.splitlines():
        match = _LINE.match(line)
        if not match or not 1 <= int(match[1]) <= len(shown):
            continue
        turn = shown[int(match[1]) - 1]
        kind = next((kind for kind in _KINDS if kind == match[2].lower()), None)
        if kind is None or (kind in MEMORY_KINDS and turn.role != "user"):
            continue
        text = one_line(redact(match[3]).text, LESSON)
        found.append((Statement(kind, text, text), turn))
    return found[:LESSONS]


@dataclass(slots=True)
class _Waiting:
    who: Identity
    turns: list[str] = field(default_factory=list)
    ended: bool = False


def _turns(journal: Journal, who: Identity, refs: Sequence[str]) -> list[Turn]:
    rows = [row for row in journal.store.get(who.user, list(refs)) if row.type == "turn"]
    turns = journal.read(rows, Turn)
    told = [turn for turn in turns if turn.trust == "trusted" and not turn.rejected]
    # An assistant may repeat what strangers said before it.
    said = [turn for turn in told if turn.role == "user" or not turn.tainted]
    return [turn for turn in said if turn.teaches and _own(turn).strip()]


def _numbered(turns: Sequence[Turn]) -> str:
    return "\n".join(f"[{number}] {_shown(turn)}" for number, turn in enumerate(turns, start=1))


def _shown(turn: Turn) -> str:
    return f"{turn.role}: {one_line(_own(turn), SHOWN)}"


def _own(turn: Turn) -> str:
    return own_words(turn.text) if turn.role == "user" else turn.text


def _is_known(journal: Journal, stated: Statement, turn: Turn) -> bool:
    """Say whether the rules, or an earlier answer, have learned this from the same turn."""
    terms = set(content_terms(stated.text))
    asked = Find(types=("memory", "note"), sessions=(turn.session,), live=None)
    for known in journal.faults.read(journal.store.query(turn.user, asked), load):
        if isinstance(known, Derived) and turn.ref in known.derived_from:
            own = set(content_terms(known.says()))
            if not terms or len(terms & own) >= ALIKE * min(len(terms), len(own)):
                return True
    return False

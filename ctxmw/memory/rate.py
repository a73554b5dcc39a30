"""Rating: what somebody says of what a call was shown, kept with its history.

The question's words are kept with it, so that an opinion counts where something alike is asked.
They go when the question is forgotten, and an opinion goes with what it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from ..conversation.record import ContextRecord
from ..errors import InvalidValue, NotFound
from ..protocols import Find
from ..recall.pipeline import Recall
from ..runtime.telemetry import stage
from ..search.feedback import Feedback, Value
from ..search.question import Filter
from ..store.journal import Journal
from ..text.cleaning import clean, digest
from ..text.secrets.redaction import redact
from ..text.terms import content_terms
from ..values.argument_checks import check_text
from ..values.records import Turn
from ..values.situation import Situation

SURE = 0.5
"""The match from which on what was missing is something that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What is said; checked when it is made."""

    ref: str | None
    value: int | None
    """None where it is said what was missing: that speaks for itself."""
    note: str = ""
    missing: str = ""
    asked: str = ""
    """The question of a look that no call was made of: nothing else has kept it."""

    def __post_init__(self) -> None:
        told = self.value is not None or not self.missing
        if isinstance(self.value, bool) or (told and self.value not in get_args(Value)):
            raise InvalidValue(
                f"value is {self.value!r:.60}: 1 (it helped), -1 (it did not) or 0 (take it back), "
                "or say in words what was missing."
            )
        if self.ref is not None:
            check_text(self.ref, "ref")
        for name in ("note", "missing", "asked"):
            if not isinstance(getattr(self, name), str):
                raise InvalidValue(f"{name} is {getattr(self, name)!r:.60}: give a text.")
        if self.ref is not None and self.missing:
            raise InvalidValue(
                "rate was given both ref and missing: what was shown is not missing."
            )


@stage("rate")
def rate(recall: Recall, record: ContextRecord, said: Opinion) -> Feedback:
    """Write down what was said of a call's record; what was said before of the same is history."""
    journal, user = recall.journal, record.user
    missing = redact(clean(said.missing)).text
    found = _known(recall, user, missing) if missing else ""
    shown = [used.ref for used in record.used if used.shown != "none"]
    if said.ref is not None and said.ref not in shown:
        raise NotFound(
            f"the call {record.ref!r} showed no {said.ref!r}: its record lists what it did. What "
            "should have been there is told in words, as missing."
        )
    whole_call = said.ref is None and not missing
    with journal.store.atomic(user):
        question = _question(journal, record)
        words = question.text if question else redact(clean(said.asked)).text
        rated = journal.new(
            Feedback,
            user,
            session=record.session,
            record=record.ref,
            about=said.ref or found,
            value=1 if said.value is None else said.value,
            note=redact(clean(said.note)).text,
            missing=missing,
            asked=tuple(dict.fromkeys(content_terms(words))),
            derived_from=(question.ref,) if question else (),
            shown=_brought(record) if whole_call else (),
        )
        before = ratings_of(journal, user, record=record.ref)
        of_it = (rated.about, rated.missing)
        same = [one for one in before if not one.replaced and (one.about, one.missing) == of_it]
        history = [one.model_copy(update={"replaced": True}).row() for one in same]
        journal.store.put([*history, rated.row()])
    return rated


def looked_at(record: ContextRecord, asked: str) -> ContextRecord:
    """Return the record of a look under a name that the same look has the next time."""
    named = digest(record.session, *sorted(set(content_terms(asked))))[:24]
    return record.model_copy(update={"ref": f"look:{named}"})


def ratings_of(
    journal: Journal, user: str, *, record: str | None = None, about: str | None = None
) -> list[Feedback]:
    """Return what the user said, the newest first: of a call, of one thing, or all of it."""
    asked = Find(
        types=(Feedback.type,),
        keys=() if record is None else (record,),
        digests=() if about is None else (about,),
        live=None,
    )
    return journal.read(journal.store.query(user, asked), Feedback)


def _question(journal: Journal, record: ContextRecord) -> Turn | None:
    """Return what was asked in the call, as far as it was captured."""
    asked = Find(types=(Turn.type,), sessions=(record.session,), digests=(record.turn,))
    turns = journal.read(journal.store.query(record.user, asked), Turn)
    return next((turn for turn in turns if turn.role == "user"), None)


def _brought(record: ContextRecord) -> tuple[str, ...]:
    """Return the refs of what the turn's part showed."""
    part: Sequence[str] = [
        used.ref for used in record.used if used.block == "turn" and used.shown != "none"
    ]
    return tuple(part)


def _known(recall: Recall, user: str, missing: str) -> str:
    """Return the ref of what says what was missing; empty when nothing does."""
    situation = Situation(user=user, query=missing, now=recall.journal.clock())
    found = recall.find(situation, Filter(scopes=(), alone=True, lessons=True)).items
    matches = {item.ref: item.match or 0.0 for item in found}
    best = max(matches, key=lambda ref: matches[ref], default="")
    return best if best and matches[best] >= SURE else ""

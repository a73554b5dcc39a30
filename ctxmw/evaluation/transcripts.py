"""Conversations with questions of which the evidence is known, and our own file format for them.

One conversation a line: {"conv", "items": [{"id", "session", "ts", "speaker", "text"}],
"questions": [{"qid", "question", "category", "evidence": [item ids]}]}. docs/evaluating.md tells
what each field means and which may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import InvalidValue

FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%B-%d-%Y", "%Y/%m/%d (%a) %H:%M")
"""How public sets of conversations write a time: LoCoMo, REALTALK, BEAM, LongMemEval."""

_START = datetime(2026, 1, 1, 9, tzinfo=UTC)
_LATER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One thing that was said."""

    id: str
    session: str
    at: datetime
    speaker: str
    """"user", "assistant", or the name of a person."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuestion:
    """A question, and what an answer to it needs."""

    id: str
    text: str
    category: str = ""
    evidence: tuple[str, ...] = ()
    """Ids of the utterances that an answer needs."""
    sessions: tuple[str, ...] = ()
    """The sessions that hold them."""
    before: int
    """How many utterances were said when it is asked."""
    at: datetime
    """When it is asked."""

    @property
    def is_scored(self) -> bool:
        """Whether anything is known that an answer needs."""
        return bool(self.evidence or self.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said, in its order, and what is asked about it."""

    name: str
    said: tuple[Utterance, ...]
    questions: tuple[KnownQuestion, ...]

    def without(self, categories: Collection[str]) -> Transcript:
        """Return the same without the questions of these categories."""
        kept = tuple(one for one in self.questions if one.category not in categories)
        return replace(self, questions=kept)


def read_jsonl(path: Path) -> Iterator[Transcript]:
    """Yield the conversations of a file in our own format."""
    with readable(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{path}, line {number}"
                yield _transcript(_row(line, where), where)


def count_jsonl(path: Path) -> int:
    """Return how many conversations a file has."""
    with readable(path) as file:
        return sum(bool(line.strip()) for line in file)


def readable(path: Path) -> Any:
    """Open a file of conversations; say so when that cannot be."""
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise InvalidValue(f"{path} cannot be read: {error.strerror}.") from error


def _transcript(row: Mapping[str, Any], where: str) -> Transcript:
    """Return a conversation as it was written; `where` names it when it makes no sense."""
    items = _list(row, "items", where)
    said: list[Utterance] = []
    for number, item in enumerate(items, 1):
        before = said[-1].at if said else _START - timedelta(minutes=1)
        said.append(_utterance(item, before, f"{where}, item {number}"))
    known = {one.id: one for one in said}
    if len(known) < len(said):
        raise InvalidValue(f"{where}: two items have the same id; give each its own.")
    asked = _list(row, "questions", where)
    return Transcript(
        name=str(row.get("conv", where)),
        said=tuple(said),
        questions=tuple(
            _question(one, said, known, f"{where}, question {number}")
            for number, one in enumerate(asked, 1)
        ),
    )


def said_moment(text: object, where: str) -> datetime:
    """Return the time that a text names: ISO 8601, or as a public set writes it; UTC by default."""
    for form in FORMS:
        try:
            return datetime.strptime(str(text), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise InvalidValue(
            f"{where}: the time is {text!r:.60}; write it as 2026-05-17T09:30."
        ) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _row(line: str, where: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidValue(f"{where} is not valid JSON: {error}.") from error
    if not isinstance(row, Mapping):
        raise InvalidValue(f"{where} must be an object with items and questions.")
    return row


def _utterance(item: Any, before: datetime, where: str) -> Utterance:
    ts = item.get("ts") if isinstance(item, Mapping) else None
    return Utterance(
        id=_text(item, "id", where),
        session=str(item.get("session", "1")),
        at=before + timedelta(minutes=1) if ts is None else said_moment(ts, where),
        speaker=str(item.get("speaker", "user")),
        text=_text(item, "text", where),
    )


def _question(
    one: Any, said: Sequence[Utterance], known: Mapping[str, Utterance], where: str
) -> KnownQuestion:
    text = _text(one, "question", where)
    evidence = tuple(dict.fromkeys(map(str, one.get("evidence", ()))))
    unknown = [ref for ref in evidence if ref not in known]
    if unknown:
        raise InvalidValue(f"{where}: the evidence {unknown[0]!r:.60} is the id of no item.")
    before = one.get("before", len(said))
    if isinstance(before, bool) or not isinstance(before, int) or not 0 <= before <= len(said):
        raise InvalidValue(f"{where}: before is {before!r:.60}; it counts items, 0 to {len(said)}.")
    last = max((each.at for each in said[:before]), default=_START)
    return KnownQuestion(
        id=str(one.get("qid", where)),
        text=text,
        category=str(one.get("category", "")),
        evidence=evidence,
        sessions=tuple(dict.fromkeys(known[ref].session for ref in evidence)),
        before=before,
        at=said_moment(one["ts"], where) if "ts" in one else last + _LATER,
    )


def _list(row: Mapping[str, Any], name: str, where: str) -> Sequence[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        raise InvalidValue(f"{where}: {name!r} must be a list.")
    return value


def _text(row: Any, name: str, where: str) -> str:
    value = row.get(name) if isinstance(row, Mapping) else None
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidValue(f"{where}: {name!r} must be a text.")
    return value

"""Reads the public LongMemEval files as they are: one array, an element for each question.

Every question has a haystack of sessions of its own. `has_answer` marks the turns that are
evidence, `answer_session_ids` the sessions; a `question_id` that ends in "_abs" asks for what was
never said, and has neither. The file may be larger than memory: it is read element by element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from ..errors import InvalidValue
from .transcripts import KnownQuestion, Transcript, Utterance, readable, said_moment

_CHUNK = 1 << 20
_ELEMENT = '"question_id":'
_ABSENT = "_abs"


def read_longmemeval(path: Path) -> Iterator[Transcript]:
    """Yield a transcript for each question of a file."""
    for number, element in enumerate(_elements(path), 1):
        where = f"{path}, question {number}"
        try:
            yield _transcript(element, where)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidValue(
                f"{where} is not as LongMemEval has it ({type(error).__name__}: {error}): it needs "
                "question_id, question, haystack_sessions, haystack_session_ids and haystack_dates."
            ) from error


def count_longmemeval(path: Path) -> int:
    """Return how many questions a file has, without reading it as JSON."""
    found, rest = 0, ""
    with readable(path) as file:
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            found += text.count(_ELEMENT)
            rest = text[-len(_ELEMENT) + 1 :]
    return found


def _transcript(element: Mapping[str, Any], where: str) -> Transcript:
    sessions = zip(
        element["haystack_session_ids"],
        element["haystack_dates"],
        element["haystack_sessions"],
        strict=False,
    )
    said: list[Utterance] = []
    evidence: list[str] = []
    # The "oracle" file is not sorted.
    dated = sorted(
        ((said_moment(date, where), id_, turns) for id_, date, turns in sessions),
        key=lambda session: session[0],
    )
    for place, (at, session, turns) in enumerate(dated):
        for number, turn in enumerate(turns):
            id_ = f"{place}:{session}:{number}"
            text = str(turn["content"])
            said.append(Utterance(id=id_, session=session, at=at, speaker=turn["role"], text=text))
            if turn.get("has_answer"):
                evidence.append(id_)
    absent = str(element["question_id"]).endswith(_ABSENT)
    asked = element.get("question_date")
    question = KnownQuestion(
        id=str(element["question_id"]),
        text=str(element["question"]),
        category=str(element.get("question_type", "")),
        evidence=() if absent else tuple(evidence),
        sessions=() if absent else tuple(dict.fromkeys(element.get("answer_session_ids", ()))),
        before=len(said),
        at=said_moment(asked, where) if asked else max(one.at for one in said),
    )
    return Transcript(name=question.id, said=tuple(said), questions=(question,))


def _elements(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the elements of an array, with one of them in memory at a time."""
    decoder = JSONDecoder()
    with readable(path) as file:
        text = file.read(_CHUNK).lstrip("\ufeff \n\r\t")
        if not text.startswith("["):
            raise InvalidValue(f"{path} must hold one array of questions, as LongMemEval does.")
        text = text[1:]
        while True:
            text = text.lstrip(", \n\r\t")
            if text.startswith("]"):
                return
            try:
                element, end = decoder.raw_decode(text)
            except JSONDecodeError as error:
                # Twice as much each time: what is read again and again stays little.
                more = file.read(max(_CHUNK, len(text)))
                if not more:
                    raise InvalidValue(f"{path} is not valid JSON, or is cut off.") from error
                text += more
                continue
            yield element
            text = text[end:]

"""Our own file format: what is read, what may be left out, and what is refused by its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ctxmw.errors import InvalidValue
from ctxmw.evaluation.transcripts import Transcript, count_jsonl, read_jsonl, said_moment


def written(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", "utf-8")
    return path


def read(tmp_path: Path, row: Any) -> Transcript:
    (transcript,) = read_jsonl(written(tmp_path / "talks.jsonl", row))
    return transcript


ITEMS = [{"id": "a", "text": "Tea?"}, {"id": 2, "text": "Yes.", "speaker": "Bob", "session": "x"}]


def test_what_is_left_out_has_a_default(tmp_path):
    questions = [{"question": "Who wants tea?", "evidence": [2, 2]}, {"question": "Why?"}]
    talk = read(tmp_path, {"items": ITEMS, "questions": questions})
    first, second = talk.said
    assert (first.session, first.speaker, first.id) == ("1", "user", "a")
    assert (second.session, second.speaker, second.id) == ("x", "Bob", "2")
    assert first.at < second.at < talk.questions[0].at
    assert talk.questions[0].evidence == ("2",)
    assert talk.questions[0].sessions == ("x",)
    assert talk.questions[0].before == 2
    assert [one.is_scored for one in talk.questions] == [True, False]


def test_a_question_is_asked_when_it_says(tmp_path):
    asked = {"question": "Tea?", "evidence": ["a"], "before": 1, "ts": "2027-01-01T12:00+02:00"}
    (question,) = read(tmp_path, {"items": ITEMS, "questions": [asked]}).questions
    assert question.before == 1
    assert question.at == datetime(2027, 1, 1, 10, tzinfo=UTC)


def test_categories_can_be_left_out(tmp_path):
    questions = [{"question": "?", "category": name} for name in (1, "b", None)]
    talk = read(tmp_path, {"items": ITEMS, "questions": questions})
    assert [one.category for one in talk.without(["1"]).questions] == ["b", "None"]


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08T13:56",
        "1:56 pm on 8 May, 2023",
        "08.05.2023, 13:56:00",
        "2023/05/08 (Mon) 13:56",
        "2023-05-08T15:56:00+02:00",
    ],
)
def test_times_are_read_as_public_sets_write_them(text):
    assert said_moment(text, "here") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([], "line 1 must be an object"),
        ({"items": []}, "'questions' must be a list"),
        ({"items": {}, "questions": []}, "'items' must be a list"),
        ({"items": [{"id": "a"}], "questions": []}, "item 1: 'text' must be a text"),
        ({"items": ["a"], "questions": []}, "item 1: 'id' must be a text"),
        ({"items": [*ITEMS, ITEMS[0]], "questions": []}, "the same id"),
        (
            {"items": [{"id": "a", "text": "b", "ts": "soon"}], "questions": []},
            "item 1: the time is 'soon'",
        ),
        (
            {"items": ITEMS, "questions": [{"question": "?", "evidence": ["z"]}]},
            "question 1: the evidence 'z' is the id of no item",
        ),
        ({"items": ITEMS, "questions": [{"question": "?", "before": 3}]}, "before is 3"),
        ({"items": ITEMS, "questions": [{"qid": "q"}]}, "'question' must be a text"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_place(tmp_path, row, says):
    with pytest.raises(InvalidValue, match=says):
        read(tmp_path, row)


def test_a_line_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "talks.jsonl"
    path.write_text('{"items": [], "questions": []}\n\n{"items": [', "utf-8")
    with pytest.raises(InvalidValue, match="line 3 is not valid JSON"):
        list(read_jsonl(path))
    assert count_jsonl(path) == 2


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidValue, match=r"none\.jsonl cannot be read"):
        list(read_jsonl(tmp_path / "none.jsonl"))

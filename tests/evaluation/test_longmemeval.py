"""The public LongMemEval format, on a small file made for this."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ctxmw.errors import InvalidValue
from ctxmw.evaluation import longmemeval
from ctxmw.evaluation.longmemeval import count_longmemeval, read_longmemeval


def element(id_: str = "q1", **changed: Any) -> dict[str, Any]:
    return {
        "question_id": id_,
        "question_type": "single-session-user",
        "question": "Which instrument do I learn?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40",
        # As in the "oracle" file, the newest is not the last.
        "haystack_session_ids": ["answer_1", "filler_1"],
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I began to learn the cello.", "has_answer": True},
                {"role": "assistant", "content": "Lovely!", "has_answer": False},
            ],
            [{"role": "user", "content": "How do I boil an egg?"}],
        ],
        "answer_session_ids": ["answer_1"],
        **changed,
    }


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "longmemeval.json"
    path.write_text(text, "utf-8")
    return path


def test_a_question_has_its_sessions_in_the_order_of_time(tmp_path):
    (talk,) = read_longmemeval(file(tmp_path, json.dumps([element()])))
    (question,) = talk.questions
    assert [one.session for one in talk.said] == ["filler_1", "answer_1", "answer_1"]
    assert talk.said[0].at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert [one.text for one in talk.said if one.id in question.evidence] == [
        "I began to learn the cello."
    ]
    assert question.sessions == ("answer_1",)
    assert question.at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert question.category == "single-session-user"


def test_what_was_never_said_is_not_scored(tmp_path):
    (talk,) = read_longmemeval(file(tmp_path, json.dumps([element("q1_abs")])))
    assert not talk.questions[0].is_scored


@pytest.mark.parametrize("chunk", [1, 7, 100, 5000])
@pytest.mark.parametrize("indent", [None, 2])
def test_it_is_read_piece_by_piece(tmp_path, monkeypatch, chunk, indent):
    monkeypatch.setattr(longmemeval, "_CHUNK", chunk)
    elements = [element(f"q{number}") for number in range(5)]
    path = file(tmp_path, json.dumps(elements, indent=indent))
    assert [talk.name for talk in read_longmemeval(path)] == ["q0", "q1", "q2", "q3", "q4"]
    assert count_longmemeval(path) == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "one array"),
        ('{"question_id": "a"}', "one array"),
        (json.dumps([element()])[:-9], "cut off"),
        ('[{"question_id": "a"}]', "question 1 is not as LongMemEval has it"),
        ("[3]", "question 1 is not as LongMemEval has it"),
        (json.dumps([element(haystack_dates=["soon", "later"])]), "the time is 'soon'"),
    ],
)
def test_another_file_is_refused(tmp_path, text, says):
    with pytest.raises(InvalidValue, match=says):
        list(read_longmemeval(file(tmp_path, text)))

"""`ctxmw eval`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxmw.cli.main import main

TALK = {
    "conv": "ada",
    "items": [
        {"id": "1", "session": "monday", "text": "My sister Lena moved to Porto last week."},
        {"id": "2", "session": "monday", "speaker": "assistant", "text": "Does she like it?"},
        {"id": "3", "session": "friday", "text": "The bakery on the corner has rye bread."},
    ],
    "questions": [
        {
            "question": "Which city did my sister Lena move to?",
            "category": "family",
            "evidence": ["1"],
        },
        {"question": "Who sells rye bread?", "category": "food", "evidence": ["3"]},
        {"question": "What was never said?", "category": "odd", "evidence": ["2"]},
        {"question": "Why?", "evidence": []},
    ],
}
HAYSTACK = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "Which city did my sister Lena move to?",
    "answer": "Porto",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s1", "s2"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
    "haystack_sessions": [
        [{"role": "user", "content": "My sister Lena moved to Porto.", "has_answer": True}],
        [{"role": "user", "content": "How do I boil an egg?"}],
    ],
    "answer_session_ids": ["s1"],
}


@pytest.fixture(autouse=True)
def talks(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CTXMW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CTXMW_STORE", str(tmp_path / "memory.db"))
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps(TALK) + "\n", "utf-8")
    return path


@pytest.fixture
def evaluated(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["eval", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def figures_of(out: str) -> dict[str, Any]:
    return json.loads(out)


def test_recall_tokens_and_waste_are_printed_by_category_too(evaluated):
    code, out, err = evaluated("talks.jsonl", "--skip", "odd")
    assert (code, err) == (0, "")
    assert "recall of what a message brings         100.0 %" in out
    assert "p10 / p50 / p90" in out
    assert "waste" in out
    assert "sessions R@5" in out
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["family", "food"]


def test_as_json(evaluated):
    _, out, _ = evaluated("talks.jsonl", "--skip", "odd", "--json")
    told = figures_of(out)
    assert (told["questions"], told["recall"], told["missed"]) == (2, 100.0, [])
    assert 0 < told["waste"] < 100
    assert told["within"]["1000"] == 100.0
    assert told["sessions"]["5"] == {"any": 100.0, "all": 100.0}
    assert told["by_category"]["food"]["questions"] == 1


def test_what_is_missed_ends_with_1(evaluated):
    code, out, err = evaluated("talks.jsonl", "--min-recall", "70", "--max-tokens", "5", "--json")
    assert code == 1
    assert "recall is 66.7 %, and is to be 70 % at least." in err
    assert "tokens on average, and may bring 5." in err
    assert len(figures_of(out)["missed"]) == 2


def test_what_is_kept_ends_with_0(evaluated):
    assert evaluated("talks.jsonl", "--min-recall", "66", "--max-tokens", "500")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("talks.jsonl", "--min-recall", "120"),
        ("talks.jsonl", "--min-recall", "much"),
        ("talks.jsonl", "--max-tokens", "0"),
        ("talks.jsonl", "--format", "csv"),
    ],
)
def test_wrong_use_ends_with_2(arguments):
    with pytest.raises(SystemExit) as ended:
        main(["eval", *arguments])
    assert ended.value.code == 2


@pytest.mark.parametrize("arguments", [("none.jsonl",), ("talks.jsonl", "--format", "longmemeval")])
def test_a_file_that_cannot_be_read_ends_with_2(evaluated, arguments):
    code, out, err = evaluated(*arguments)
    assert (code, out) == (2, "")
    assert arguments[0] in err


def test_nothing_to_measure_ends_with_3(evaluated, talks):
    talks.write_text(json.dumps(TALK | {"questions": []}) + "\n", "utf-8")
    code, _, err = evaluated("talks.jsonl")
    assert code == 3
    assert "no question with evidence" in err


def test_longmemeval_is_read_as_it_is(evaluated, tmp_path):
    absent = HAYSTACK | {"question_id": "q2_abs"}
    (tmp_path / "long.json").write_text(json.dumps([HAYSTACK, absent]), "utf-8")
    code, out, _ = evaluated("long.json", "--format", "longmemeval", "--json")
    told = figures_of(out)
    assert (code, told["questions"], told["recall"]) == (0, 1, 100.0)
    assert told["sessions"] == {rank: {"any": 100.0, "all": 100.0} for rank in ("5", "10")}
    assert list(told["by_category"]) == ["single-session-user"]


def test_the_users_memory_is_left_alone(evaluated, tmp_path):
    before = set(tmp_path.rglob("*.db*"))
    assert evaluated("talks.jsonl")[0] == 0
    assert set(tmp_path.rglob("*.db*")) == before


def test_settings_hold_and_arguments_win(evaluated, tmp_path):
    (tmp_path / "ctxmw.toml").write_text("max_tokens = 0\n", "utf-8")
    assert figures_of(evaluated("talks.jsonl", "--json")[1])["tokens"] == 0
    (tmp_path / "ctxmw.toml").write_text('appetite = "lean"\n', "utf-8")
    lean = figures_of(evaluated("talks.jsonl", "--json")[1])["tokens"]
    assert lean <= figures_of(evaluated("talks.jsonl", "--appetite", "full", "--json")[1])["tokens"]


def test_only_the_first_conversations(evaluated, talks):
    talks.write_text(2 * (json.dumps(TALK) + "\n") + "{broken", "utf-8")
    assert figures_of(evaluated("talks.jsonl", "--most", "1", "--json")[1])["questions"] == 3
    assert evaluated("talks.jsonl")[0] == 2

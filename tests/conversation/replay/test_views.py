"""Cleared tool output: its ends, what is missing, and how to get it back."""

from __future__ import annotations

from ctxmw.conversation.replay.cleared import cleared

LINES = [f"line {at}" for at in range(30)]
OUTPUT = {"role": "tool", "tool_call_id": "a", "content": "\n".join(LINES)}


def test_the_first_and_last_lines_stay_and_the_id_brings_the_rest():
    left = cleared(OUTPUT, "t234567")
    assert left["content"].splitlines() == [
        "line 0",
        "line 1",
        '[26 lines left out. All of it: mem_get with ids ["t234567"].]',
        "line 28",
        "line 29",
    ]
    assert left["tool_call_id"] == "a"
    assert OUTPUT["content"].count("\n") == 29


def test_clearing_twice_changes_nothing_more():
    once = cleared(OUTPUT, "t234567")
    assert cleared(once, "t234567") is once


def test_one_endless_line_is_cut_too():
    left = cleared({**OUTPUT, "content": "x" * 100_000}, "t234567")
    assert len(left["content"]) < 500


def test_an_output_that_was_not_read_yet_keeps_more():
    assert "line 15" not in cleared(OUTPUT, "t2")["content"]
    assert "line 15" in cleared(OUTPUT, "t2", unread=1_000)["content"]


def test_content_in_parts_stays_in_parts():
    left = cleared({**OUTPUT, "content": [{"type": "text", "text": "\n".join(LINES)}]}, "t2")
    assert [part["type"] for part in left["content"]] == ["text"]


def test_an_answer_of_our_own_tools_can_be_asked_for_again():
    assert "Ask again" in cleared(OUTPUT, "")["content"]

"""How much of a prompt is as it was in the last one."""

from __future__ import annotations

import pytest

from ctxmw.conversation.blocks import prints_of, sent_pieces, shared_prefix

BEFORE = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Where is the tea"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "look", "args": {}}]},
]


def share(prompt):
    return shared_prefix(prints_of(sent_pieces((), BEFORE)), sent_pieces((), prompt))


def test_a_conversation_that_was_not_seen_has_no_share():
    assert shared_prefix(None, sent_pieces((), BEFORE)) is None


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (BEFORE, 1),
        (BEFORE[:2], 1),
        ([*BEFORE, {"role": "user", "content": "x" * 25}], 0.5),
        ([BEFORE[0], {"role": "user", "content": "y" * 9}, *BEFORE[2:]], 0.5),
        ([{"role": "system", "content": "x"}, *BEFORE[1:]], 0),
        (
            [*BEFORE[:2], {**BEFORE[2], "tool_calls": []}, {"role": "user", "content": "x" * 25}],
            0.5,
        ),
        ([], 0),
    ],
)
def test_the_leading_messages_that_did_not_change_count_by_their_characters(prompt, expected):
    assert share(prompt) == expected


def test_tools_are_read_before_all_messages():
    before = prints_of(sent_pieces(["a" * 25], BEFORE))
    assert shared_prefix(before, sent_pieces(["a" * 25], BEFORE)) == 1
    assert shared_prefix(before, sent_pieces(["a" * 25, "b" * 25], BEFORE)) == round(25 / 75, 4)

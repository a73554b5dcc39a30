"""The walks through the code are traced: what CONTRIBUTING says of them can be made anew."""

from __future__ import annotations

import pytest

from benchmarks.walks import ADAPTERS, walk

SECOND_TURN = "a prepare, second turn"
MOST_FILES = 72
"""Of the call that is made most: who follows it must not get lost."""


@pytest.fixture(scope="module")
def second_turn():
    return walk(SECOND_TURN)


def test_a_walk_names_files_in_order_of_their_first_entry(second_turn):
    files = [entered.file for entered in second_turn.files]
    assert (files[0], second_turn.files[0].first) == ("session.py", "prepare")
    assert files.index("search/search.py") < files.index("recall/render.py")
    assert len(set(files)) == len(files)
    assert {"calls", "recall", "search", "store", "top"} <= set(second_turn.rooms)


def test_the_call_that_is_made_most_runs_through_few_files(second_turn):
    assert len(second_turn.files) <= MOST_FILES


def test_every_switch_is_to_a_new_file_or_back(second_turn):
    assert second_turn.switches == second_turn.back + len(second_turn.files) - 1
    assert sum(entered.entries for entered in second_turn.files) == second_turn.switches + 1


def test_a_walk_is_the_same_every_time(second_turn):
    assert walk(SECOND_TURN) == second_turn


def test_a_walk_through_an_agent_goes_through_its_adapter():
    rooms = walk("e LangChain agent, one call").rooms
    assert [room for room in rooms if room in ADAPTERS] == ["ctxmw_langchain"]

"""What a request calls for, of what an application offers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.search.offered import ADMITTED, Described, OfferedIndex, floor_for, name_words

NOISE = "Yesterday we walked along the river and talked about her new flat. "
TOOLS = [
    Described(name="github:create_issue", text="Create a new issue in a repository."),
    Described(name="mail:search_emails", text="Search for emails.", details="query sender"),
    Described(name="maps:directions", text="Get directions between two points."),
    Described(name="db:execute_query", text="Run a read-only SQL query."),
]


def called(request: str, tools=TOOLS, most=5, **options) -> list[str]:
    found = OfferedIndex(tools).called_for(request, most, **options)
    return [tools[one.place].name for one in found if one.match >= ADMITTED or one.beside]


def test_the_rest_of_a_long_request_does_not_count_against_a_tool():
    short = "Create an issue in the repository."
    assert called(short)[0] == called(8 * NOISE + short + NOISE)[0] == "github:create_issue"


def test_each_sentence_of_a_request_brings_its_tool():
    found = called(
        "Search my emails for the contract. Then run an SQL query on the orders.", most=2
    )
    assert set(found) == {"mail:search_emails", "db:execute_query"}


def test_everyday_words_stand_for_those_of_the_trade():
    assert called("Is there a mail from the landlord?")[0] == "mail:search_emails"


def test_words_that_are_said_of_everything_call_for_no_tool_of_a_few():
    tools = [*TOOLS, Described(name="files:move_file", text="Move or rename files.")]
    assert called("What do you need from me to move forward?", tools) == []
    assert called("Run me through it once more, and get to the point.", tools) == []
    assert called("Move the file to the archive.", tools) == ["files:move_file"]


def test_in_a_long_message_one_word_calls_for_a_tool_only_where_something_is_asked_for():
    tools = [*TOOLS, Described(name="db:list_connections", text="Show active connections.")]
    talk = "The first week went well. I slept enough and ate my greens. "
    statement, request = "I stayed active.", "Which are active?"
    assert called(statement, tools) == called(request, tools) == ["db:list_connections"]
    assert called(talk + statement, tools) == []
    assert called(talk + request, tools) == ["db:list_connections"]
    assert called(talk + "The active connections are too many.", tools) == ["db:list_connections"]


def test_what_a_tool_takes_tells_of_it_too():
    assert called("Who is the sender?") == called("Which sender?") == []
    index = OfferedIndex(TOOLS)
    assert TOOLS[index.called_for("Who is the sender?", 1)[0].place].name == "mail:search_emails"


def test_of_many_tools_one_has_to_match_better():
    floors = [floor_for(size) for size in (1, 64, 500, 4096, 100_000)]
    assert floors == sorted(floors)
    assert floors[0] == floors[1] < floors[2] < floors[3] == floors[4]


def test_nearness_in_meaning_brings_what_no_word_tells():
    def near(sentences):
        return np.array([[0.0, 0.0, 0.9, 0.0] for _ in sentences], np.float32)

    assert called("Quo vadis, amice?") == []
    assert called("Quo vadis, amice?", near=near) == ["maps:directions"]


def test_names_are_read_as_programs_write_them():
    for name in ("searchCode", "search_code", "search-code", "SearchCode", "search.code"):
        assert name_words(name) == ["search", "code"]
    assert name_words("getHTTPServer2") == ["get", "http", "server2"]


@given(st.text(max_size=300), st.lists(st.text(max_size=40), max_size=6))
def test_anything_can_be_said_and_offered(request, texts):
    offers = [Described(name=text or "x", text=text) for text in texts]
    found = OfferedIndex(offers).called_for(request, 3)
    assert len(found) <= 3
    assert all(0 <= one.match <= 1 and 0 <= one.place < len(offers) for one in found)

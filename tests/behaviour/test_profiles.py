"""How random cases are looked for: the same each time, and new ones where that is asked for."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings

from tests.support.long_files import LONGEST
from tests.support.skips import in_one_line


def test_a_case_that_chance_finds_is_kept_and_printed():
    explore = settings.get_profile("explore")
    assert not explore.derandomize
    assert explore.database is not None
    assert explore.print_blob


def test_cases_are_the_same_each_time_unless_new_ones_are_asked_for():
    assert settings.get_profile("repeatable").derandomize


def test_what_was_skipped_is_told_in_one_line_with_its_reasons():
    assert in_one_line([]) == ""
    told = in_one_line(["Skipped: no browser", "Skipped: no git", "Skipped: no browser"])
    assert told == "Skipped: 2 (no browser), 1 (no git)"


def test_the_files_that_go_first_are_there():
    tests = Path(__file__).parents[1]
    assert [name for name in LONGEST if not (tests / name).is_file()] == []

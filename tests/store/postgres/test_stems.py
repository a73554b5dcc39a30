"""Words that were stored are found by every later version."""

from __future__ import annotations

import pytest

from ctxmw.store.postgres.stems import stored_stem


@pytest.mark.parametrize(
    ("word", "stored"),
    [
        ("generated", "generat"),
        ("generation", "gener"),
        ("deployment", "deployment"),
        ("hobbies", "hobbi"),
        ("running", "run"),
        ("K\u00e4se", "Kas"),
        ("id", "id"),
        ("\u65e5\u672c\u8a9e\u306e", "\u65e5\u672c\u8a9e\u306e"),
    ],
)
def test_a_stem_that_is_stored_never_changes(word: str, stored: str) -> None:
    assert stored_stem(word) == stored

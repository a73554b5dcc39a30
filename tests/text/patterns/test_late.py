"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import re

import pytest

from ctxmw.text.patterns.late import late_pattern


def test_a_late_pattern_does_what_a_compiled_one_does():
    late, compiled = late_pattern("(?P<word>[a-z]+)", re.IGNORECASE), re.compile("[a-z]+", re.I)
    text = "One, two 3"
    assert late.findall(text) == compiled.findall(text)
    assert late.sub("x", text) == compiled.sub("x", text)
    assert late.split(text) != [text]
    assert [one.span() for one in late.finditer(text)] == [(0, 3), (5, 8)]
    assert late.fullmatch("Three")
    assert late.groupindex == {"word": 1}
    assert late.pattern == "(?P<word>[a-z]+)"


def test_nothing_is_compiled_before_it_is_used():
    broken = late_pattern("(")
    assert repr(broken) == "late_pattern('(', 0)"
    with pytest.raises(re.error):
        broken.search("")


def test_a_late_pattern_can_be_copied():
    assert copy.deepcopy(late_pattern("a")).search("cat")

"""Every regular expression of the package takes time in proportion to the text, whatever it is."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator

import pytest

import ctxmw

SIZE = 2_500
PIECES = (
    *"aA1_ \n\t.-/\\'\"`<>()[{#é漢“«",
    *("aA", "a_", "a.", "a ", "a-", "a/", "a:", "a,", "a'", "a(", "a\n", "A1", "1,", "ha", "**a"),
    *(" \n", "\n ", "://", "`a", '"a', "<a", "=a ", ": ", "-/", "## ", "import "),
    *("f(", "def f(", "x.y(", "- *", "globs: *", "//", "/*", " * ", "Word. ", "漢字"),
)
TEXTS = (
    *(("", piece, end) for piece in PIECES for end in ("", "!")),
    # A sign that opens something, and then nothing but blanks.
    *(
        (start, " ", "x!")
        for start in ("##", "- ", "**", "[1]", "at", "import ", "---\n", "`", '"')
    ),
)
NEED_A_PACKAGE = ("ctxmw.ui", "ctxmw.magics", "ctxmw.postgres", "ctxmw.pgvector")
FAST = 0.006
"""Seconds below which a clock tells nothing."""


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(ctxmw.__path__, "ctxmw."):
        if not module.name.startswith(NEED_A_PACKAGE) and not module.name.endswith("__main__"):
            yield module.name


def within(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from within(one)
    elif isinstance(value, dict):
        yield from within(list(value.values()))


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every pattern that a module of the package holds, by the name it has there."""
    found: dict[re.Pattern[str], str] = {}
    for name in modules():
        for attribute, value in vars(importlib.import_module(name)).items():
            for number, pattern in enumerate(within(value)):
                found.setdefault(pattern, f"{name}.{attribute}.{number}")
    return {name: pattern for pattern, name in found.items()}


PATTERNS = patterns()


@pytest.mark.parametrize("name", PATTERNS)
def test_twice_the_text_takes_about_twice_the_time(name):
    for text in TEXTS:
        assert growth(PATTERNS[name], *text) < 3, text


def test_the_measure_tells_a_pattern_that_is_not_linear():
    assert growth(re.compile(r"\s*x"), "", "\n", "!") > 3


def growth(pattern: re.Pattern[str], start: str, piece: str, end: str) -> float:
    """Return how much longer twice the text takes; the least of some tries is free of noise."""
    once, twice = (start + piece * (size // len(piece)) + end for size in (SIZE, 2 * SIZE))
    if spent(pattern, twice) < FAST:
        return 0.0
    # In turns, so that a busy moment does not fall on one of the two alone.
    pairs = [(spent(pattern, once), spent(pattern, twice)) for _ in range(9)]
    first, second = map(min, zip(*pairs, strict=True))
    return second / max(first, FAST / 4)


def spent(pattern: re.Pattern[str], text: str) -> float:
    started = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - started

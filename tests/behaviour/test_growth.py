"""Every regular expression of the package takes time in proportion to the text, whatever it is."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import ctxmw
from ctxmw.text.patterns.late import LatePattern
from tests.support.growth import BOUND, TIMES, growth

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
NEED_A_PACKAGE = (
    "ctxmw.ui",
    "ctxmw.notebook.magics",
    "ctxmw.store.postgres.store",
    "ctxmw.search.vectors.pgvector",
)


def modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(ctxmw.__path__, "ctxmw."):
        if not module.name.startswith(NEED_A_PACKAGE) and not module.name.endswith("__main__"):
            yield module.name


def within(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, LatePattern):
        yield value.compiled
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
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
def test_the_time_grows_with_the_text_and_not_with_its_square(name):
    for text in TEXTS:
        assert growth_of(PATTERNS[name], *text) < BOUND, text


def test_the_measure_tells_a_pattern_that_is_not_linear():
    assert growth_of(re.compile(r"\s*x"), "", "\n", "!") > BOUND


def growth_of(pattern: re.Pattern[str], start: str, piece: str, end: str) -> float:
    once, more = (start + piece * (size // len(piece)) + end for size in (SIZE, TIMES * SIZE))
    return growth(lambda text: [None for _ in pattern.finditer(text)], once, more)

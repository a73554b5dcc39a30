"""Stems of the words that are stored for Postgres' full-text search.

Rows are found by the stems with which they were written, so these must never change, whatever the
search in memory does: it reads the texts themselves.
"""

from __future__ import annotations

import re

from ...text.terms import without_accents

_ENDINGS = tuple(
    "ization ational fulness ousness iveness tional ation ement ments alism ness ment ance ence "
    "able ible ical ful ism ate ous ive ize ise ion ity al er or ic ly".split()
)
_SYLLABLE = re.compile(r"[aeiouy][^aeiouy]")
_SHORTEST = 4


def stored_stem(word: str) -> str:
    """Return a light English stem: no plural, no -ed or -ing, and one ending less."""
    word = without_accents(word)
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _without_past(_without_plural(word))
    if len(word) >= _SHORTEST and word.endswith("y"):
        word = word[:-1] + "i"
    for ending in _ENDINGS if word.endswith(_ENDINGS) else ():
        if word.endswith(ending) and _syllables(word[: -len(ending)]) > 1:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) >= _SHORTEST and word.endswith("e") else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_past(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORTEST - 1 and _syllables(rest):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def _syllables(word: str) -> int:
    return len(_SYLLABLE.findall(word))

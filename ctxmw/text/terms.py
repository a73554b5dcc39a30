"""Words as search compares them: without those that say nothing, and cut down to a stem."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from unicodedata import combining, normalize

from .cleaning import words
from .lexicon import STOP_WORDS

_ENDINGS = tuple(
    "ification abiliti ibiliti ational fulness iveness ization isation ousness tional ation alism "
    "alist ement ifier able ance ator ence abil ibil ible ical iser izer ment ness ant ate ent ful "
    "ion ise ism ist iti ive ize ous al er ic li or".split()
)
"""The longest first."""
_MOST_ENDINGS = 3
"""Endings that a word may have: function, al, ity."""
_SYLLABLE = re.compile(r"(?:[aeiou]|(?<![aeiou])y)(?:[^aeiouy]|(?<=[aeiou])y)")
_SHORTEST = 4
QUERY_CHARS = 4096
"""A query is read up to here."""
REPEATED = 0.5
"""The share of its words that something has from a text which it puts in other words."""


def content_terms(text: str) -> list[str]:
    """Return the stems of the words of a text that say something, in order."""
    return stems(words(text))


def stems(said: Iterable[str]) -> list[str]:
    """Return the stems of those of the words that say something, in order."""
    return [stem(word) for word in said if word not in STOP_WORDS]


def repeats(said: str, text: str) -> bool:
    """Say whether words may be taken from a text: it has a good part of them."""
    return are_taken(set(content_terms(said)), content_terms(text))


def are_taken(own: Collection[str], terms: Iterable[str]) -> bool:
    """Say the same of the stems of words, and of a text's."""
    shared = len(set(own).intersection(terms))
    return shared >= max(min(2, len(own)), REPEATED * len(own)) if own else False


def without_accents(word: str) -> str:
    """Return a word of Latin letters without their accents: Käse is found by kase."""
    if word.isascii():
        return word
    letters = normalize("NFKD", word)
    plain = "".join(letter for letter in letters if not combining(letter))
    return plain if plain.isascii() else word


class _Stems(dict[str, str]):
    """Words and their stems, as they were asked for."""

    MOST = 65_536

    def __missing__(self, word: str) -> str:
        found = _stem(word)
        # Of numbers there is no end, and there is nothing to remember about them.
        if word.isalpha():
            if len(self) >= self.MOST:
                self.clear()
            self[word] = found
        return found


stem: Callable[[str], str] = _Stems().__getitem__
"""Return an English stem, the same for all forms of a word: generate, generated, generator.

Short words, and words of other scripts, stay as they are; accents do not count.
"""


def _stem(word: str) -> str:
    word = without_accents(word)
    if len(word) < _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _without_endings(_with_i(_without_past(_without_plural(word))))
    # "allergy" is "allergic", "create" is "creating".
    if word.endswith("i") and _syllables(word[:-1]) > 1:
        return word[:-1]
    return word[:-1] if len(word) >= _SHORTEST and word.endswith("e") else word


def _without_endings(word: str) -> str:
    for _ in range(_MOST_ENDINGS):
        if not word.endswith(_ENDINGS):
            break
        endings = (one for one in _ENDINGS if word.endswith(one))
        rest = next((cut for one in endings if _syllables(cut := word[: -len(one)]) > 1), None)
        if rest is None:
            break
        word = rest
    return word


def _with_i(word: str) -> str:
    ends = len(word) >= _SHORTEST and word.endswith("y") and word[-2] not in "aeiou"
    return word[:-1] + "i" if ends else word


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
            if rest.endswith(("at", "bl", "is", "iz")):
                return rest + "e"
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def _syllables(word: str) -> int:
    return len(_SYLLABLE.findall(word))

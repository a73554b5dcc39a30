"""Takes secrets out of a text before the first byte of it is written.

What is stored is shown to models later, so a key pasted once would come back for ever. Two kinds
of rules name what is secret: well-known forms of keys (`kinds`), and places where secrets stand,
names that something is assigned to among them (`places`). Nothing is guessed from randomness
alone, so hashes, ids and encoded images stay as they are. Every pattern is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from ..cleaning import digest, storable
from .kinds import MARKED, Secret, prefixed_pattern
from .places import DIGIT, PLACES, assigned_values, vendor_values

Finder = Callable[[str], Iterator[Secret]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text that may be stored."""

    text: str
    """Every secret in it is replaced by "[REDACTED:type]"."""
    found: tuple[str, ...] = ()
    """The type of each secret that was replaced."""


def redact(text: str) -> Redacted:
    """Replace secrets, and whatever stands between <private> and </private>.

    An unclosed <private> reaches to the end. A character that nobody sees hides nothing: a text is
    read with and without it. Redacting twice changes nothing more. What comes out can be stored:
    halves of surrogate pairs are replaced.
    """
    found: list[str] = []
    text = storable(text)
    if len(text) < _SHORTEST_OF_ALL:
        return Redacted(text=text)
    places = _places_of_seen(text)
    for find in _FINDERS:
        secrets = list(find(text))
        if places:
            secrets = _apart([*secrets, *_hidden(find, text, places)])
        if secrets:
            text = _without(text, secrets)
            found += (secret.kind for secret in secrets)
            places = places and _places_of_seen(text)
    return Redacted(text=text, found=tuple(found))


def redact_name(name: str) -> str:
    """Return what something is called (a session, a key, a user) without a secret in it.

    A hash takes the place of a name that holds one, so another name stays another, and the same
    name finds the same thing again. Doing it twice changes nothing more.
    """
    redacted = redact(name)
    return (
        f"[REDACTED:{redacted.found[0]}] {digest(name)[:32]}" if redacted.found else redacted.text
    )


def redact_values(value: Any, name: str = "") -> Any:
    """Return what JSON can hold without the secrets in its texts; names tell some of them."""
    if isinstance(value, str):
        told = f'{name}="{value}"' if name and '"' not in value else ""
        secret = next(assigned_values(told), None) if told else None
        return f"[REDACTED:{secret.kind}]" if secret else redact(value).text
    if isinstance(value, list | tuple):
        return [redact_values(one, name) for one in value]
    if isinstance(value, Mapping):
        return {redact(str(key)).text: redact_values(one, str(key)) for key, one in value.items()}
    return value


_SHORTEST_OF_ALL = 8
"""The least that any rule needs: "://:abc@". Names and ids are often shorter, or empty."""

# Latin letters and the signs between them: most texts have nothing else.
_SEEN = re.compile("[\t\n -~\xa1-\xac\xae-\u017f\u2010-\u2015\u2018-\u2026\u20ac]*+")


def _places_of_seen(text: str) -> list[int]:
    """Return where what somebody sees stands; nothing, when no secret can be hidden in the text.

    What nobody sees hides one only where it parts ASCII: not after an emoji.
    """
    if _SEEN.fullmatch(text):
        return []
    unseen = {char for char in set(text) if _is_unseen(char)}
    if not unseen:
        return []
    run = "".join(map(re.escape, sorted(unseen)))
    if not re.search(f"[\t\n -~][{run}]++[\t\n -~]", text):
        return []
    return [place for place, char in enumerate(text) if char not in unseen]


def _is_unseen(char: str) -> bool:
    if char in "\n\t":
        return False
    return category(char)[0] == "C" or char in _VARIATION_SELECTORS


_VARIATION_SELECTORS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}


def _hidden(find: Finder, text: str, places: list[int]) -> Iterator[Secret]:
    """Find what is secret in what somebody sees, and tell where in the text that stands."""
    for start, end, kind in find("".join([text[place] for place in places])):
        yield Secret(places[start], places[end - 1] + 1, kind)


def _apart(secrets: list[Secret]) -> list[Secret]:
    """Return them in order, those that overlap as one."""
    apart: list[Secret] = []
    for secret in sorted(secrets):
        if apart and secret.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, secret.end))
        else:
            apart.append(secret)
    return apart


def _without(text: str, secrets: list[Secret]) -> str:
    pieces, kept_from = [], 0
    for secret in secrets:
        pieces += [text[kept_from : secret.start], f"[REDACTED:{secret.kind}]"]
        kept_from = secret.end
    return "".join([*pieces, text[kept_from:]])


_PRIVATE = re.compile(r"<\s{0,3}(/?)\s{0,3}private\s{0,3}>", re.IGNORECASE)


def _private_regions(text: str) -> Iterator[Secret]:
    if "<" not in text:
        return
    depth = start = 0
    for tag in _PRIVATE.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield Secret(start, tag.end(), "private")
    if depth:
        yield Secret(start, len(text), "private")


# A key runs to the next five dashes, be they its own end or not, or to what was redacted before.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-\[]|-(?!----)|\[(?!REDACTED:))*+"
    r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32}")


def _private_keys(text: str) -> Iterator[Secret]:
    if "-----BEGIN " not in text:
        return
    for key in _PEM.finditer(text):
        if (key[1] and '"' not in key[0]) or _BASE64.search(key[0]):
            yield Secret(*key.span(), "private_key")


_SHORTEST = 15
"""No key is shorter. Few words are as long, so keys are looked for in those words first."""
_HASH = re.compile("[0-9a-f]{64}")
"""Nor is one all that stands in such a word: no key of this length is made of these letters."""
_PREFIXED, _KINDS = prefixed_pattern()
_MIXED_CASE = re.compile(r"[a-z][^a-z]*[A-Z]|[A-Z][^A-Z]*[a-z]")
_ESCAPE = re.compile(r"\\[nrt]")


def _keys(text: str) -> Iterator[Secret]:
    if "\\" in text:  # "\n" in JSON parts words as a line break does
        text = _ESCAPE.sub("  ", text)
    words = text.replace('"', " ").split()  # no key has a quote in it
    long = [word for word in words if len(word) >= _SHORTEST]
    long_words = " ".join([word for word in long if len(word) != 64 or not _HASH.fullmatch(word)])
    if long_words and (_prefixed(long_words) or _marked(long_words)):
        yield from _apart([*_prefixed(text), *_marked(text)])


def _prefixed(text: str) -> list[Secret]:
    return [
        Secret(*key.span(), _KINDS[(key.lastindex or 1) - 1])
        for key in _PREFIXED.finditer(text)
        if _is_random(key[key.lastindex or 0])
    ]


def _is_random(body: str) -> bool:
    """Tell a key from "sk-fading-circle-container", which is a class of a style sheet."""
    return bool(DIGIT.search(body) or ("-" not in body and _MIXED_CASE.search(body)))


def _marked(text: str) -> list[Secret]:
    return [
        Secret(*key.span(), kind)
        for kind, mark, pattern in MARKED
        if mark in text
        for key in pattern.finditer(text)
        if DIGIT.search(key[0])
    ]


_FINDERS: tuple[Finder, ...] = (
    _private_regions,
    _private_keys,
    _keys,
    *PLACES,
    vendor_values,
    assigned_values,
)

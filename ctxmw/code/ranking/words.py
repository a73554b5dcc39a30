"""Source text as words: identifiers in their parts, whole, and cut down to stems.

`MultiPartParser` is found by "multi", "part" and "parser", and by "multipartparser"; a question may
say "multi part parser". Of a piece of code only which words it holds is kept, and how often.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from ...text.lexicon import STOP_WORDS
from ...text.patterns.late import late_pattern
from ...text.terms import stem

OFTEN = 9
"""How often a word counts in one definition at most."""
NAMED = 2
"""How often a word of its own name counts more than one of its body."""
LONGEST = 40
"""Letters of a word that is kept: longer ones are data."""
_NAME = late_pattern(r"[^\W\d]\w*+")
_PART = late_pattern(r"[A-Z]++(?![a-z])|[A-Z]?[a-z]++|\d++|[^\W\d_A-Za-z]++")
_OF_ANY_CODE = frozenset(
    """
    args await bool break case catch class cls const continue def dict elif else except export
    extends false finally float fn for from func function if impl import in int interface is kwargs
    lambda let list mut nil none not null or package pass private protected pub public raise return
    self static str struct super switch this throw true try tuple type use var void while with yield
    """.split()
)
"""Words of the languages themselves: in the code they tell nothing."""
_SAYS_NOTHING = frozenset(map(stem, STOP_WORDS))


def bag_of(code: str, name: str = "") -> str:
    """Return the words of a piece of code as they are stored: how often each, then the words.

    "121 app stack user" has `stack` twice. Words of its name count more.
    """
    # Counted by the interpreter itself: nothing here is done as often while a folder is indexed.
    counts = Counter(chain.from_iterable(map(_told_by, _NAME.findall(code))))
    for identifier in _NAME.findall(name):
        for term in _terms(identifier):
            counts[term] += NAMED
    if not counts:
        return ""
    digits = "".join([str(min(OFTEN, n)) for n in counts.values()])
    return f"{digits} {' '.join(counts)}"


def bag_words(bag: str) -> tuple[list[str], str]:
    """Return the words of a bag, and for each a digit that tells how often it is there."""
    often, _, rest = bag.partition(" ")
    if often.isdigit():
        return rest.split(" "), often
    found = bag.split()  # an earlier version kept the words alone
    return found, "1" * len(found)


def path_terms(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a file's own name, and of the folders it is in."""
    *folders, name = path.split("/")
    own = name.partition(".")[0]
    if folders and _STANDS_FOR_ITS_FOLDER.fullmatch(name):
        own = folders.pop()
    named = frozenset(_spelled(own))
    return named, frozenset(_spelled(" ".join(folders))) - named


def name_parts(text: str) -> list[str]:
    """Return the parts of names, in small letters: "MultiPart_parser" has three."""
    return [part.lower() for part in _PART.findall(text) if part.isalpha()]


_STANDS_FOR_ITS_FOLDER = late_pattern(r"__init__\.py|index\.[cm]?[jt]sx?|mod\.rs")


def asked_terms(text: str) -> dict[str, float]:
    """Return the words of a message, each with how much it counts: most in its first line."""
    return dict(_asked(text))


@lru_cache(maxsize=8)
def _asked(text: str) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for line, weight in _lines(_subject(text)):
        for term in _spelled(line):
            found[term] = max(found.get(term, 0.0), weight)
    return dict(list(found.items())[:_MOST_ASKED])


def terms_in(line: str) -> set[str]:
    """Return the words of a line of code."""
    return {term for name in _NAME.findall(line) for term in _terms(name)}


def joined_terms(text: str) -> dict[str, float]:
    """Return words of a message that stand together, as one: "web socket" may be WebSocket."""
    found: dict[str, float] = {}
    for line, weight in _lines(_subject(text)):
        for one, two in pairwise(_NAME.findall(line)):
            if not {one.lower(), two.lower()} & STOP_WORDS:
                joined = f"{one}{two}".replace("_", "").lower()
                found[joined] = max(found.get(joined, 0.0), weight * _JOINED)
    return dict(list(found.items())[:_MOST_ASKED])


_FURTHER, _JOINED = 0.5, 0.5
"""What lines after the first count, and two words taken as one."""
_MOST_ASKED = 80
_ASKS_FOR_CHANGE = late_pattern(
    r"""\s{0,20}(?:(?:also|can|could|i|let's|need|please|should|to|want|we|would|you)\s{1,3}){0,6}
    (?:add(?:ed|ing|s)?|chang(?:e[ds]?|ing)|fix(?:e[ds]|ing)?|improv(?:e[ds]?|ing)|ma(?:de|kes?)
      |refactor(?:ed|s)?|remov(?:e[ds]?|ing)|updat(?:e[ds]?|ing))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""That something is to be fixed or added tells nothing of where."""
_COMMIT = late_pattern(r"\b(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b")
_TICKETS = late_pattern(
    r"""\b(?:close[sd]?|fix(?:e[sd])?|refs?|resolve[sd]?|see)[ ]{0,2}:?[ ]{0,2}\#\d
      | \b(?:closes|fixes|refs?|resolves)\b[ ,.;:)]{0,4}$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""Where a message names the ticket it belongs to: "closes #12", "refs"."""


def _subject(text: str) -> str:
    """Return a message without what only says that it is a request, or where it belongs."""
    return _COMMIT.sub(" ", _TICKETS.sub(" ", text[_begin(text) :]))


def _begin(text: str) -> int:
    begins = _ASKS_FOR_CHANGE.match(text)
    return begins.end() if begins else 0


def _lines(text: str) -> Iterator[tuple[str, float]]:
    lines = filter(None, map(str.strip, text.split("\n")))
    return ((line, 1.0 if at == 0 else _FURTHER) for at, line in enumerate(lines))


def _spelled(text: str) -> Iterator[str]:
    for name in _NAME.findall(text):
        yield from (term for term in _terms(name) if term not in _SAYS_NOTHING)


@lru_cache(maxsize=16_384)
def _terms(name: str) -> tuple[str, ...]:
    """Return the stems of a name's parts, and the name as one word when it has several."""
    if len(name) > 2 * LONGEST:
        return ()
    parts = [part.lower() for part in _PART.findall(name) if len(part) <= LONGEST]
    found = [stem(part) for part in parts if len(part) > 1 and not part.isdigit()]
    if len(parts) > 1:
        found.append("".join(parts))
    return tuple(found)


@lru_cache(maxsize=131_072)
def _told_by(name: str) -> tuple[str, ...]:
    """Return the words of a name in code; none of what every program says."""
    return () if name in _OF_ANY_CODE else _terms(name)


def own_lines(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return for each definition the lines of it that stand in no definition inside it.

    The spans are first and last lines, in order; the first spans the whole file. What stands right
    above a definition, its comment and what it is decorated with, belongs to it.
    """
    inner = [0] * len(lines)
    for at, (begin, last) in enumerate(spans):
        end, first = min(last, len(lines)), min(begin, len(lines) + 1)
        while at and first > 1 and lines[first - 2].lstrip().startswith(_ABOVE):
            first -= 1
        inner[first - 1 : end] = [at] * max(0, end - first + 1)
    mine: list[list[str]] = [[] for _ in spans]
    for at, line in zip(inner, lines, strict=False):
        mine[at].append(line)
    return ["\n".join(part) for part in mine]


_ABOVE = ("//", "/*", "*", "#", "@")
"""How lines begin that tell of the definition below them."""

"""What a message names: code symbols, files, places in a stack trace, and what it asks about.

Everything here reads text that somebody pasted: each pattern is linear in the text, and no more
than the beginning and the end of a long message is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from ..text.lexicon import FRAME_WORDS, SMALL_TALK, STOP_WORDS
from ..text.patterns.late import late_pattern
from ..text.phrases import ASKS
from .project import LANGUAGES

READ = 16_384
"""Characters of a message that are read, half of them from its end: the request stands before or
after what was pasted."""
LONGEST_NAME = 120
MOST = 12
"""Symbols, files or frames of one message at most."""

Known = Callable[[str, bool], bool]
"""Says whether a plain word is a name of the code at hand, told whether other code is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a stack trace."""

    path: str
    line: int
    name: str = ""


def excerpt(text: str) -> str:
    """Return as much of a message as is read."""
    return text if len(text) <= READ else f"{text[: READ // 2]}\n{text[-READ // 2 :]}"


def symbols_in(text: str, known: Known | None = None) -> list[str]:
    """Return the code symbols a message names, in order, each once.

    A word is a symbol by its shape (AuthService, max_size, sha256, os.path, run(), MAX), by
    standing in backticks, or because the code index knows it as a distinctive name.
    """
    text = _TOKEN.sub(_unless_a_path, _URL.sub(" ", excerpt(text)))
    shouts = _shouts(text)
    quoted = {found[1] for found in _BACKTICKS.finditer(text)}
    named = [word for word in _NAME.finditer(text) if len(word["name"]) <= LONGEST_NAME]
    shaped = {
        word["name"]
        for word in named
        if word["call"] or word["name"] in quoted or _is_symbol(word["name"], shouts=shouts)
    }
    found = dict.fromkeys(
        word["name"].replace("::", ".").replace("#", ".")
        for word in named
        if word["name"] in shaped
        or (known and _may_be_a_name(word) and known(word["name"], bool(shaped)))
    )
    return list(found)[:MOST]


# Whole names at once, so that each is looked at once: a.b.c, a::b, with "()" where it is called.
_NAME = re.compile(
    r"(?<![\w$@/\\.-])(?P<name>[^\W\d][\w$]*+(?:(?:\.|::|\#)[^\W\d][\w$]*+)*+)(?P<call>\(\))?+"
)
_BACKTICKS = re.compile(r"`([^`\s(]{1,120})(?:\([^`\n]{0,200}\))?`")
_URL = re.compile(r"\b[a-z][a-z+.-]{1,15}://[^\s<>\"'`)\]]*+")
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_DOMAINS = frozenset("ai app co com de dev edu eu gov io me net org uk us".split())
_PRODUCTS = frozenset(
    """
    angular.js asp.net backbone.js d3.js discord.js ember.js express.js nest.js next.js node.js
    nuxt.js p5.js react.js require.js socket.io three.js vb.net vue.js
    """.split()
)
_NO_SYMBOLS = _PRODUCTS | frozenset(("e.g", "i.e", "a.m", "p.m", "a.k.a", "u.s", "ph.d"))
_CAPITALS = 3
_SHORTEST_WITH_DIGIT = 3


def _is_symbol(name: str, *, shouts: bool) -> bool:
    if name.isalpha() and name[1:].islower():
        return False
    if "." in name or "::" in name or "#" in name:
        parts = re.split(r"\.|::|#", name)
        plain = name.lower() not in _NO_SYMBOLS and parts[-1].lower() not in _DOMAINS
        return plain and (min(map(len, parts)) > 1 or any("_" in part for part in parts))
    if "_" in name.strip("_") or (name.startswith("_") and name.strip("_")):
        return True
    if name.isupper():
        return len(name) >= _CAPITALS and name.isascii() and not shouts
    if _HUMPS.search(name):
        return True
    return any(map(str.isdigit, name)) and len(name) >= _SHORTEST_WITH_DIGIT


def _may_be_a_name(word: re.Match[str]) -> bool:
    """Say whether a plain word may be a name: a capital that begins a sentence tells nothing."""
    if not word["name"][0].isupper():
        return True
    before = word.string[max(0, word.start() - 8) : word.start()].rstrip(" \t\"'(*_-")
    return bool(before) and before[-1] not in ".!?:\n"


def _shouts(text: str) -> bool:
    """Say whether a message is written in capitals: then they tell nothing."""
    upper, lower = sum(map(str.isupper, text)), sum(map(str.islower, text))
    return upper > lower


def files_mentioned(text: str) -> list[str]:
    """Return the files a message names, in order, each once: "src/a.ts", "a.py:12".

    Punctuation around them is left off, and a backslash becomes a slash.
    """
    found: dict[str, None] = {}
    for token in _TOKEN.findall(_URL.sub(" ", excerpt(text))):
        path = _bare(token)
        if is_path(path):
            found.setdefault(path.replace("\\", "/"))
    return list(found)[:MOST]


_BETWEEN = r"\s\"'`<>()\[\]{}|,;*"
# No word as it stands in a sentence, whose shape alone tells that it names neither a file nor code.
_TOKEN = re.compile(
    rf"(?<![^{_BETWEEN}])(?![A-Z]?[a-z]++(?<!file)[.:!?]?+(?![^{_BETWEEN}]))[^{_BETWEEN}]++"
)
_LINE = re.compile(r"(?:#L|:)(\d{1,7})(?:[:-]L?\d{1,7})?:?\Z")
_SEGMENT = re.compile(r"[\w@.+~$ -]+")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_MANY_SLASHES = 2
_LONGEST_PATH = 400


def _bare(token: str) -> str:
    token = token.strip("!?;,").rstrip(".:")
    line = _LINE.search(token)
    return f"{token[: line.start()]}:{line[1]}" if line else token


def split_line(path: str) -> tuple[str, int | None]:
    """Return the path and the line of "a.py:12"."""
    head, _, line = path.rpartition(":")
    return (head, int(line)) if head and line.isdecimal() and len(line) < 8 else (path, None)


def is_path(token: str) -> bool:
    """Say whether a token looks like the path of a file, and not like "and/or", 3.11 or a.m."""
    path, _ = split_line(token)
    if not path or len(path) > _LONGEST_PATH or "@" in path[1:] or "://" in path:
        return False
    begins = bool(_DRIVE.match(path)) or path.startswith(("./", "../", ".\\", "..\\", "~/", "/"))
    segments = re.split(r"[\\/]", _DRIVE.sub("", path).removeprefix("~"))
    names = [segment for segment in segments if segment not in ("", ".", "..")]
    if not names or not all(map(_SEGMENT.fullmatch, names)):
        return False
    stem, dot, extension = names[-1].rpartition(".")
    if dot and extension.lower() in EXTENSIONS and any(map(str.isalnum, stem + extension)):
        return names[-1].lower() not in _PRODUCTS or len(names) > 1
    if len(names) == 1:
        return names[0] in _NAMES
    return begins or len(names) > _MANY_SLASHES


_NAMES = frozenset(("Dockerfile", "Makefile", "Jenkinsfile", "Gemfile", "Rakefile", "Procfile"))
EXTENSIONS = frozenset(LANGUAGES) | frozenset(
    """
    cfg conf csv env gradle graphql ini json jsonl lock log md mdc proto rst tf toml tsv txt xml
    yaml yml
    """.split()
)


def frames_in(text: str) -> list[Frame]:
    """Return the frames of the stack traces in a message, the one that failed last in Python."""
    found: dict[Frame, None] = {}
    for line in excerpt(text).splitlines():
        for pattern in _FRAMES:
            frame = pattern.match(line[:500])
            if frame is not None:
                place = Frame(
                    path=frame["path"].replace("\\", "/"),
                    line=int(frame["line"]),
                    name=frame.groupdict().get("name") or "",
                )
                found.setdefault(place)
                break
    return list(found)[-MOST:]


_JAVA_FILE = r"(?P<path>[\w$]{1,100}\.\w{1,8}):(?P<line>\d{1,7})"
_SCRIPT = (
    # Where it was loaded from: file://, http://localhost:8080/, webpack:///./ ...
    r"(?:[a-z-]{2,12}://(?:[\w.-]{1,100}(?::\d{1,5})?/)?(?:/\./)?)?"
    r"(?P<path>(?:[A-Za-z]:)?[^()\s:?@]{1,400})(?:\?[^\s:()]{0,100})?:(?P<line>\d{1,7}):\d+"
)
_FRAMES = tuple(
    late_pattern(pattern)
    for pattern in (
        # Python
        r'^\s*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:, in (?P<name>[\w.<>]+))?',
        # Java, Kotlin
        rf"^\s*at (?:[\w$.@-]{{0,100}}/){{0,2}}(?P<name>[\w$.<>]{{1,200}})\({_JAVA_FILE}\)",
        # JavaScript
        rf"^\s*at (?:async |new )?(?P<name>[\w$.<>#]+)(?: \[as [\w$.]{{1,100}}\])? \({_SCRIPT}\)",
        rf"^\s*at {_SCRIPT}\s*$",
        # Firefox and Safari
        rf"^(?P<name>[\w$.<>/*]{{0,200}})@{_SCRIPT}\s*$",
        # The TypeScript compiler
        r"^(?P<path>[^\s():]{1,400}\.[cm]?[jt]sx?)\((?P<line>\d{1,7}),\d{1,7}\): ",
        # Go
        r"^\s+(?P<path>[^\s:]{1,400}\.go):(?P<line>\d{1,7})(?: \+0x[0-9a-f]+[^\n]{0,100})?\s*$",
        # A test of Go, and its compiler
        r"^\s*(?P<path>[^\s:]{1,400}\.go):(?P<line>\d{1,7}):(?:\d{1,7}:)? ",
        # pytest
        r"^(?P<path>[^\s:]{1,400}\.py):(?P<line>\d{1,7}): ",
        # Rust
        r"^\s*(?:at |--> )(?P<path>[^\s:]{1,400}\.rs):(?P<line>\d{1,7})(?::\d+)?\s*$",
        r"^.*?panicked at (?P<path>[^\s:]{1,400}\.rs):(?P<line>\d{1,7})",
        r"^.*?panicked at '[^\n]{0,300}', (?P<path>[^\s:]{1,400}\.rs):(?P<line>\d{1,7})",
    )
)


def exceptions_in(text: str) -> list[str]:
    """Return the names of the exceptions that begin a line: "ValueError: ..."."""
    found: dict[str, None] = {}
    for line in excerpt(text).splitlines():
        match = _EXCEPTION.match(line)
        if match is not None:
            found.setdefault(match[1].rpartition(".")[2])
    return list(found)[:MOST]


_EXCEPTION = re.compile(
    r"\s{0,20}(?:Uncaught |Caused by: |Exception in thread \"[^\"\n]{0,60}\" )?"
    r"((?:[^\W\d]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt|Exit))(?=:|\s*$)"
)


def asked_about(text: str) -> list[str]:
    """Return what a question or request is about, as noun phrases and their heads.

    "How does authentication work in this app?" gives "authentication"; "the retry policy" gives
    "retry policy" and "policy". What only remarks something gives nothing.
    """
    text = _TOKEN.sub(_unless_a_name, without_code(_URL.sub(" ", excerpt(text))))
    if not ASKS.search(text) and not _WANTS.search(text):
        return []
    found: dict[str, None] = {}
    for phrase in _phrases(text):
        found.setdefault(" ".join(phrase))
        found.setdefault(phrase[-1])
    return list(found)[:MOST]


def _unless_a_path(token: re.Match[str]) -> str:
    return " " if is_path(_bare(token[0])) else token[0]


def _unless_a_name(token: re.Match[str]) -> str:
    bare = _bare(token[0])
    return " , " if is_path(bare) or _is_symbol(bare, shouts=False) else token[0]


def without_code(text: str) -> str:
    """Return the text without what stands in code fences, backticks, quotes and quoted lines."""
    return _CODE.sub(" ", text)


_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*+`|^[ \t]*+>[^\n]*+|\"[^\"\n]*+\""
    # Where the closing sign is another one, many opening ones must not be read again and again.
    r"|“[^”\n]{0,400}+”|«[^»\n]{0,400}+»|(?<!\w)'[^'\n]*+'(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_WANTS = re.compile(r"(?i:\b(?:need|want|would like|looking for|trying to|how to|help)\b)")
_WORD = re.compile(r"[^\W_][\w'-]*+|[.,;:!?()\n]")
_LONGEST_PHRASE = 4
_SHORTEST_WORD = 3
_AROUND = frozenset(
    """
    add added adding allow allowed app application around broken build called calling cause causes
    change changed check code codebase create currently debug default define defined describe
    difference do does each exactly exist exists explain fail failing fails file files find fix
    fixed function functions handle handled handles handling implement implemented implements inside
    instead issue library look made method methods module modules must need needed new now place
    possible problem program project refactor repo repository responsible run running section should
    show some src sure system then thing update used uses using various via want what where whether
    which while within without work working works write written wrong
    """.split()
)
_SAYS_NOTHING = STOP_WORDS | FRAME_WORDS | SMALL_TALK | _AROUND


def _phrases(text: str) -> Iterator[list[str]]:
    words = [found[0].lower() for found in _WORD.finditer(text)]
    for says_something, run in groupby(words, _says_something):
        phrase = list(run)
        if says_something:
            yield phrase[-_LONGEST_PHRASE:]


def _says_something(word: str) -> bool:
    if len(word) < _SHORTEST_WORD or not word[0].isalpha():
        return False
    return word.replace("'", "") not in _SAYS_NOTHING

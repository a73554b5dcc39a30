"""What text goes through before it is stored, compared, searched or shown.

Stored text is data that others wrote: it may hold invisible characters, markup that imitates our
own, or a megabyte without a space. Everything here is a pure function that takes time linear in
the text, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from unicodedata import category, combining, normalize

SEARCHED_CHARS = 200_000
"""How much of a text is searched: `words` looks at this many characters and no further."""

GAP = "\u2026"
"""Stands for what is left out of a text."""
LONGEST_WORD = 64
"""Search words are cut to this many characters."""


def clean(text: str) -> str:
    r"""Return the text without characters that nobody sees.

    Composed (NFC); every kind of line break is "\n"; no control, private, unassigned, surrogate
    or format character is left (so no bidi override and no tag character), nor a variation
    selector. Kept: "\n", "\t", the joiners that Indic scripts and emoji need, and U+FE0F, which
    makes an emoji of a sign. Cleaning twice changes nothing more.
    """
    if _PLAIN.fullmatch(text):
        return text
    text = text.replace("\r\n", "\n")
    changes = {ord(char): new for char in set(text) if (new := _visible(char)) != char}
    return normalize("NFC", _marks_in_order(text.translate(changes) if changes else text))


def escape(text: str, *, attribute: bool = False) -> str:
    """Return the cleaned text with & < > escaped, and " as well for an attribute.

    Look-alikes that a later normalisation (NFKC, NFKD) would turn into one of them are escaped
    too, so no tag can appear out of the text afterwards.
    """
    special = _MARKUP_OR_QUOTE if attribute else _MARKUP
    return special.sub(lambda match: _ESCAPES[match[0]], clean(text))


def storable(text: str) -> str:
    """Return the text with halves of surrogate pairs, which no file can hold, replaced."""
    return text if text.isascii() else _HALF_A_PAIR.sub("\ufffd", text)


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def fold(text: str) -> str:
    """Return the form in which two texts that say the same are equal.

    Case, spacing, a leading bullet, surrounding quotes and closing stops make no difference; a
    question mark does. Never empty when the cleaned text is not blank.
    """
    text = clean(text)
    plain = text.isascii()  # of which nothing is composed
    cased = text.lower() if plain else normalize("NFC", normalize("NFD", text).casefold())
    line = " ".join(cased.split())
    return _OPENING.sub("", line, count=1).rstrip(_CLOSING) or line


def digest(*parts: str) -> str:
    """Return the SHA-256 of the parts as hex; different parts never read as the same bytes."""
    hashed = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()


def words(text: str) -> list[str]:
    """Return the search words of a text in order, casefolded and without punctuation.

    Compounds come whole and in parts: AuthService, auth_service and auth-service each give
    authservice, auth, service; HTTPServer gives httpserver, http, server; src/app.py gives
    srcapppy, src, app, py. Scripts written without spaces, and Hangul, give overlapping pairs of
    characters. "don't" gives dont, "Ann's" gives ann. Only the first SEARCHED_CHARS characters
    count; a word is at most LONGEST_WORD long, and a compound longer than that comes in parts only.
    """
    spaced = " ".join(_spaced(text).split())
    found: list[str] = []
    at = 0
    while at < len(spaced):
        # Most words are simple, and many stand in a row.
        simple = _SIMPLE.match(spaced, at)
        if simple and simple.end() > at:
            found += simple[0].lower().split()
            at = simple.end()
        else:
            end = spaced.find(" ", at)
            end = len(spaced) if end < 0 else end
            found += _words_in(spaced[at:end])
            at = end + 1
    return found


def search_text(text: str) -> str:
    """Return what a full-text index keeps of a text: its search words, separated by spaces."""
    return " ".join(words(text)) if text else ""


def first_sentence(text: str, limit: int) -> str:
    """Return the first sentence, or the first line if that is shorter, in `limit` characters.

    Cut like `one_line`, and never empty unless the text is.
    """
    line = " ".join(clean(text).strip().partition("\n")[0].split())
    stops = _STOP.finditer(line[: max(limit, 1) + 1])
    first = next((stop for stop in stops if _ends_sentence(line, stop)), None)
    return _cut(line[: first.end()] if first else line, limit) or (text and "…")


def counted(n: int, what: str) -> str:
    """Return so many of something, in words: "1 record", "2 memories"."""
    if n == 1:
        return f"{n} {what}"
    return f"{n} {what[:-1]}ies" if what.endswith("y") else f"{n} {what}s"


def one_line(text: str, limit: int) -> str:
    """Return the text on one line, in at most `limit` characters (at least one).

    Cut between words where there is a space to cut at, with an ellipsis. Never empty unless the
    text is.
    """
    return _cut(" ".join(clean(text).split()), limit) or (text and "…")


# Latin letters and the signs between them: visible, and nothing composes with them.
_PLAIN = re.compile("[\t\n -~\xa1-\xac\xae-\u017f\u2010-\u2015\u2018-\u2022\u2026\u20ac]*+")
_LINE_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"
_KEPT = "\n\t\u200c\u200d\ufe0f"
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# They decompose into other marks, which would undo the order that `_marks_in_order` makes.
_MARKS_OF_MARKS = "\u0340\u0341\u0343\u0344\u0f73\u0f75\u0f81"


def _visible(char: str) -> str:
    if char in _KEPT:
        return char
    if char in _LINE_BREAKS:
        return "\n"
    if category(char)[0] == "C" or _VARIATION_SELECTORS.match(char):
        return ""
    return normalize("NFD", char) if char in _MARKS_OF_MARKS else char


def _marks_in_order(text: str) -> str:
    """Sort long runs of combining marks as normalising would.

    Python's own normalising sorts them in quadratic time: 100 kB of marks would take seconds.
    """
    marks = "".join(sorted(char for char in set(text) if combining(char)))
    if not marks:
        return text
    return re.sub(f"[{marks}]{{8,}}", lambda run: "".join(sorted(run[0], key=combining)), text)


# Every character that has one of & < > " in its NFKC or NFKD form.
_ESCAPES = {
    "&": "&amp;",
    "\ufe60": "&amp;",
    "\uff06": "&amp;",
    "<": "&lt;",
    "\ufe64": "&lt;",
    "\uff1c": "&lt;",
    "\u226e": "&lt;\u0338",
    ">": "&gt;",
    "\ufe65": "&gt;",
    "\uff1e": "&gt;",
    "\u226f": "&gt;\u0338",
    '"': "&quot;",
    "\uff02": "&quot;",
}
_MARKUP_OR_QUOTE = re.compile(f"[{''.join(_ESCAPES)}]")
_MARKUP = re.compile(f"[{''.join(_ESCAPES)[:-2]}]")

_QUOTES = "\"'`‘’‚“”„«»‹›「」『』"  # noqa: RUF001
_OPENING = re.compile(rf"\A(?:[ {_QUOTES}]|[-*•](?= ))*+")
_CLOSING = f" .,;:!…。、，；：！{_QUOTES}"  # noqa: RUF001

_CONTRACTION = re.compile(r"['’ʼ](?<=\w.)(?:s\b|(?=(?:t|re|ve|ll|d|m)\b))", re.IGNORECASE)  # noqa: RUF001
_JOINTS = "-_./\\'’ʼ‐"  # noqa: RUF001
_JOINT = re.compile(f"[{re.escape(_JOINTS)}]")
# Joints that join nothing: they do not stand alone between letters or digits.
_LOOSE = re.compile("[{0}](?:(?![^ {0}])|(?<![^ {0}].))".format(re.escape(_JOINTS)))
# Each of these is one search word: "how", "How", "HTTP", but neither "loadFile" nor "max_size".
_SIMPLE = re.compile(
    rf"(?:(?:[A-Z]?[a-z0-9]{{0,{LONGEST_WORD - 1}}}+|[A-Z]{{2,{LONGEST_WORD}}}+)(?: |\Z))*+"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Thai, Lao, Myanmar, Khmer; Hangul; kana; Han. All that is written without spaces, and Hangul,
# whose endings stick to the word.
_UNSPACED = re.compile(
    "([\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+)"
)


def _spaced(text: str) -> str:
    """Return the text with a space for all that parts words, and compounds still joined."""
    text = clean(_compatible(text[:SEARCHED_CHARS])[:SEARCHED_CHARS])
    gaps = _ASCII_GAPS
    if not text.isascii():
        gaps = {ord(char): " " for char in set(text) if not _in_words(char)}
    return _LOOSE.sub(" ", _CONTRACTION.sub("", text.translate(gaps)))


def _compatible(text: str) -> str:
    """Map full-width letters, ligatures and the like to the plain ones, character by character."""
    if text.isascii():
        return text
    return text.translate({ord(c): new for c in set(text) if (new := normalize("NFKC", c)) != c})


def _in_words(char: str) -> bool:
    return char.isalnum() or char in _JOINTS or category(char)[0] == "M"


_ASCII_GAPS = {code: " " for code in range(128) if not _in_words(chr(code))}


def _words_in(token: str) -> Iterator[str]:
    """Yield the words of what is not simply one."""
    parts = [part for part in _JOINT.split(token) if part]
    if len(parts) > 1:
        yield from _whole("".join(parts))
    for part in parts:
        for index, piece in enumerate(_UNSPACED.split(part)):
            yield from _pairs(piece) if index % 2 else _humps(piece)


def _whole(joined: str) -> Iterator[str]:
    if len(joined) <= LONGEST_WORD and not _UNSPACED.search(joined):
        yield joined.casefold()


def _pairs(run: str) -> Iterator[str]:
    yield from (run[i : i + 2] for i in range(max(len(run) - 1, 1)))


def _humps(name: str) -> Iterator[str]:
    if not name:
        return
    cuts = [match.start() for match in _HUMP.finditer(_shape(name))]
    if not cuts or len(name) <= LONGEST_WORD:
        yield name.casefold()[:LONGEST_WORD]
    if cuts:
        for start, end in zip([0, *cuts], [*cuts, len(name)], strict=True):
            yield name[start:end].casefold()[:LONGEST_WORD]


def _shape(name: str) -> str:
    if name.isascii():
        return name
    return "".join("A" if c.isupper() else "0" if c.isdigit() else "a" for c in name)


# The look-behind makes it linear: a run of dots is tried once, not from each dot of it.
_STOP = re.compile("[。！？｡]+[」』）\"'”’]*|(?<![.!?…])[.!?…]++[\"')\\]”’]*+(?= |$)")  # noqa: RUF001
_LAST_WORD = re.compile(r"[^\s(]*$")
_ABBREVIATIONS = ("approx", "cf", "dr", "e.g", "fig", "i.e", "mr", "mrs", "ms", "prof", "st", "vs")


def _ends_sentence(line: str, stop: re.Match[str]) -> bool:
    """Tell a full stop from the dot of "e.g.", "J. Smith" and "1. First"."""
    if stop[0] != "." or stop.end() == len(line):
        return True
    before = _LAST_WORD.search(line, max(0, stop.start() - 8), stop.start())
    word = before[0].casefold() if before else ""
    after = line[stop.end() + 1 : stop.end() + 2]
    return len(word) > 1 and word not in _ABBREVIATIONS and not after.islower()


def _cut(line: str, limit: int) -> str:
    if len(line) <= max(limit, 1):
        return line
    head = line[: max(limit - 1, 0)]
    if line[len(head)] != " " and head.rfind(" ") > len(head) // 2:
        head = head[: head.rfind(" ")]
    return head.rstrip(" ,;:-\u200c\u200d") + "…"

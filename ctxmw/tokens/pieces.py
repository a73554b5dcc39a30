"""Tokens counted with a table as it lies in its file: exact, and there at once.

tiktoken makes maps of all 200,000 tokens before it counts the first, which takes longer than all
else that a short command does. Here a text is taken apart by the encoding's pattern, and each piece
is looked up where it stands in the file.
"""

from __future__ import annotations

import re
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from itertools import pairwise
from unicodedata import category
from zlib import crc32

LONGEST = 400
"""Bytes of a piece: merging takes the square of their number."""
SUFFIX = f".places-{sys.byteorder}"


class Places:
    """Where each token stands in the content of a table, found by its hash.

    A slot holds where the token's line begins, plus one; 0 is an empty slot, and ends the search.
    """

    def __init__(self, content: bytes, slots: memoryview | array[int]) -> None:
        self._content = content
        self._slots = slots
        self._last = len(slots) - 1

    @classmethod
    def made_of(cls, content: bytes) -> tuple[Places, bytes]:
        """Return the places of a table's tokens, and the bytes to keep them in."""
        lines = content.splitlines()
        last = (1 << (2 * len(lines)).bit_length()) - 1
        slots, begin = array("I", bytes(4 * (last + 1))), 0
        for line in lines:
            at = crc32(a2b_base64(line.partition(b" ")[0])) & last
            while slots[at]:
                at = (at + 1) & last
            slots[at] = begin + 1
            begin += len(line) + 1
        kept = slots.tobytes()
        return cls(content, slots), kept + crc32(kept).to_bytes(4, sys.byteorder)

    @classmethod
    def kept_in(cls, content: bytes, kept: bytes) -> Places | None:
        """Return the places that were kept; None when they are not whole."""
        body = memoryview(kept)[:-4]
        if not body or crc32(body).to_bytes(4, sys.byteorder) != kept[-4:]:
            return None
        return cls(content, body.cast("I"))

    def rank(self, token: bytes) -> int | None:
        """Return the number of a token; None when it is none."""
        line = b2a_base64(token, newline=False) + b" "
        at = crc32(token) & self._last
        while begin := self._slots[at]:
            if self._content.startswith(line, begin - 1):
                number = begin - 1 + len(line)
                return int(self._content[number : self._content.index(b"\n", number)])
            at = (at + 1) & self._last
        return None


class Unsure(Exception):
    """Only tiktoken can tell how many tokens a text has."""


class PieceCounter:
    """Counts the tokens of a text piece by piece, each looked up when it is met first."""

    def __init__(self, encoding: str, places: Places) -> None:
        self._pattern = _pattern(encoding)
        self._counts = _Counts(places)
        self._alike = _Alike({code: chr(code) for code in range(128)})

    def __call__(self, text: str) -> int:
        """Return how many tokens tiktoken makes of a text; raise Unsure where it must be asked."""
        return sum(map(self._counts.__getitem__, self._pieces(text)))

    def _pieces(self, text: str) -> list[str]:
        if text.isascii():
            return self._pattern.findall(text)
        alike = text.translate(self._alike)
        return [text[found.start() : found.end()] for found in self._pattern.finditer(alike)]


class _Counts(dict[str, int]):
    """How many tokens each piece has, of those that were met."""

    MOST = 65_536

    def __init__(self, places: Places) -> None:
        super().__init__()
        self._places = places

    def __missing__(self, piece: str) -> int:
        data = piece.encode()
        if len(data) > LONGEST:
            raise Unsure
        if len(self) >= self.MOST:
            self.clear()
        self[piece] = found = 1 if self._places.rank(data) is not None else self._merged(data)
        return found

    def _merged(self, data: bytes) -> int:
        """Join the two neighbours that make the first token of the table, until none make one."""
        parts = [data[at : at + 1] for at in range(len(data))]
        ranks = [self._rank(one, two) for one, two in pairwise(parts)]
        while ranks and (best := min(ranks)) < _NONE:
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at:
                ranks[at - 1] = self._rank(parts[at - 1], parts[at])
            if at < len(ranks):
                ranks[at] = self._rank(parts[at], parts[at + 1])
        return len(parts)

    def _rank(self, one: bytes, two: bytes) -> int:
        found = self._places.rank(one + two)
        return _NONE if found is None else found


_NONE = sys.maxsize


class _Alike(dict[int, str]):
    """For every character one that the patterns below name, and that is treated alike."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _alike(chr(code))
        return found


def _alike(character: str) -> str:
    kind = category(character)
    if kind in ("Cn", "Cs"):  # a later version of Unicode may know it; half a character
        raise Unsure
    if character.isspace():
        return "\xa0"
    # To whom case does not matter, the long s is the one letter beyond ASCII that is an s.
    return "s" if character == "\u017f" else _KINDS.get(kind) or _KINDS.get(kind[0], "!")


_CASELESS, _MARK = "ª", "\u0300"
_KINDS = {"Lu": "A", "Lt": "A", "Ll": "a", "L": _CASELESS, "M": _MARK, "N": "0"}


def _pattern(encoding: str) -> re.Pattern[str]:
    """Return the pattern of an encoding, for texts of characters that stand for their kind."""
    digit, space = "0-9", r"\t-\r \xa0"
    letter = f"A-Za-z{_CASELESS}"
    neither, symbol = rf"[^\r\n{letter}{digit}]?", rf"[^{space}{letter}{digit}]"
    if encoding == "cl100k_base":
        return re.compile(
            rf"'(?i:[sdmt]|ll|ve|re)|{neither}+[{letter}]+|[{digit}]{{1,3}}| ?{symbol}+[\r\n]*"
            rf"|[{space}]+\Z|[{space}]*[\r\n]|[{space}]+(?![^{space}])|[{space}]"
        )
    upper, lower = f"[A-Z{_CASELESS}{_MARK}]", f"[a-z{_CASELESS}{_MARK}]"
    ending = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    return re.compile(
        rf"{neither}{upper}*{lower}+{ending}|{neither}{upper}+{lower}*{ending}|[{digit}]{{1,3}}"
        rf"| ?{symbol}+[\r\n/]*|[{space}]*[\r\n]+|[{space}]+(?![^{space}])|[{space}]+"
    )

"""Counts and cuts a text with a tokenizer's table, or by its bytes where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tokenizers import Tokenizer

if TYPE_CHECKING:
    from tiktoken import Encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A tokenizer with its table; without one it counts bytes."""

    kind: Tokenizer
    encoding: Encoding | None
    fault: str = ""
    """Why there is no table, and the next step."""

    def count(self, text: str) -> int:
        if not text:
            return 0
        bound = len(text.encode("utf-8", "surrogatepass")) + self.spare
        if self.encoding is None:
            return bound
        return min(bound, math.ceil(len(self.encoding.encode_ordinary(text)) * self.kind.factor))

    def about(self, text: str) -> int:
        return len(text) if self.encoding is None else math.ceil(len(text) / 4 * self.kind.factor)

    def cut(self, text: str, limit: int) -> str:
        by_bytes = _cut_bytes(text, limit - self.spare)
        if self.encoding is None:
            return by_bytes
        by_tokens = _cut_tokens(text, int(limit / self.kind.factor), self.encoding)
        return max(by_bytes, by_tokens, key=len)

    @property
    def spare(self) -> int:
        """How far the model may exceed the number of bytes: some tokenizers put a blank first."""
        return 0 if self.kind.own else 1

    @property
    def name(self) -> str:
        if self.encoding is None:
            return "utf-8 bytes"
        return self.kind.encoding if self.exact else f"{self.kind.encoding} x {self.kind.factor}"

    @property
    def exact(self) -> bool:
        return self.encoding is not None and self.kind.own

    @property
    def note(self) -> str:
        if self.encoding is None:
            return f"A bound, not a count: each byte counts as a token, because {self.fault}."
        if self.exact:
            return f"Exact: counted with {self.kind.encoding}."
        return (
            f"An estimate: {self.kind.encoding} times {self.kind.factor}, because the "
            f"tokenizer of {self.kind.model} is not at hand; pass your own counter for exact "
            "counts."
        )


def _cut_bytes(text: str, limit: int) -> str:
    end = max(limit, 0)
    head = text[:end].encode("utf-8", "surrogatepass")
    if len(head) <= end:
        return text[:end]
    while head[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return head[:end].decode("utf-8", "surrogatepass")


def _cut_tokens(text: str, limit: int, encoding: Encoding) -> str:
    if limit <= 0:
        return ""
    tokens = _first_tokens(text, limit + _AHEAD, encoding)
    if len(tokens) <= limit:
        return text
    end = _characters(tokens[:limit], encoding)
    # Cut text can split into other tokens than the whole did, so the recount is what holds.
    while (over := len(encoding.encode_ordinary(text[:end])) - limit) > 0:
        end -= max(1, over // 4)  # a character has at most four tokens
    return text[: _further(text, end, tokens, limit, encoding)]


_AHEAD = 4
"""How many tokens after the cut are tried, character by character."""

_TAIL = 64
"""How many tokens before the cut are counted again for each of those characters."""


def _further(text: str, end: int, tokens: list[int], limit: int, encoding: Encoding) -> int:
    """Return the last place that still fits: the first letters of a token can come for free."""
    start = _characters(tokens[: max(limit - _TAIL, 0)], encoding)
    used = len(encoding.encode_ordinary(text[:end]))
    room = len(encoding.encode_ordinary(text[start:end])) + limit - used
    for place in range(_characters(tokens[: limit + _AHEAD], encoding), end, -1):
        if len(encoding.encode_ordinary(text[start:place])) > room:
            continue
        if len(encoding.encode_ordinary(text[:place])) <= limit:
            return place
    return end


def _first_tokens(text: str, wanted: int, encoding: Encoding) -> list[int]:
    """Return at least `wanted` tokens, or all, reading no more of a long text than it takes."""
    size = 8 * wanted
    tokens = encoding.encode_ordinary(text[:size])
    while len(tokens) <= wanted and size < len(text):
        size *= 2
        tokens = encoding.encode_ordinary(text[:size])
    return tokens


def _characters(tokens: list[int], encoding: Encoding) -> int:
    """Return how many whole characters the tokens make."""
    return len(encoding.decode_bytes(tokens).decode("utf-8", "ignore"))

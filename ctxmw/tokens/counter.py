"""Counts tokens: exactly where the tokenizer is public, never too low where it can be helped.

A budget is only as good as its count. OpenAI's encodings are counted with tiktoken and its own
tables; for other models a count is an estimate with a safety factor; without tables it is the
number of bytes, which no byte-based tokenizer exceeds. A counter says which of these it is. Nothing
is ever fetched from the network: tables come from a file that is already here and has the right
hash.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValue
from ..runtime.lru import LruCache
from .encoding import LoadedTable
from .models import Tokenizer, tokenizer_for
from .tables import LOADING, TABLES, default_cache_dir, find_table

if TYPE_CHECKING:
    from tiktoken import Encoding

_RECENT = 2_000
"""How many texts' counts are remembered: less than a megabyte."""


def counter_for(model: str | None = None, *, cache_dir: Path | None = None) -> Counter:
    """Return the counter for a model or an encoding; None counts with o200k_base.

    Tables are kept in `cache_dir`; by default in `tokens` under CTXMW_HOME, or in the user's cache
    folder.
    """
    if model is not None and (not isinstance(model, str) or not model.strip()):
        raise InvalidValue(
            f"model is {model!r}: give a model's name such as 'gpt-4o' or 'claude-sonnet-5', "
            "an encoding ('o200k_base' or 'cl100k_base'), or None"
        )
    return Counter(tokenizer_for(model), cache_dir or default_cache_dir())


class Counter:
    """Counts the tokens of a text; made by `counter_for`.

    The table is read at first use: `warm()` does it at a time of your choice. Counts are
    remembered, and any number of threads may count.
    """

    def __init__(self, tokenizer: Tokenizer, cache_dir: Path | None) -> None:
        self._tokenizer = tokenizer
        self._cache_dir = cache_dir
        self._recent: LruCache[str | bytes, int] = LruCache(_RECENT)
        self._loaded: tuple[LoadedTable | None, str] | None = None

    def __call__(self, text: str, /) -> int:
        key = _key(text)
        known = self._recent.get(key)
        if known is None:
            known = self._counted(text)
            self._recent.put(key, known)
        return known

    def at_least(self, text: str) -> int:
        """Return what a text cannot have less than, at a glance.

        No token of OpenAI's encodings holds parts of two words, or more than three digits.
        """
        plain = text.replace("…", " ")  # which our own lines may end in
        return len(_WORD_OR_DIGITS.findall(plain)) if plain.isascii() else 0

    def about(self, text: str) -> int:
        """Return about how many tokens a text has, at a glance."""
        if self._table[0] is None:
            return len(text)
        return math.ceil(len(text) / 4 * self._tokenizer.factor)

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined, as calling it with the whole would.

        Where a line ends between two texts, no token reaches over, and what is known of each is
        added up: here, or by the caller.
        """
        whole = "".join(texts)
        key = _key(whole)
        found = self._recent.get(key)
        if found is None:
            parts = [text for text in texts if text]
            if not (self.exact and _parted(parts)):
                return self(whole)
            found = sum([known.get(part) or self(part) for part in parts])
            self._recent.put(key, found)
        return found

    def __repr__(self) -> str:
        return f"<Counter of {self._tokenizer.model or self._tokenizer.encoding}>"

    @property
    def name(self) -> str:
        """What is counted: an encoding, an encoding with a factor, or UTF-8 bytes."""
        encoding, factor = self._tokenizer.encoding, self._tokenizer.factor
        if self._table[0] is None:
            return "utf-8 bytes"
        return encoding if self.exact else f"{encoding} x {factor}"

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counts."""
        return self._tokenizer.own and self._table[0] is not None

    @property
    def note(self) -> str:
        """One sentence: how far to trust the counts, and how to get better ones."""
        of, (encoding, fault) = self._tokenizer, self._table
        if encoding is None:
            return f"A bound, not a count: each byte counts as a token, because {fault}."
        if self.exact:
            return f"Exact: counted with {of.encoding}."
        return (
            f"An estimate: {of.encoding} times {of.factor}, because the tokenizer of {of.model} is "
            "not at hand; pass your own counter for exact counts."
        )

    def warm(self) -> None:
        """Read the table now."""
        if (table := self._table[0]) is not None:
            table.warm()

    def cut(self, text: str, limit: int) -> str:
        """Return the longest beginning of the text, in whole characters, within `limit` tokens."""
        by_bytes, encoding = _cut_bytes(text, limit - self._spare), self._encoding
        if encoding is None:
            return by_bytes
        by_tokens = _cut_tokens(text, int(limit / self._tokenizer.factor), encoding)
        return max(by_bytes, by_tokens, key=len)

    def _counted(self, text: str) -> int:
        if not text:
            return 0
        bound, table = len(text.encode("utf-8", "surrogatepass")) + self._spare, self._table[0]
        if table is None:
            return bound
        try:
            tokens = table(text) * self._tokenizer.factor
        except Exception as fault:  # noqa: BLE001 - whatever tiktoken raises, counting goes on
            self._count_bytes(fault)
            return bound
        return min(bound, math.ceil(tokens))

    @property
    def _spare(self) -> int:
        """How far the model may exceed the number of bytes: some tokenizers put a blank first."""
        return 0 if self._tokenizer.own else 1

    @property
    def _table(self) -> tuple[LoadedTable | None, str]:
        """The table; or why there is none, and the next step: then bytes are counted."""
        if self._loaded is None:
            with LOADING:
                self._loaded = self._loaded or self._found()
        return self._loaded

    def _found(self) -> tuple[LoadedTable | None, str]:
        name = self._tokenizer.encoding
        content = find_table(TABLES[name], self._cache_dir)
        if content is None:
            return None, _NO_TABLE.format(name)
        return LoadedTable(name, content, self._cache_dir), ""

    @property
    def _encoding(self) -> Encoding | None:
        """What tiktoken makes of the table; None when it cannot, and bytes are counted."""
        table = self._table[0]
        try:
            return table.encoding if table is not None else None
        except Exception as fault:  # noqa: BLE001 - whatever tiktoken raises, counting goes on
            self._count_bytes(fault)
            return None

    def _count_bytes(self, fault: Exception) -> None:
        self._loaded = None, _NO_LOAD.format(self._tokenizer.encoding, fault)


def _parted(texts: Sequence[str]) -> bool:
    """Say whether no token of OpenAI's encodings can reach from one text into the next.

    They take a line's end together with blanks and slashes that follow, and with nothing else.
    """
    ends = [text[-1] for text in texts[:-1]]
    begins = "".join([text[0] for text in texts[1:]])
    return ends.count("\n") == len(ends) and not _CAN_BE_REACHED.search(begins)


_CAN_BE_REACHED = re.compile(r"[/\s]")
# A word keeps what follows its apostrophe.
_WORD_OR_DIGITS = re.compile(r"[A-Za-z][A-Za-z']*|[0-9]{1,3}")


def _key(text: str) -> str | bytes:
    """Return what a text is remembered by: a long one by its hash, and it is not kept."""
    if len(text) <= _SHORT:
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_SHORT = 200
"""Characters."""


_NO_TABLE = (
    "no token table of {} was found; `pip install llama-index-core` brings it, "
    "and so does loading the encoding once with tiktoken while online"
)
_NO_LOAD = "tiktoken could not load {} ({!r}); make `tiktoken.get_encoding` work and start again"


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

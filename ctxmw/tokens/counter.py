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
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidValue
from ..protocols import TokenCounter
from .tables import (
    LOADING,
    TABLES,
    default_cache_dir,
    find_table,
    load_encoding,
)

if TYPE_CHECKING:
    from tiktoken import Encoding


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
    return Counter(_rule_for(model), cache_dir or default_cache_dir())


class Counter:
    """Counts the tokens of a text; made by `counter_for`.

    The table is loaded at first use, which takes a few tenths of a second: `warm()` does it at a
    time of your choice. Counts are remembered, and any number of threads may count.
    """

    def __init__(self, rule: _Rule, cache_dir: Path | None) -> None:
        self._rule = rule
        self._cache_dir = cache_dir
        self._recent = _RecentCounts()
        self._scale: _Scale | None = None

    def __call__(self, text: str, /) -> int:
        known = self._recent.get(text)
        if known is None:
            known = self._loaded().count(text)
            self._recent.keep(text, known)
        return known

    def about(self, text: str) -> int:
        """Return about how many tokens a text has, at a glance."""
        return self._loaded().about(text)

    def joined(self, texts: Sequence[str], known: Mapping[str, int]) -> int:
        """Return the tokens of the texts joined, as calling it with the whole would.

        Where a line ends between two texts, no token reaches over, and what is known of each is
        added up: here, or by the caller.
        """
        whole = "".join(texts)
        found = self._recent.get(whole)
        if found is None:
            parts = [text for text in texts if text]
            if not (self.exact and _parted(parts)):
                return self(whole)
            found = sum([known.get(part) or self(part) for part in parts])
            self._recent.keep(whole, found)
        return found

    def __repr__(self) -> str:
        return f"<Counter of {self._rule.model or self._rule.encoding}>"

    @property
    def name(self) -> str:
        """What is counted: an encoding, an encoding with a factor, or UTF-8 bytes."""
        return self._loaded().name

    @property
    def exact(self) -> bool:
        """Whether the model's own tokenizer counts."""
        return self._loaded().exact

    @property
    def note(self) -> str:
        """One sentence: how far to trust the counts, and how to get better ones."""
        return self._loaded().note

    def warm(self) -> None:
        """Load the table now."""
        self._loaded()

    def cut(self, text: str, limit: int) -> str:
        """Return the longest beginning of the text, in whole characters, within `limit` tokens."""
        return self._loaded().cut(text, limit)

    def _loaded(self) -> _Scale:
        if self._scale is None:
            with LOADING:
                if self._scale is None:
                    self._scale = _load(self._rule, self._cache_dir)
        return self._scale


# --- which tokenizer a model has ---


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """How a model's tokens are counted."""

    model: str = ""
    encoding: str
    factor: float = 1.0
    own: bool = False
    """Whether the encoding is the model's own; if not, counts are estimates."""


_OPENAI_NEW = re.compile(r"(?<![a-z0-9])(chat)?gpt-(4o|4\.[15]|5|oss)|(^|[/:])o[134](-|$)|o200k_")
_OPENAI_OLD = re.compile(
    r"(?<![a-z0-9])gpt-(4|3\.?5)(?![a-z0-9])|text-embedding-(ada|3)|(davinci|babbage)-002|cl100k_"
)
_CLAUDE = re.compile(r"claude\D*(?:(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?)?")
_MISTRAL = re.compile(r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral")
_LLAMA_3 = re.compile(r"llama-?v?3(?![\db])")

# Measured on prose, code, JSON and other scripts, as tokens of the model over cl100k_base's; on
# o200k_base, which is the best at other scripts, the factors would have to be far larger.
_UNKNOWN_FACTOR = 1.5
_MISTRAL_FACTOR = 1.7
_CLAUDE_FACTOR = 1.5
_NEW_CLAUDE_FACTOR = 2.0
_NEW_CLAUDE = (4, 7)
"""From this version on, Claude's tokenizer makes about 30 % more tokens."""


def _rule_for(model: str | None) -> _Rule:
    if model is None:
        return _Rule(encoding="o200k_base", own=True)
    name = model.strip().lower()
    if _OPENAI_NEW.search(name):
        return _Rule(model=model, encoding="o200k_base", own=True)
    if _OPENAI_OLD.search(name):
        return _Rule(model=model, encoding="cl100k_base", own=True)
    return _Rule(model=model, encoding="cl100k_base", factor=_factor_for(name))


def _factor_for(name: str) -> float:
    if claude := _CLAUDE.search(name):
        return _claude_factor(claude)
    if _MISTRAL.search(name):
        return _MISTRAL_FACTOR
    if _LLAMA_3.search(name):
        return 1.0  # its vocabulary is cl100k_base's, extended
    return _UNKNOWN_FACTOR


def _claude_factor(match: re.Match[str]) -> float:
    major, minor = match.groups()
    if major is None:  # a name without a version means the newest
        return _NEW_CLAUDE_FACTOR
    new = (int(major), int(minor or 0)) >= _NEW_CLAUDE
    return _NEW_CLAUDE_FACTOR if new else _CLAUDE_FACTOR


# --- counting and cutting ---


def at_least(count: TokenCounter, text: str) -> int:
    """Return what a text cannot have less than, at a glance.

    No token of OpenAI's encodings holds parts of two words, or more than three digits.
    """
    plain = text.replace("…", " ")  # which our own lines may end in
    known = isinstance(count, Counter) and plain.isascii()
    return len(_WORD_OR_DIGITS.findall(plain)) if known else 0


# A word keeps what follows its apostrophe.
_WORD_OR_DIGITS = re.compile(r"[A-Za-z][A-Za-z']*|[0-9]{1,3}")


def about(count: TokenCounter, text: str) -> int | None:
    """Return about how many tokens a text has, at a glance; None when only counting tells."""
    return count.about(text) if isinstance(count, Counter) else None


def joined(count: TokenCounter, texts: Sequence[str], known: Mapping[str, int]) -> int:
    """Return the tokens of the texts joined, by whatever counter; `known` are those of some."""
    if isinstance(count, Counter):
        return count.joined(texts, known)
    return count("".join(texts))


def _parted(texts: Sequence[str]) -> bool:
    """Say whether no token of OpenAI's encodings can reach from one text into the next.

    They take a line's end together with blanks and slashes that follow, and with nothing else.
    """
    ends = [text[-1] for text in texts[:-1]]
    begins = "".join([text[0] for text in texts[1:]])
    return ends.count("\n") == len(ends) and not _CAN_BE_REACHED.search(begins)


_CAN_BE_REACHED = re.compile(r"[/\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """A rule with its table; without one it counts bytes."""

    rule: _Rule
    encoding: Encoding | None
    fault: str = ""
    """Why there is no table, and the next step."""

    def count(self, text: str) -> int:
        if not text:
            return 0
        bound = len(text.encode("utf-8", "surrogatepass")) + self.spare
        if self.encoding is None:
            return bound
        return min(bound, math.ceil(len(self.encoding.encode_ordinary(text)) * self.rule.factor))

    def about(self, text: str) -> int:
        return len(text) if self.encoding is None else math.ceil(len(text) / 4 * self.rule.factor)

    def cut(self, text: str, limit: int) -> str:
        by_bytes = _cut_bytes(text, limit - self.spare)
        if self.encoding is None:
            return by_bytes
        by_tokens = _cut_tokens(text, int(limit / self.rule.factor), self.encoding)
        return max(by_bytes, by_tokens, key=len)

    @property
    def spare(self) -> int:
        """How far the model may exceed the number of bytes: some tokenizers put a blank first."""
        return 0 if self.rule.own else 1

    @property
    def name(self) -> str:
        if self.encoding is None:
            return "utf-8 bytes"
        return self.rule.encoding if self.exact else f"{self.rule.encoding} x {self.rule.factor}"

    @property
    def exact(self) -> bool:
        return self.encoding is not None and self.rule.own

    @property
    def note(self) -> str:
        if self.encoding is None:
            return f"A bound, not a count: each byte counts as a token, because {self.fault}."
        if self.exact:
            return f"Exact: counted with {self.rule.encoding}."
        return (
            f"An estimate: {self.rule.encoding} times {self.rule.factor}, because the tokenizer "
            f"of {self.rule.model} is not at hand; pass your own counter for exact counts."
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


class _RecentCounts:
    """The counts of recent texts, within a bounded number of bytes."""

    _ROOM = 500_000
    _OVERHEAD = 170
    """What an entry costs besides its text, so that many tiny texts are bounded too."""
    _SHORT = 200
    """Characters beyond which a text is known by its hash, and not kept."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str | bytes, int] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def get(self, text: str) -> int | None:
        key = text if len(text) <= self._SHORT else _print(text)
        with self._lock:
            count = self._counts.get(key)
            if count is not None:
                self._counts.move_to_end(key)
            return count

    def keep(self, text: str, count: int) -> None:
        key = text if len(text) <= self._SHORT else _print(text)
        with self._lock:
            if key not in self._counts:
                self._used += len(key) + self._OVERHEAD
            self._counts[key] = count
            while self._used > self._ROOM:
                oldest, _ = self._counts.popitem(last=False)
                self._used -= len(oldest) + self._OVERHEAD


def _print(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _load(rule: _Rule, cache_dir: Path | None) -> _Scale:
    table = TABLES[rule.encoding]
    content = find_table(table, cache_dir)
    if content is None:
        return _Scale(rule=rule, encoding=None, fault=_NO_TABLE.format(rule.encoding))
    try:
        return _Scale(rule=rule, encoding=load_encoding(rule.encoding, table, content))
    except Exception as fault:  # noqa: BLE001 - whatever tiktoken raises, counting goes on
        return _Scale(rule=rule, encoding=None, fault=_NO_LOAD.format(rule.encoding, fault))


_NO_TABLE = (
    "no token table of {} was found; `pip install llama-index-core` brings it, "
    "and so does loading the encoding once with tiktoken while online"
)
_NO_LOAD = "tiktoken could not load {} ({!r}); make `tiktoken.get_encoding` work and start again"

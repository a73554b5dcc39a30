"""What is known of models by their names: the tokenizer, and how many tokens the window holds.

Windows are those of the makers' own model pages as of early 2026: OpenAI (platform docs, "Models"),
Anthropic ("Models overview"), Google ("Gemini models"), Meta's and Mistral's model cards, DeepSeek
and Qwen ("Models"). They are the whole window: prompt and answer together. Who serves a model may
allow less; `window=` always wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..text.patterns.late import late_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """How a model's tokens are counted."""

    model: str = ""
    encoding: str
    factor: float = 1.0
    own: bool = False
    """Whether the encoding is the model's own; if not, counts are estimates."""


_OPENAI_NEW = late_pattern(r"(?<![a-z0-9])(chat)?gpt-(4o|4\.[15]|5|oss)|(^|[/:])o[134](-|$)|o200k_")
_OPENAI_OLD = late_pattern(
    r"(?<![a-z0-9])gpt-(4|3\.?5)(?![a-z0-9])|text-embedding-(ada|3)|(davinci|babbage)-002|cl100k_"
)
_CLAUDE = late_pattern(r"claude\D*(?:(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?)?")
_MISTRAL = late_pattern(r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral")
_LLAMA_3 = late_pattern(r"llama-?v?3(?![\db])")

# Measured on prose, code, JSON and other scripts, as tokens of the model over cl100k_base's; on
# o200k_base, which is the best at other scripts, the factors would have to be far larger.
_UNKNOWN_FACTOR = 1.5
_MISTRAL_FACTOR = 1.7
_CLAUDE_FACTOR = 1.5
_NEW_CLAUDE_FACTOR = 2.0
_NEW_CLAUDE = (4, 7)
"""From this version on, Claude's tokenizer makes about 30 % more tokens."""


def tokenizer_for(model: str | None) -> Tokenizer:
    if model is None:
        return Tokenizer(encoding="o200k_base", own=True)
    name = model.strip().lower()
    if _OPENAI_NEW.search(name):
        return Tokenizer(model=model, encoding="o200k_base", own=True)
    if _OPENAI_OLD.search(name):
        return Tokenizer(model=model, encoding="cl100k_base", own=True)
    return Tokenizer(model=model, encoding="cl100k_base", factor=_factor_for(name))


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


_WINDOWS: tuple[tuple[str, int], ...] = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5", 400_000),
    (r"gpt-4o|gpt-4-turbo|gpt-4-(1106|0125)|gpt-oss|chatgpt-4o", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4", 8_192),
    (r"gpt-3\.?5-turbo", 16_385),
    (r"(?<![a-z0-9])o1-mini|(?<![a-z0-9])o1-preview", 128_000),
    (r"(?<![a-z0-9])o[134](?![a-z0-9])", 200_000),
    (r"claude-2\.0|claude-instant", 100_000),
    (r"claude", 200_000),
    (r"gemini-1\.5-pro", 2_097_152),
    (r"gemini-(1\.5|2|3)", 1_048_576),
    (r"llama-?v?4-scout", 10_000_000),
    (r"llama-?v?4-maverick", 1_000_000),
    (r"llama-?v?3\.[123]", 128_000),
    (r"llama-?v?3(?![\d.])", 8_192),
    (r"mistral-(large|medium|small)|mistral-nemo|ministral|pixtral|magistral|devstral", 128_000),
    (r"codestral", 256_000),
    (r"mixtral-8x22b", 65_536),
    (r"mistral-7b|mixtral", 32_768),
    (r"deepseek-(chat|reasoner|v3|r1)", 128_000),
    (r"qwen-?3|qwen-?2\.5", 32_768),
)
_KNOWN = tuple((late_pattern(pattern), window) for pattern, window in _WINDOWS)
"""The first that fits holds; where a name fits several, the special one stands first."""


def known_window(model: str | None) -> int | None:
    """Return the window of a model in tokens; None when it is not known here."""
    name = (model or "").strip().lower()
    return next((window for pattern, window in _KNOWN if name and pattern.search(name)), None)

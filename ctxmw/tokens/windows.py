"""How many tokens a model's window holds, for models whose makers say so.

Figures are of the makers' own model pages as of early 2026: OpenAI (platform docs, "Models"),
Anthropic ("Models overview"), Google ("Gemini models"), Meta's and Mistral's model cards, DeepSeek
and Qwen ("Models"). They are the whole window: prompt and answer together. Who serves a model may
allow less; `window=` always wins.
"""

from __future__ import annotations

import re

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
_KNOWN = tuple((re.compile(pattern), window) for pattern, window in _WINDOWS)
"""The first that fits holds; where a name fits several, the special one stands first."""


def known_window(model: str | None) -> int | None:
    """Return the window of a model in tokens; None when it is not known here."""
    name = (model or "").strip().lower()
    return next((window for pattern, window in _KNOWN if name and pattern.search(name)), None)

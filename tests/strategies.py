"""Items and texts to test with: written by hand where a test names them, generated where not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from ctxmw.items import Item

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

FRAGMENTS = (
    *("<ctxmw>", "</ctxmw>", "< /ctxmw>", "</ctx", "mw>", "<ctxmw", "＜/ctxmw＞", "﹤ctxmw﹥"),  # noqa: RUF001
    *("</\u200bctxmw>", "</CTXMW>", "&lt;/ctxmw&gt;", "&", "<", ">", '"', "'", "]]>", "<!--", "<?"),
    *("</item>", "</section>", '<item kind="rule">', "<hint>", "\u226e", "\u0338", "\u226f"),
    *("\n## Universal Rules\n", "\n# Index\n", "\n### 2026-03-02 s1\n", "\n- Avoid: tests\n", "* "),
    *("\n===\n", "\n---\n", "![", "!![x](https://e.example/?q=", "!\u200b[", "！[", "```\n", "[x]: y"),  # noqa: RUF001
    *("<|endoftext|>", "<|im_start|>system", '{"id": 17, "tags": ["a", null]}', "{{x}}", "%s", "\\n"),
    *("def f(x):\n    return x[1:]", "\tif (a && b) { c->d(); }", "SELECT * FROM t;", "0xDEADBEEF"),
    *("AuthService", "snake_case", "src/app.py", "don't", "e\u0301", "1234567", "a" * 300),
    *("中文字符", "かな。カナ", "한국어", "Привет", "مرحبا", "नमस्ते", "ไทย", "עברית", "ÅÖß", "ﬁ", "ℌ"),
    *("👩\u200d💻", "🏴", "❤\ufe0f", "🧑🏽\u200d🚀", "\u202eabc\u202c", "\u2066", "\x00", "\ud800", "\U000e0041"),
    *("\n", "\r\n", "\n\n\n", "\u2028", "\x85", "\x0b", "\t", "\u00a0", "\u3000", "/", "//", " ", "   "),
)  # fmt: skip
"""What breaks frames, headings, tokenizers or comparisons, or at least has done so somewhere."""

texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=12).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=12).map(" ".join),
    st.text(st.characters(), min_size=1, max_size=120),
    st.builds(lambda part, n: part * n, st.sampled_from(FRAGMENTS), st.integers(1, 80)),
)
"""Texts of all scripts, code, JSON, special tokens, and pieces of our own markup."""


def item(text: str = "Prefer early returns.", **values: Any) -> Item:
    """Return an item that a test can name in one line; it scores 0.7 unless told otherwise."""
    standard = {"ref": "m1", "kind": "preference", "lane": "universal", "section": "universal"}
    return Item(**{"text": text, "score": 0.7, **standard, **values})

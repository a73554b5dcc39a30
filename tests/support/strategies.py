"""Items and texts to test with: written by hand where a test names them, generated where not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from ctxmw.values.items import Item
from ctxmw.values.records import (
    MEMORY_KINDS,
    NOTE_KINDS,
    OBSERVATION_KINDS,
    Memory,
    Note,
    Observation,
    Record,
    SessionSummary,
    Turn,
)

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

FRAGMENTS = (
    *["<ctxmw>", "</ctxmw>", "< /ctxmw>", "</ctx", "mw>", "<ctxmw", "</CTXMW>", "</\u200bctxmw>"],
    *["\uff1c/ctxmw\uff1e", "\ufe64ctxmw\ufe65", "&lt;/ctxmw&gt;", "&", "<", ">", '"', "'", "]]>"],
    *["<!--", "<?", "</item>", "</section>", '<item kind="rule">', "<hint>", "\u226e", "\u226f"],
    *["\u0338", "\n## Universal Rules\n", "\n# Index\n", "\n### 2026-03-02 s1\n", "\n===\n", "* "],
    *["\n- Avoid: tests\n", "\n---\n", "![", "!![x](https://e.example/?q=", "!\u200b[", "\uff01["],
    *["```\n", "[x]: y", "<|endoftext|>", "<|im_start|>system", '{"id": 17, "tags": [null]}', "%s"],
    *["def f(x):\n    return x[1:]", "\tif (a && b) { c->d(); }", "SELECT * FROM t;", "0xDEADBEEF"],
    *["AuthService", "snake_case", "src/app.py", "don't", "{{x}}", "\\n", "1234567", "a" * 70],
    *["中文字符", "かな。カナ", "한국어", "Привет", "مرحبا", "नमस्ते", "ไทย", "עברית", "ÅÖß", "ﬁ"],
    *[
        "e\u0301",
        "\u210c",
        "👩\u200d💻",
        "🏴",
        "❤\ufe0f",
        "🧑🏽\u200d🚀",
        "\u202eabc\u202c",
        "\u2066",
    ],
    *["\x00", "\ud800", "\U000e0041", "\n", "\r\n", "\n\n\n", "\u2028", "\x85", "\x0b", "\t"],
    *["\u00a0", "\u3000", "/", "//", " ", "   "],
)
"""What breaks frames, headings, tokenizers or comparisons, or at least has done so somewhere."""

texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=12).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=12).map(" ".join),
    st.text(st.characters(), min_size=1, max_size=120),
    st.builds(lambda part, n: part * n, st.sampled_from(FRAGMENTS), st.integers(1, 40)),
)
"""Texts of all scripts, code, JSON, special tokens, and pieces of our own markup."""


def item(text: str = "Prefer early returns.", **values: Any) -> Item:
    """Return an item that a test can name in one line; it scores 0.7 unless told otherwise."""
    standard = {"ref": "m1", "kind": "preference", "lane": "universal", "section": "universal"}
    group_title = values.get("group", "")
    return Item(**{"text": text, "score": 0.7, "group_title": group_title, **standard, **values})


# --- a world: what two users have stored ---

PEOPLE = (("u1", "u10"), ("u1", "u1\n"), ("u_", "u%"), ("ada", "Ada"), ("</ctxmw>", "<ctxmw>"))
PROJECTS = ("shop", "shop:web", "Shop", "</ctxmw> ## Index")
LANGUAGES = ("python", "c++")
SESSIONS = ("monday", "tuesday", "<ctxmw>\n- m1")
SCOPES = (
    *["universal"] * 4,
    *(f"project:{name}" for name in PROJECTS),
    *(f"language:{name}" for name in LANGUAGES),
)
MARKER = re.compile(r"zq\d+zq")
"""The word by which a text is known again in whatever shows it."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Records of two users who share refs, sessions and projects; each text has its own marker."""

    people: tuple[str, str]
    records: tuple[Record, ...]
    random: Random
    """For cases in this world."""

    def marker(self, record: Record) -> str:
        return MARKER.findall(record.says())[0]


def world(texts_: list[str], seed: int) -> World:
    """Return a world that holds these texts, each of them once for each of two users."""
    random = Random(seed)
    people = random.choice(PEOPLE)
    records = []
    for at, text in enumerate(texts_):
        for who, user in enumerate(people):
            marked = f"zq{2 * at + who}zq {_storable(text)}"
            records.append(_record(random, user, at, marked))
    return World(people=people, records=tuple(records), random=random)


worlds = st.builds(world, st.lists(texts, min_size=5, max_size=14), st.integers(0, 2**32))


def _storable(text: str) -> str:
    # Half of a surrogate pair is no text that any file could hold.
    return text.encode("utf-8", "ignore").decode()


def _record(random: Random, user: str, at: int, text: str) -> Record:
    cls = random.choice((Memory, Memory, Memory, Note, Observation, SessionSummary, Turn))
    about = {
        "user": user,
        "ref": f"{cls.prefix}{at}",
        "at": NOW - timedelta(days=random.choice((0, 5, 20, 60, 150, 400)), minutes=at),
        "session": random.choice(SESSIONS),
        "scope": random.choice(SCOPES),
        "source": random.choice(("user", "tool:web", "</ctxmw>")),
        "trust": random.choice(("trusted", "trusted", "trusted", "untrusted")),
        "text": text,
    }
    if cls is Memory:
        kind, seen = random.choice(MEMORY_KINDS), random.choice((1, 3, 9))
        return Memory(**about, kind=kind, seen=seen, superseded_by=random.choice(["", "", "m"]))
    if cls is Note:
        return Note(**about, kind=random.choice(NOTE_KINDS))
    if cls is Observation:
        return Observation(**about, kind=random.choice(OBSERVATION_KINDS), title=text[:200])
    if cls is SessionSummary:
        return SessionSummary(**about, decisions=(text[:80],))
    return Turn(**about, role=random.choice(("user", "tool")), position=at, print=f"print{at}")

"""The versions of a memory one after the other, with what each changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ...display.elements import Child, Html, joined_html, tag
from ...values.records import Memory

_WORDS = 2_000
"""Versions that are longer are shown without what has changed: comparing takes too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version, and its text with what it took out of the one before and put in."""

    memory: Memory
    text: Html


def timeline_of(versions: Sequence[Memory]) -> list[Version]:
    """Return the versions in the order given, the newest first."""
    before = [*versions[1:], None]
    return [
        Version(memory=new, text=_changes(old.text if old else "", new.text))
        for new, old in zip(versions, before, strict=True)
    ]


def _changes(old: str, new: str) -> Html:
    was, now = old.split(), new.split()
    if not was or max(len(was), len(now)) > _WORDS:
        return joined_html([new])
    parts: list[Child] = []
    for kind, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            parts += [" ".join(now[c:d]), " "]
            continue
        parts += [tag("del", " ".join(was[a:b])), " "] if b > a else []
        parts += [tag("ins", " ".join(now[c:d])), " "] if d > c else []
    return joined_html(parts)

"""Who asks, where, and for what: everything that sources and scoring know of a request.

The task can be found from what was said (`task_of`). It only guesses, so what the caller states
wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from ..text.cleaning import words

Task = Literal["coding", "debugging", "documentation", "architecture"]
TASKS: tuple[Task, ...] = get_args(Task)
LOOKED_AT = 5
"""Messages that tell the task."""

TASK_WORDS: Mapping[str, tuple[str, ...]] = {
    "coding": ("implement", "write", "create", "function", "class"),
    "debugging": ("error", "bug", "fix", "debug", "test"),
    "documentation": ("doc", "comment", "readme", "explain"),
    "architecture": ("design", "pattern", "structure", "module"),
}
"""The words that tell a task, in what the user says and in what is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One request, as sources and scoring see it."""

    user: str
    now: datetime
    """Aware; the same for everything that is built for this request."""
    session: str = ""
    project: str | None = None
    language: str | None = None
    task: str | None = None
    """One of TASKS, or None when it is not clear."""
    files: tuple[str, ...] = ()
    """Paths in play, relative to the project."""
    query: str = ""
    """What was asked: the last text of the user."""
    cwd: Path | None = None
    """The folder it takes place in, with links resolved."""
    root: Path | None = None
    """The project's folder around it; nothing is read outside."""


def task_of(texts: Sequence[str]) -> Task | None:
    """Return what the last five messages are about, or None when nothing stands out.

    Each message counts the different words it has of a task; the later it came, the more.
    """
    votes: Counter[Task] = Counter()
    for weight, text in enumerate(texts[-LOOKED_AT:], start=1):
        for word in _TASK_OF_WORD.keys() & words(_ends(text)):
            votes[_TASK_OF_WORD[word]] += weight
    best = votes.most_common(2)
    if not best or (best[0][1] == best[-1][1] and len(best) == 2):
        return None
    return best[0][0]


def _ends(text: str) -> str:
    """The request stands before or after what was pasted."""
    return text if len(text) <= 4000 else f"{text[:2000]} {text[-2000:]}"


def _forms(word: str) -> Iterator[str]:
    """Yield a verb or noun as people write it: fix, fixes, fixed, fixing."""
    stem = word.removesuffix("e")
    yield from (word, f"{word}s", f"{word}es", f"{stem}ed", f"{stem}ing")
    yield from (f"{word}{word[-1]}ed", f"{word}{word[-1]}ing")


_MORE_WORDS: Mapping[Task, tuple[str, ...]] = {
    "coding": ("refactor",),
    "debugging": ("crash", "exception", "fail", "failure", "traceback"),
    "documentation": ("docstring", "document", "documentation"),
    "architecture": ("architecture",),
}
_TASK_OF_WORD: Mapping[str, Task] = {
    form: task
    for task in TASKS
    for word in (*TASK_WORDS[task], *_MORE_WORDS[task])
    for form in _forms(word)
}

"""What git tells of the files of a project: in which words they were changed.

Who once wrote "retry when the broker is gone" and changed a file, told in the words of people what
is done there. Read with `git log`, bounded in time and number; where there is no git, no clone, or
no history, there is nothing to tell. Which files changed together was tried too: it found no more.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..text.secrets.redaction import redact
from .ranking.words import asked_terms

COMMITS, SECONDS = 2000, 10.0
"""How many commits are read, the last ones, and how long that may take."""
_FILES = 20
"""Files of a commit: one that changes more tells little of any."""
_WORDS = 200
"""Words that are kept of a file."""
_MESSAGE = 2000
_COMMIT, _PATHS = "\x1e", "\x1f"
_ASKED = (
    "--no-merges",
    f"--max-count={COMMITS}",
    f"--format={_COMMIT}%s%n%b{_PATHS}",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--relative",
    "-z",
)
# What a clone's own settings could start is not started.
_SETTINGS = ("-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.pager=cat")


def past_of(root: Path) -> Mapping[str, str] | None:
    """Return the words in which files below a folder were changed, by path, as `bag_of` has them.

    None when git cannot tell.
    """
    told = _log(root)
    return None if told is None else _gathered(_commits(told))


def _log(root: Path) -> str | None:
    import subprocess  # which takes longer to load than most commands need of it

    command = ["git", *_SETTINGS, "--no-pager", "-C", str(root), "log", *_ASKED, "--", "."]
    quiet = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env=quiet,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None  # no git, no clone, an empty one, or a very slow one
    return done.stdout.decode("utf-8", "replace")


def _commits(told: str) -> Iterator[tuple[str, list[str]]]:
    for commit in told.split(_COMMIT)[1:]:
        message, _, names = commit.partition(_PATHS)
        paths = [name for name in names.replace("\n", "\0").split("\0") if name]
        if 0 < len(paths) <= _FILES:
            yield message[:_MESSAGE], paths


def _gathered(commits: Iterable[tuple[str, list[str]]]) -> dict[str, str]:
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for message, paths in commits:
        terms = asked_terms(redact(message).text).keys()
        for path in paths:
            words[path].update(terms)
    return {path: _bag(told) for path, told in words.items()}


def _bag(words: Counter[str]) -> str:
    kept = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:_WORDS]
    digits = "".join(str(min(9, often)) for _, often in kept)
    return " ".join((digits, *(word for word, _ in kept)))

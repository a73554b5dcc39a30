"""The commands of `ctxmw`, one file each.

Every file has `HELP`, what it does in one line; `options(parser)`, what it takes; and
`run(chosen, terminal)`, which does it and returns the exit code, unless it always is 0. Only the
file of the command at hand is imported: a shell waits for each of them.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Protocol, cast

from .terminal import Terminal

GROUPS: dict[str, tuple[str, ...]] = {
    "start": ("demo", "init", "trust", "doctor"),
    "remember and recall": (
        "remember",
        "search",
        "list",
        "show",
        "edit",
        "pin",
        "inject",
        "forget",
        "restore",
    ),
    "conversations": ("sessions", "history", "rate", "usage", "collect", "ui", "eval"),
    "what comes along": ("catalog", "index", "watch", "notice"),
    "editors and assistants": ("mcp", "serve", "hook"),
    "the store": ("export", "import", "migrate", "reindex", "retention"),
    "the shell": ("completion",),
}

DONE = 0
FAILED = 1
WRONG_USAGE = 2
NOTHING_FOUND = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
TERMINATED = 143

EXIT_CODES = {
    DONE: "done",
    FAILED: "it did not work; the error says what to do",
    WRONG_USAGE: "called wrongly: an argument, a setting or a file that cannot be accepted",
    NOTHING_FOUND: "nothing was found",
    INTERRUPTED: "interrupted; `ui`, `mcp` and `serve` end with 0: so servers are ended",
    PIPE_CLOSED: "whoever read the output has gone",
    TERMINATED: "told to end by SIGTERM; `ui`, `mcp` and `serve` end with 0",
}


class Command(Protocol):
    """What the file of a command has."""

    HELP: str

    def options(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, chosen: argparse.Namespace, terminal: Terminal) -> int | None: ...


def count(text: str) -> int:
    """Return how many are asked for; for argparse, which says what is wrong."""
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, 0 or more")
    return int(text)


def a_while(text: str) -> float:
    """Return how long; for argparse, which says what is wrong."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def port(text: str) -> int:
    """Return a port's number; for argparse, which says what is wrong."""
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give 0 to 65535")
    return int(text)


def names() -> list[str]:
    """Return the names of all commands, in the order of the overview."""
    return [name for group in GROUPS.values() for name in group]


def command(name: str) -> Command:
    """Return the command of that name."""
    # `import` is a word of the language and cannot be a file's name.
    file = f"{name}_" if name == "import" else name
    return cast("Command", import_module(f".{file}", __name__))

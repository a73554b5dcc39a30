"""The `ctxmw` command: finds the command at hand, runs it, and ends with a code that tells."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from io import TextIOWrapper
from typing import TextIO

from .. import __version__
from ..errors import CtxmwError, InvalidValue, NotFound, NotTrusted
from .commands import (
    DONE,
    FAILED,
    GROUPS,
    INTERRUPTED,
    NOTHING_FOUND,
    PIPE_CLOSED,
    TERMINATED,
    WRONG_USAGE,
    command,
    names,
)
from .commands.terminal import Terminal
from .commands.until_told import Terminated

ABOUT = "A memory for agents: it arrives by itself, fits its budget, explains itself."

WHERE = {
    "store": ("PATH", "the memory's file; default: memory.db in the data folder"),
    "user": ("NAME", "whose memory; default: local"),
    "project": ("NAME", "the project; default: that of the current folder"),
    "config": ("FILE", "the settings; default: ctxmw.toml or pyproject.toml, found upwards"),
}
"""What every command takes: where the memory is, and for whom."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    with _seldom_collected(), _loading_no_more_than_needed():
        return _ran(arguments)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for garbage less often: loading modules makes many objects, and hardly any garbage."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


_OBJECTS = 50_000
"""How many more there must be before garbage is looked for; Python's own number is below 1,000."""


@contextmanager
def _loading_no_more_than_needed() -> Iterator[None]:
    """Have numpy start no threads, and pydantic look for no plugins: both take long, for nothing.

    Numpy's threads would multiply large matrices, and nothing here does; pydantic reads what every
    installed package says of itself. Whoever sets these variables has what they say.
    """
    own = {name: value for name, value in _LOADING.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


_LOADING = {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}


def _ran(arguments: Sequence[str] | None) -> int:
    given = _asking_for_help(list(sys.argv[1:] if arguments is None else arguments))
    _write_any_text(sys.stdout)
    terminal = Terminal()
    parser = parser_for(given)
    _check_name(parser, given)
    chosen = parser.parse_args(given)
    try:
        code = _run(chosen, terminal)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Python flushes at exit too, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt as ended:
        return TERMINATED if isinstance(ended, Terminated) else INTERRUPTED


def _asking_for_help(given: list[str]) -> list[str]:
    """Return `help` and `help COMMAND` as the options that say the same."""
    return [*given[1:2], "--help"] if given[:1] == ["help"] else given


def _write_any_text(out: TextIO) -> None:
    """Have a pipe carry UTF-8, as it does on the way in, and a terminal show what it can.

    Left alone, both follow the locale, and may have no letter for what was remembered.
    """
    if not isinstance(out, TextIOWrapper):
        return
    encoding = out.encoding if out.isatty() else "utf-8"
    out.reconfigure(encoding=encoding, errors="backslashreplace")


def parser_for(given: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser; of the commands, only those named are loaded with what they take.

    Where a command comes first, it knows no other: a hook is waited for at every prompt.
    """
    parser = argparse.ArgumentParser(prog="ctxmw", description=ABOUT, add_help=False)
    parser.add_argument("-h", "--help", action="store_true", help="show this overview")
    parser.add_argument("--version", action="version", version=f"ctxmw {__version__}")
    take_where(parser, default=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in given[:1] if given[:1] and given[0] in names() else names():
        one = commands.add_parser(name)
        if name in given:
            _take_options(one, name)
    return parser


def _check_name(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """End with a hint when the first word is nearly a command."""
    first = given[0] if given else ""
    if first in names() or first.startswith("-"):
        return
    if near := get_close_matches(first, (*names(), "help"), n=1):
        parser.error(f"there is no command {first!r}: did you mean {near[0]!r}?")


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every command, with all it takes."""
    made = {name: argparse.ArgumentParser(prog=f"ctxmw {name}") for name in names()}
    for name, parser in made.items():
        _take_options(parser, name)
    return made


def _take_options(parser: argparse.ArgumentParser, name: str) -> None:
    module = command(name)
    parser.description = f"{module.HELP[0].upper()}{module.HELP[1:]}."
    module.options(parser)
    take_where(parser, default=argparse.SUPPRESS)


def take_where(parser: argparse.ArgumentParser, default: object) -> None:
    """Have a parser take where the memory is and for whom; before the command or after it."""
    where = parser.add_argument_group("where")
    for name, (metavar, told) in WHERE.items():
        where.add_argument(f"--{name}", metavar=metavar, default=default, help=told)


def _run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    if chosen.command is None or chosen.help:
        _overview(terminal)
        return DONE
    try:
        return command(chosen.command).run(chosen, terminal) or DONE
    except BrokenPipeError:
        raise
    except (CtxmwError, OSError) as error:
        terminal.error(str(error))
        return _code_of(error)


def _code_of(error: Exception) -> int:
    if isinstance(error, NotFound):
        return NOTHING_FOUND
    # A file that is not trusted yet is nothing that whoever calls has done wrong.
    wrong = isinstance(error, InvalidValue) and not isinstance(error, NotTrusted)
    return WRONG_USAGE if wrong else FAILED


def _overview(terminal: Terminal) -> None:
    terminal.line(ABOUT)
    for group, members in GROUPS.items():
        terminal.line()
        terminal.styled(group, "bold")
        for name in members:
            terminal.line(f"  {name:<11} {command(name).HELP}")
    terminal.line()
    terminal.styled("where", "bold")
    for name, (metavar, told) in WHERE.items():
        terminal.line(f"  --{name} {metavar:<{11 - len(name)}} {told}")
    terminal.line()
    terminal.line("Try:  ctxmw demo")
    terminal.line('      ctxmw remember "Prefer early returns." --kind preference')
    terminal.line('      ctxmw inject "How should I write this function?"')
    terminal.line("ctxmw help COMMAND tells what a command takes.")

"""The `ctxmw` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__
from .errors import CtxmwError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 an error of ours, 2 wrong usage."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 0
    try:
        return _demo()
    except CtxmwError as error:
        print(f"ctxmw: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ctxmw", description="A memory for agents.")
    parser.add_argument("--version", action="version", version=f"ctxmw {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    commands.add_parser("demo", help="show the memory at work in a small story")
    return parser


def _demo() -> int:
    from . import demo

    demo.run(print)
    return 0

"""`ctxmw init`: a commented file with settings, and the entry for an MCP client."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InvalidValue
from .terminal import Terminal

HELP = "write a commented ctxmw.toml, and on request the entry for an MCP client"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="print it instead")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Write the file; one that is there stays as it is."""
    from ..config import FILE
    from ..config_text import commented

    if chosen.print:
        terminal.raw(commented())
        return 0
    path = Path.cwd() / FILE
    if path.exists() and not chosen.force:
        raise InvalidValue(f"{path} is there already: change it, or say --force.")
    path.write_text(commented(), "utf-8")
    terminal.line(f"wrote {path}; every line in it is a comment until you change it")
    return 0

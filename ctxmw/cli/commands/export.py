"""`ctxmw export`: everything of a user as JSON lines."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from ...text.cleaning import counted
from .terminal import Terminal

HELP = "write everything of a user as JSON lines"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="default: - (the pipe)")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Write the file, in its place only when it is whole."""
    from .memory import existing

    with existing(chosen) as ctx, tempfile.TemporaryDirectory(prefix="ctxmw-") as folder:
        to_pipe = chosen.file == "-"
        path = Path(folder) / "export.jsonl" if to_pipe else Path(chosen.file)
        written = ctx.export(path)
        if to_pipe:
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    terminal.raw(line)
    terminal.note(f"exported {counted(written, 'record')} of {ctx.user}")

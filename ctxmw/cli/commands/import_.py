"""`ctxmw import`: take in what an export holds."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from ...text.cleaning import counted
from .terminal import Terminal

HELP = "take in what an export holds; importing twice changes nothing more"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="default: - (the pipe)")
    parser.add_argument("--json", action="store_true", help="print the count as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Import all of it, or nothing when a line makes no sense."""
    from .memory import opened

    with tempfile.TemporaryDirectory(prefix="ctxmw-") as folder, opened(chosen) as ctx:
        path = Path(chosen.file)
        if chosen.file == "-":
            path = Path(folder) / "import.jsonl"
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        taken = ctx.import_(path)
    said = f"imported {counted(taken, 'record')} for {ctx.user}"
    terminal.told(said, {"imported": taken, "user": ctx.user}, as_json=chosen.json)

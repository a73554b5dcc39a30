"""`ctxmw import`: take in what an export holds."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from ...errors import InvalidValue
from ...text.cleaning import counted, one_line
from .terminal import Terminal

HELP = "take in an export, or what another memory or chat left; twice changes nothing more"
SOURCES = ("mem0", "langgraph", "langmem", "chroma", "llamaindex", "chatgpt", "claude")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default="-", help="a file or folder; default: - (the pipe)"
    )
    parser.add_argument("--from", dest="source", choices=SOURCES, help="default: an export of ours")
    parser.add_argument("--of", metavar="NAME", help="whose to take, where it has several users'")
    parser.add_argument(
        "--again", action="store_true", help="also what was taken before and forgotten since"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be taken")
    parser.add_argument("--json", action="store_true", help="print the count as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Import all of it, or nothing when a line makes no sense."""
    from .memory import opened

    if chosen.source is not None:
        _from_elsewhere(chosen, terminal)
        return
    if chosen.dry_run or chosen.of or chosen.again:
        raise InvalidValue(
            "--dry-run, --of and --again need --from: an export of ours has one user."
        )
    with tempfile.TemporaryDirectory(prefix="ctxmw-") as folder, opened(chosen) as ctx:
        path = Path(chosen.file)
        if chosen.file == "-":
            path = Path(folder) / "import.jsonl"
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        taken = ctx.import_(path, progress=terminal.progress())
    said = f"imported {counted(taken, 'record')} for {ctx.user}"
    terminal.told(said, {"imported": taken, "user": ctx.user}, as_json=chosen.json)


def _from_elsewhere(chosen: argparse.Namespace, terminal: Terminal) -> None:
    from dataclasses import asdict

    from .memory import opened

    if chosen.file == "-":
        raise InvalidValue(f"--from {chosen.source} needs the file or folder to import: name it.")
    with opened(chosen) as ctx:
        taken = ctx.import_from(
            chosen.source,
            chosen.file,
            of=chosen.of,
            again=chosen.again,
            dry_run=chosen.dry_run,
            progress=terminal.progress(),
        )
    if chosen.dry_run and not chosen.json:
        for text in taken.samples:
            terminal.line(f"  {one_line(text, 100)}")
    said = f"{'would import' if chosen.dry_run else 'imported'} {taken} for {ctx.user}"
    terminal.told(said, {**asdict(taken), "user": ctx.user}, as_json=chosen.json)

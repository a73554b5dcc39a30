"""`ctxmw migrate`: move everything to another store."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from ...text.cleaning import counted
from .terminal import Terminal

HELP = "move everything from one store to another, and verify it"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="a file, or postgresql://USER@HOST/DB")
    parser.add_argument("target", metavar="TARGET", help="a file, or postgresql://USER@HOST/DB")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Move every user's memory; what was moved before is not moved again."""
    from contextlib import closing

    from ...store.migration import migrate
    from ...store.open import existing_store, store_at

    with closing(existing_store(chosen.source)) as source, closing(store_at(chosen.target)) as to:
        moved = migrate(source, to, terminal.progress())
    said = (
        f"{counted(moved.users, 'user')}, {counted(moved.rows, 'record')} and "
        f"{counted(moved.blobs, 'vector')} are equal in both stores "
        f"({counted(moved.copied, 'record')} copied now, sha256 {moved.hash[:16]})"
    )
    terminal.told(said, asdict(moved), as_json=chosen.json)

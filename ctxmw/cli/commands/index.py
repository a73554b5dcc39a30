"""`ctxmw index`: know the code of a project."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ...text.cleaning import counted
from .terminal import Terminal

if TYPE_CHECKING:
    from ...code.indexer import Indexed

HELP = "know the source files of a folder, so that messages bring what they name"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", help="default: the current folder")
    parser.add_argument("--skipped", action="store_true", help="list what was left out, and why")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Index it; again, only what has changed is read."""
    from .memory import opened, settings_of

    project = settings_of(chosen).project
    with opened(chosen) as ctx:
        done = ctx.index_code(chosen.path, project=project, progress=terminal.progress())
    if chosen.json:
        names = ("project", "root", "files", "entities", "read", "moved", "gone")
        told = {name: getattr(done, name) for name in names}
        terminal.json(told | {"skipped": dict(done.skipped)})
    else:
        terminal.line(summary(done))
        for path, why in done.skipped.items() if chosen.skipped else ():
            terminal.line(f"  {path}: {why}")


def summary(done: Indexed) -> str:
    """Return one line on what indexing found."""
    changes = {"new or changed": done.read, "moved": done.moved, "gone": done.gone}
    changed = ", ".join(f"{n} {how}" for how, n in changes.items() if n) or "nothing changed"
    left = f"; {len(done.skipped)} left out (--skipped tells why)" if done.skipped else ""
    held = f"{counted(done.files, 'file')}, {counted(done.entities, 'entity')}"
    return f"{done.project}: {held}; {changed}{left}"

"""`ctxmw restore`: bring back what an agent has forgotten."""

from __future__ import annotations

import argparse

from . import DONE, NOTHING_FOUND
from .terminal import Terminal

HELP = "bring back memories that were put away, such as by an agent; without refs, list them"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="such as m3k7qza")
    parser.add_argument("--json", action="store_true", help="print the memories as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Bring them back, or list what could be."""
    from .memory import existing

    with existing(chosen) as ctx:
        if chosen.refs:
            found = [ctx.restore(ref) for ref in chosen.refs]
        else:
            found = [memory for memory in ctx.memories(everything=True) if memory.put_away]
    if chosen.json:
        terminal.json([memory.model_dump(mode="json") for memory in found])
    elif chosen.refs:
        terminal.line(f"restored: {', '.join(memory.ref for memory in found)}")
    elif found:
        rows = [
            (one.ref, one.kind, one.put_away.date() if one.put_away else "", one.text)
            for one in found
        ]
        terminal.table(("ref", "kind", "put away", "text"), rows)
    else:
        terminal.note("nothing was put away")
    return DONE if found else NOTHING_FOUND

"""`ctxmw pin`: have a memory in every conversation, or in none by itself."""

from __future__ import annotations

import argparse

from .terminal import Terminal

HELP = "have memories in every conversation, keep them out, or neither"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="+", metavar="REF", help="such as m3k7qza")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--out", action="store_true", help="it comes when searched for, and else not")
    how.add_argument("--neither", action="store_true", help="it comes by itself where it matters")
    parser.add_argument("--json", action="store_true", help="print what is pinned as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Pin them."""
    from .memory import existing

    with existing(chosen) as ctx:
        pin = ctx.keep_out if chosen.out else ctx.unpin if chosen.neither else ctx.pin
        done = [pin(ref).ref for ref in chosen.refs]
        pins = ctx.pins()
    how = (
        "kept out" if chosen.out else "neither pinned nor kept out" if chosen.neither else "pinned"
    )
    terminal.told(f"{how}: {', '.join(done)}", pins, as_json=chosen.json)

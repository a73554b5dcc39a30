"""`ctxmw usage`: what calls show often, and whether answers take it up."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from . import DONE, NOTHING_FOUND, count
from .terminal import Terminal

HELP = "list what calls show, what cost most and never came back in answers first"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, default=20, help="how many, 20 unless told")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print them as a table."""
    from .memory import existing

    with existing(chosen) as ctx:
        usage = ctx.usage()[: chosen.limit]
    if chosen.json:
        terminal.json([asdict(one) for one in usage])
    elif usage:
        terminal.table(
            ("ref", "calls", "came back", "tokens", "rated", "kind", "title"),
            [
                (
                    one.ref,
                    one.calls,
                    one.came_back,
                    one.tokens,
                    f"+{one.helped} -{one.did_not}",
                    one.kind,
                    one.title,
                )
                for one in usage
            ],
        )
        terminal.note("ctxmw forget REF removes one; nothing is removed by itself")
    else:
        terminal.note("no call was answered yet")
    return DONE if usage else NOTHING_FOUND

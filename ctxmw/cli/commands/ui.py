"""`ctxmw ui`: look at the memory in a browser."""

from __future__ import annotations

import argparse
import webbrowser

from . import port
from .terminal import Terminal
from .until_told import until_told

HELP = "look at conversations and memories in a browser, on this machine only"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=port, default=0, help="default: any that is free")
    parser.add_argument("--open", action="store_true", help="open the browser too")


# From the first line: a signal may come while much is still to be imported.
@until_told()
def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Serve the pages until interrupted."""
    from ...ui import serve
    from .memory import existing

    def ready(address: str) -> None:
        terminal.line(address)
        terminal.note("Ctrl+C ends it. Whoever has this address can read and change the memory.")
        terminal.flush()
        if chosen.open:
            webbrowser.open(address)

    with existing(chosen) as ctx:
        serve(ctx, port=chosen.port, ready=ready)

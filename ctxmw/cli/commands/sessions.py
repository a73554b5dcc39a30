"""`ctxmw sessions`: the conversations."""

from __future__ import annotations

import argparse

from ...errors import NotFound
from . import DONE, NOTHING_FOUND, count
from .terminal import Terminal

HELP = "list conversations, the one used last first"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, default=20, help="how many at most; default: 20")
    parser.add_argument("--end", metavar="ID", help="end this conversation")
    parser.add_argument("--summary", default="", help="what it was about; opens the next ones")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """List them, or end one."""
    from .memory import existing

    with existing(chosen) as ctx:
        if chosen.end is not None:
            if chosen.end not in {state.session for state in ctx.sessions()}:
                raise NotFound(f"there is no conversation {chosen.end!r}: see ctxmw sessions.")
            ctx.session(chosen.end).end(chosen.summary)
            terminal.line(f"ended: {chosen.end}")
            return DONE
        states = [
            state
            for state in ctx.sessions()
            if chosen.project is None or state.project == chosen.project
        ][: chosen.limit]
    if chosen.json:
        about = {"session", "project", "language", "opened", "at", "ended", "epoch"}
        terminal.json([state.model_dump(mode="json", include=about) for state in states])
    elif states:
        rows = [
            (
                state.at.strftime("%Y-%m-%d %H:%M"),
                state.project or "-",
                "ended" if state.ended else "open",
                state.session,
            )
            for state in states
        ]
        terminal.table(("last used", "project", "state", "session"), rows)
    else:
        terminal.note("there are no conversations yet")
    return DONE if states else NOTHING_FOUND

"""`ctxmw history`: what the model calls of a conversation were given."""

from __future__ import annotations

import argparse

from ...errors import NotFound
from . import DONE, NOTHING_FOUND
from .terminal import Terminal

HELP = "show what each model call of a conversation was given"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="its id; default: the one used last")
    parser.add_argument("--explain", action="store_true", help="what was considered, and why")
    parser.add_argument("--text", action="store_true", help="the blocks as they were sent")
    parser.add_argument("--json", action="store_true", help="print the records as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print the calls, the oldest first."""
    from .memory import existing

    with existing(chosen) as ctx:
        states = ctx.sessions()
        known = [state.session for state in states]
        if chosen.session is not None and chosen.session not in known:
            raise NotFound(f"there is no conversation {chosen.session!r}: see ctxmw sessions.")
        name = chosen.session or next(iter(known), None)
        records = ctx.session(name).history() if name else []
    if chosen.json:
        told = [
            record.model_dump(mode="json") | {"summary": record.summary(), "text": record.text}
            for record in records
        ]
        terminal.json(told)
    elif not records:
        terminal.note("no call was recorded yet")
    for record in () if chosen.json else records:
        when = record.at.strftime("%Y-%m-%d %H:%M")
        terminal.styled(f"{when}  {record.ref}  {record.state}", "bold")
        terminal.line(record.explain() if chosen.explain else record.summary())
        if chosen.text:
            terminal.line(record.text)
    return DONE if records else NOTHING_FOUND

"""`ctxmw collect`: leave something for the next call of a conversation."""

from __future__ import annotations

import argparse

from ...values.clocks import span
from ...values.items import PRIORITIES
from . import a_while
from .terminal import Terminal

HELP = "leave something for the next call of a conversation; it is shown once"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", help="who says it, such as lint")
    parser.add_argument("id", nargs="?", help="what it is about; the same again replaces it")
    parser.add_argument("text", nargs="*", help="what to say; from the pipe when left out")
    parser.add_argument(
        "--session", metavar="ID", help="the conversation; default: the project's of this day"
    )
    parser.add_argument(
        "--priority", default="normal", choices=tuple(PRIORITIES), help="default: normal"
    )
    parser.add_argument("--hours", type=a_while, default=24, help="how long it waits; default: 24")
    parser.add_argument("--untrusted", action="store_true", help="a stranger's words")
    parser.add_argument("--clear", action="store_true", help="discard what waits")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Leave it; without a source, list what waits."""
    from .memory import conversation, opened, text_from, today

    with opened(chosen) as ctx:
        chat = conversation(ctx, chosen, chosen.session or today(chosen, ctx))
        if chosen.clear:
            terminal.line(f"discarded: {chat.clear()}")
            return
        if chosen.source is None:
            entries = chat.pending()
        else:
            about = chosen.id or chosen.source
            entry = chat.collect(
                chosen.source,
                about,
                text_from(chosen.text, "text"),
                priority=chosen.priority,
                lifetime=span(hours=chosen.hours),
                trust="untrusted" if chosen.untrusted else "trusted",
            )
            entries = [entry]
    if chosen.json:
        terminal.json([entry.model_dump(mode="json") for entry in entries])
    for entry in () if chosen.json else entries:
        terminal.line(f"{entry.ref}  {entry.priority}  {entry.source}:{entry.name}  {entry.text}")
    if not entries:
        terminal.note(f"nothing waits in {chat.id}")

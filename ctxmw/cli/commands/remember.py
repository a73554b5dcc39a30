"""`ctxmw remember`: keep a text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ...errors import InvalidValue
from ...values.records import MEMORY_KINDS
from .terminal import Terminal

if TYPE_CHECKING:
    from ...middleware import ContextMiddleware

METADATA = "kept beside it, to filter by; may be given again"
HELP = "keep a preference, decision or fact"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="what to remember; from the pipe when left out")
    parser.add_argument("--kind", default="fact", choices=MEMORY_KINDS, help="default: fact")
    parser.add_argument(
        "--scope",
        default="universal",
        help="universal (the default), language:NAME or project:NAME; "
        "`language` and `project` alone mean those of the current folder",
    )
    parser.add_argument("--key", default="", help="takes the place of what had this key before")
    parser.add_argument("--since", metavar="DATE", help="the first day on which it holds")
    parser.add_argument("--until", metavar="DATE", help="the last day on which it holds")
    parser.add_argument("--metadata", action="append", metavar="NAME=VALUE", help=METADATA)
    parser.add_argument("--source", default="user", help="who says so; default: user")
    parser.add_argument(
        "--untrusted", action="store_true", help="a stranger's words: never in the system prompt"
    )
    parser.add_argument("--lines", action="store_true", help="every line is one to remember")
    parser.add_argument("--json", action="store_true", help="print the records as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Remember it and print its ref."""
    from .memory import day_from, metadata_from, opened, text_from

    said = text_from(chosen.text, "text to remember")
    texts = [line for line in said.splitlines() if line.strip()] if chosen.lines else [said]
    with opened(chosen) as ctx:
        kept = [
            ctx.remember(
                text,
                kind=chosen.kind,
                scope=_scope(chosen, ctx),
                key=chosen.key,
                since=day_from(chosen.since, "--since"),
                until=day_from(chosen.until, "--until"),
                metadata=metadata_from(chosen.metadata) or None,
                source=chosen.source,
                trust="untrusted" if chosen.untrusted else "trusted",
            )
            for text in texts
        ]
    if chosen.json:
        terminal.json([memory.model_dump(mode="json") for memory in kept])
    for memory in () if chosen.json else kept:
        again = f" (said {memory.seen} times)" if memory.seen > 1 else ""
        terminal.line(f"{memory.ref}  {memory.kind}, {memory.scope}{again}")


def _scope(chosen: argparse.Namespace, ctx: ContextMiddleware) -> str:
    if chosen.scope not in ("project", "language"):
        return str(chosen.scope)
    from .memory import here

    name = getattr(here(chosen, ctx), chosen.scope)
    if name is None:
        raise InvalidValue(
            f"there is no {chosen.scope} in the current folder: say --scope {chosen.scope}:NAME."
        )
    return f"{chosen.scope}:{name}"

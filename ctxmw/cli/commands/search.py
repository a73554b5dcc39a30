"""`ctxmw search`: what was remembered or said."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from . import DONE, NOTHING_FOUND, count
from .terminal import Terminal

if TYPE_CHECKING:
    from ...middleware import ContextMiddleware

HELP = "find what was remembered or said, best first"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", help="what to look for; from the pipe when left out")
    parser.add_argument("--limit", type=count, default=10, help="how many at most; default: 10")
    parser.add_argument("--tokens", type=count, help="as many as fit, in the order to be read")
    parser.add_argument(
        "--kind", action="append", default=[], help="only this kind; may be given again"
    )
    parser.add_argument("--scope", help="only this scope, such as project:shop")
    parser.add_argument("--since", metavar="DATE", help="only from this day on, such as 2026-05-17")
    parser.add_argument(
        "--metadata", action="append", metavar="NAME=VALUE", help="only memories that have it"
    )
    parser.add_argument("--as-of", metavar="DATE", help="as it would have been found on this day")
    parser.add_argument("--code", action="store_true", help="find code of this project instead")
    parser.add_argument("--why", action="store_true", help="say why each was found")
    parser.add_argument("--json", action="store_true", help="print records and scores as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print what is found."""
    from .memory import day_from, existing, metadata_from, moment_from, text_from

    query = text_from(chosen.query, "query")
    with existing(chosen) as ctx:
        if chosen.code:
            return _code(ctx, query, chosen, terminal)
        hits = ctx.search(
            query,
            limit=chosen.limit,
            budget=chosen.tokens,
            kinds=chosen.kind,
            scope=chosen.scope,
            since=moment_from(chosen.since),
            metadata=metadata_from(chosen.metadata),
            as_of=day_from(chosen.as_of, "--as-of"),
        )
    if chosen.json:
        found = [
            {
                "ref": hit.ref,
                "score": hit.score,
                "why": hit.why,
                "text": hit.text,
                "type": hit.record.type,
                "past": hit.past,
                "record": hit.record.model_dump(mode="json"),
            }
            for hit in hits
        ]
        terminal.json(found)
    elif hits:
        last = "why" if chosen.why else "text"
        rows = [
            (
                hit.ref,
                f"{hit.score:.2f}",
                _kind(hit.record) + (" (past)" if hit.past else ""),
                hit.record.at.date(),
                getattr(hit, last),
            )
            for hit in hits
        ]
        terminal.table(("ref", "score", "kind", "date", last), rows)
    else:
        terminal.note(f"nothing was found for {query[:80]!r}")
    return DONE if hits else NOTHING_FOUND


def _code(
    ctx: ContextMiddleware, query: str, chosen: argparse.Namespace, terminal: Terminal
) -> int:
    from .memory import conversation

    terminal.line(conversation(ctx, chosen).on_demand.code(query, counted=False).rstrip())
    return DONE


def _kind(record: object) -> str:
    return str(getattr(record, "kind", getattr(record, "type", "")))

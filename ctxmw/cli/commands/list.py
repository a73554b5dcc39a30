"""`ctxmw list`: the memories that hold."""

from __future__ import annotations

import argparse

from ...values.records import MEMORY_KINDS
from . import DONE, NOTHING_FOUND, count
from .terminal import Terminal

HELP = "list the memories that hold, what was said last first"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="only those with all of these words")
    parser.add_argument("--kind", choices=MEMORY_KINDS, help="only this kind")
    parser.add_argument("--scope", help="only this scope, such as project:shop")
    parser.add_argument("--source", help="only what this source said, such as user or agent")
    parser.add_argument("--since", metavar="DATE", help="only from this day on, such as 2026-05-17")
    parser.add_argument(
        "--metadata", action="append", metavar="NAME=VALUE", help="only those that have it"
    )
    parser.add_argument("--limit", type=count, default=50, help="how many at most; default: 50")
    parser.add_argument(
        "--everything", action="store_true", help="also what has run out or was put away"
    )
    parser.add_argument("--json", action="store_true", help="print the memories as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print them, and how each is pinned."""
    from .memory import existing, metadata_from, moment_from

    with existing(chosen) as ctx:
        found = ctx.memories(
            kind=chosen.kind,
            scope=chosen.scope,
            text=" ".join(chosen.text) or None,
            source=chosen.source,
            since=moment_from(chosen.since),
            metadata=metadata_from(chosen.metadata),
            everything=chosen.everything,
            limit=chosen.limit,
        )
        pins = ctx.pins()
    if chosen.json:
        pinned = [{"pinned": pins.get(one.ref, "")} for one in found]
        dumped = [one.model_dump(mode="json") for one in found]
        terminal.json([{**one, **pin} for one, pin in zip(dumped, pinned, strict=True)])
    elif found:
        marks = {"shown": " (pinned)", "kept_out": " (kept out)"}
        rows = [
            (
                one.ref,
                one.kind + marks.get(pins.get(one.ref, ""), ""),
                one.scope,
                one.at.date(),
                one.text,
            )
            for one in found
        ]
        terminal.table(("ref", "kind", "scope", "date", "text"), rows)
    else:
        terminal.note("no memory fits")
    return DONE if found else NOTHING_FOUND

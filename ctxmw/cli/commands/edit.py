"""`ctxmw edit`: put another text in a memory's place."""

from __future__ import annotations

import argparse

from ...values.records import MEMORY_KINDS
from .terminal import Terminal

HELP = "put another text in a memory's place; the old one is kept as history"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help="such as m3k7qza")
    parser.add_argument("text", nargs="*", help="the new text; from the pipe when left out")
    parser.add_argument("--kind", choices=MEMORY_KINDS, help="default: as it was")
    parser.add_argument("--scope", help="default: as it was")
    parser.add_argument("--json", action="store_true", help="print the memory as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Edit it and print its new ref."""
    from .memory import existing, text_from

    text = text_from(chosen.text, "text")
    with existing(chosen) as ctx:
        new = ctx.edit(chosen.ref, text, kind=chosen.kind, scope=chosen.scope)
    said = f"{new.ref}  {new.kind}, {new.scope}"
    terminal.told(said, new.model_dump(mode="json"), as_json=chosen.json)

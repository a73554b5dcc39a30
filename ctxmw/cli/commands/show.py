"""`ctxmw show`: one record in full."""

from __future__ import annotations

import argparse
from typing import Any

from ...errors import NotFound
from .terminal import Terminal

HELP = "show records in full, or what a model call was given and why"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="+", metavar="REF", help="such as m3k7qza; c... for a call")
    parser.add_argument("--versions", action="store_true", help="older versions of a memory too")
    parser.add_argument("--json", action="store_true", help="print the records as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Print each of them; a ref that nothing has is an error."""
    from .memory import existing

    with existing(chosen) as ctx:
        found: list[Any] = []
        for ref in chosen.refs:
            records = ctx.get([ref])
            if records and chosen.versions and records[0].type == "memory":
                found += ctx.versions(ref)
            elif records:
                found += records
            elif (call := ctx.why(ref)) is not None:
                found.append(call)
            else:
                raise NotFound(f"there is no record {ref!r}: see ctxmw search.")
    if chosen.json:
        terminal.json([record.model_dump(mode="json") for record in found])
    for record in () if chosen.json else found:
        _print(record, terminal)


def _print(record: Any, terminal: Terminal) -> None:
    if record.type == "context":
        terminal.styled(f"{record.ref}  {record.session}  {record.at:%Y-%m-%d %H:%M}", "bold")
        terminal.line(record.explain())
        terminal.line()
        terminal.line(record.text)
        return
    kind = getattr(record, "kind", record.type)
    said = f"{record.ref}  {kind}, {record.scope}, {record.at:%Y-%m-%d %H:%M}"
    terminal.styled(said, "bold")
    fields = record.model_dump(mode="json", exclude={"user", "ref", "at", "scope", "text", "kind"})
    told = {name: value for name, value in fields.items() if value not in ("", [], 0, None)}
    terminal.styled(", ".join(f"{name} {value}" for name, value in told.items()), "dim")
    terminal.line(record.says())
    terminal.line()

"""`ctxmw retention`: what is removed by its age, and what was."""

from __future__ import annotations

import argparse

from .terminal import Terminal

HELP = "show how long records are kept, what has come of age, and what was removed"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="remove now what has come of age")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Remove what has come of age, or only tell; then print the receipts."""
    from .memory import existing, settings_of

    kept = settings_of(chosen).retention.ages()
    with existing(chosen) as ctx:
        if chosen.apply:
            ctx.apply_retention()
        due, receipts = ctx.of_age(), ctx.receipts()
    if chosen.json:
        days = {type_: age.total_seconds() / 86_400 for type_, age in kept.items()}
        told = [receipt.model_dump(mode="json") for receipt in receipts]
        terminal.json({"days": days, "due": due, "receipts": told})
        return 0
    if not kept:
        terminal.note("everything is kept until it is forgotten: see [retention] in the settings")
    for type_, age in kept.items():
        terminal.line(f"{type_}: kept for {age.days} days, {due.get(type_, 0)} to be removed")
    rows = [(receipt.at.strftime("%Y-%m-%d %H:%M"), receipt, receipt.ref) for receipt in receipts]
    if rows:
        terminal.table(("removed", "what", "receipt"), rows)
    return 0

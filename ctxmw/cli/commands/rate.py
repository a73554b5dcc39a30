"""`ctxmw rate`: say whether what a call was shown has helped."""

from __future__ import annotations

import argparse

from . import DONE
from .terminal import Terminal

HELP = "say whether what a model call was shown has helped"
_WORDS = {"up": 1, "down": -1, "none": 0}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", help="the call's id in ctxmw history, or the id of its answer")
    parser.add_argument("ref", nargs="?", help="what of it; default: the whole call")
    what = parser.add_mutually_exclusive_group(required=True)
    for name, about in (
        ("up", "it helped"),
        ("down", "it did not"),
        ("none", "take back what was said"),
    ):
        what.add_argument(
            f"--{name}", action="store_const", const=_WORDS[name], dest="value", help=about
        )
    what.add_argument("--missing", default="", metavar="TEXT", help="what should have been there")
    parser.add_argument("--note", default="", metavar="TEXT", help="why, for people to read")
    parser.add_argument("--json", action="store_true", help="print the rating as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Keep it, and say what it is about."""
    from .memory import existing

    with existing(chosen) as ctx:
        rated = ctx.rate(
            chosen.record, chosen.ref, chosen.value, note=chosen.note, missing=chosen.missing
        )
    about = rated.about or "the whole call"
    kept = "what was missing is written down; nothing in memory says it"
    terminal.told(
        f"{rated.ref}: "
        + (kept if rated.missing and not rated.about else f"{about} {rated.value:+d}"),
        rated.model_dump(mode="json"),
        as_json=chosen.json,
    )
    return DONE

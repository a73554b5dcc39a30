"""`ctxmw notice`: tell open conversations what is done in an editor."""

from __future__ import annotations

import argparse
from typing import get_args

from ...workspace.activity import ActivityType
from .terminal import Terminal

HELP = "tell open conversations what is done in an editor"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("type", choices=get_args(ActivityType), help="what was done")
    parser.add_argument("path", nargs="?", default="", help="the file, as seen from the project")
    parser.add_argument(
        "--symbol", action="append", default=[], help="what changed in it, or is looked at"
    )


def run(chosen: argparse.Namespace, _: Terminal) -> None:
    """Tell every conversation of the project; editors call this often, so it prints nothing."""
    from .memory import here, opened

    activity = {"type": chosen.type, "path": chosen.path, "symbols": chosen.symbol}
    with opened(chosen) as ctx:
        ctx.notice(activity, project=here(chosen, ctx).project)

"""`ctxmw watch`: saves of source files are activity."""

from __future__ import annotations

import argparse

from .terminal import Terminal
from .until_told import until_told

HELP = "index a folder and take every save in it as an activity, until interrupted"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", help="default: the current folder")


# From the first line: a signal may come while much is still to be imported.
@until_told()
def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Watch until told to end."""
    from .index import summary
    from .memory import opened, settings_of

    project = settings_of(chosen).project
    with opened(chosen) as ctx, ctx.watch(chosen.path, project=project) as watch:
        if watch.indexed is not None:
            terminal.line(summary(watch.indexed))
        terminal.note("watching (Ctrl-C ends it)")
        terminal.flush()
        watch.wait()

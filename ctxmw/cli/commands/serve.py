"""`ctxmw serve`: keep the memory open, so that hooks are answered at once."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING

from . import a_while
from .terminal import Terminal
from .until_told import until_told

if TYPE_CHECKING:
    from ..resident.listener import Listener

HELP = "keep the memory open and answer `ctxmw inject` at once, until interrupted"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--idle", type=a_while, metavar="MINUTES", help="end when nobody asked for so long"
    )


# From the first line: a signal may come while much is still to be imported.
@until_told()
def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Answer until told to end."""
    from pathlib import Path

    from ..resident.injected import injections
    from ..resident.listener import Listener
    from .memory import opened, settings_of

    settings = settings_of(chosen)
    with opened(chosen, index_folders=settings.index_folders) as ctx:
        # The first look reads what is known of the folder; nobody has to wait for it later.
        ctx.session(cwd=Path.cwd(), project=settings.project).peek(
            [{"role": "user", "content": "What is in this project?"}]
        )
        with Listener(injections(ctx, settings)) as listener:
            terminal.note("hooks are answered (Ctrl-C ends it)")
            with suppress(KeyboardInterrupt):  # that is how a server is ended
                _wait(listener, chosen.idle)


def _wait(listener: Listener, minutes: float | None) -> None:
    import threading
    from time import monotonic

    never = threading.Event()
    while minutes is None or (left := listener.asked + 60 * minutes - monotonic()) > 0:
        never.wait(None if minutes is None else left)

"""`ctxmw demo`: the memory at work in a small story."""

from __future__ import annotations

import argparse

from .terminal import Terminal

HELP = "show the memory at work in a small story; nothing is kept"


def options(_: argparse.ArgumentParser) -> None:
    """It takes nothing."""


def run(_: argparse.Namespace, terminal: Terminal) -> None:
    """Tell the story."""
    from .. import demo

    demo.run(terminal.line)

"""`ctxmw hook`: what a coding assistant runs at its hooks."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from . import DONE, FAILED
from .terminal import Terminal

HELP = "answer a hook of a coding assistant, as `ctxmw init --client` sets it up"
CLIENTS = ("claude-code", "cursor", "gemini", "vscode")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=CLIENTS, help="who asks")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print what the client is to read, if anything.

    It never ends with 2: to a client that means that the person may not go on.
    """
    from ...errors import CtxmwError
    from ..resident.caller import ask

    try:
        question = _question(chosen)
        answer = ask(question)
        if answer is None:
            answer = _acted_here(chosen, question)
    except (CtxmwError, OSError) as error:
        terminal.error(str(error))
        return FAILED
    if answer:
        terminal.raw(f"{answer}\n")
    return DONE


def _question(chosen: argparse.Namespace) -> dict[str, Any]:
    from ...errors import InvalidValue
    from ..resident.caller import whereabouts

    try:
        told = json.loads(sys.stdin.buffer.read())
    except ValueError as error:
        raise InvalidValue(f"the input is no JSON ({error}): a hook's client sends it.") from error
    if not isinstance(told, dict):
        raise InvalidValue("the input is no JSON object: a hook's client sends one.")
    where = whereabouts()
    # The client knows better than the shell it starts where the work is.
    folder = told.get("cwd")
    if isinstance(folder, str) and folder:
        where["folder"] = folder
    named = {name: getattr(chosen, name) for name in ("store", "user", "project", "config")}
    return {"hook": told, "client": chosen.client, **named, **where}


def _acted_here(chosen: argparse.Namespace, question: dict[str, Any]) -> str:
    from ..resident.hooks import Hooks, read_moment
    from ..resident.injected import asked_settings
    from .memory import opened

    moment = read_moment(question["hook"], question["folder"])
    with opened(chosen) as ctx:
        return Hooks(ctx).answer(moment, question["client"], asked_settings(question))

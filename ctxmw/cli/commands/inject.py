"""`ctxmw inject`: what a message would bring into a prompt."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ...errors import InvalidValue
from .terminal import Terminal

HELP = "print what a message brings into a prompt"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", nargs="*", help="what the user says; from the pipe if left out")
    parser.add_argument(
        "--messages",
        metavar="FILE",
        help='a JSON list of {"role", "content"} instead; - is the pipe',
    )
    parser.add_argument(
        "--session",
        metavar="ID",
        help="go on with this conversation and record the call; without, nothing is written",
    )
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="new tokens at most")
    parser.add_argument("--file", action="append", default=[], help="a file in play")
    parser.add_argument(
        "--only",
        choices=("stable", "turn"),
        help="the block that opens the system prompt, or what this message brings",
    )
    parser.add_argument("--explain", action="store_true", help="say what was considered, and why")
    parser.add_argument(
        "--json", action="store_true", help="print messages, block and record as JSON"
    )


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Print the block; nothing when nothing is known that matters.

    A process that serves this memory is asked; without one, the memory is opened here.
    """
    from ..resident.caller import ask

    question = _question(chosen)
    answer = ask(question)
    if answer is None:
        answer = _found_here(chosen, question)
    if chosen.json:
        terminal.raw(f"{answer}\n")
    elif answer:
        terminal.line(answer)


def _question(chosen: argparse.Namespace) -> dict[str, Any]:
    from ..resident.caller import whereabouts

    named = ("session", "budget", "only", "store", "user", "project", "config")
    return {
        "messages": _messages(chosen),
        "files": chosen.file,
        "form": "json" if chosen.json else "explain" if chosen.explain else None,
        **{name: getattr(chosen, name) for name in named},
        **whereabouts(),
    }


def _found_here(chosen: argparse.Namespace, question: dict[str, Any]) -> str:
    from ..resident.injected import injected
    from .memory import existing, opened, settings_of

    with (opened if chosen.session else existing)(chosen) as ctx:
        return injected(ctx, settings_of(chosen), question)


def _messages(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    from .memory import text_from

    if chosen.messages is None:
        return [{"role": "user", "content": text_from(chosen.message, "message")}]
    if chosen.message:
        raise InvalidValue("there is a message and --messages: give one of them.")
    piped = chosen.messages == "-"
    data = sys.stdin.buffer.read() if piped else Path(chosen.messages).read_bytes()
    try:
        return list(json.loads(data))
    except (ValueError, TypeError) as error:
        raise InvalidValue(
            f"{chosen.messages} is no JSON list of messages: {error}. "
            'It must look like [{"role": "user", "content": "..."}].'
        ) from error

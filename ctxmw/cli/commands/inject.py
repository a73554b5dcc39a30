"""`ctxmw inject`: what a message would bring into a prompt."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValue
from .terminal import Terminal

if TYPE_CHECKING:
    from ...conversation.conversation import Prepared
    from ...conversation.record import ContextRecord

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
    """Print the block; nothing when nothing is known that matters."""
    from ...values.budget import Budget
    from .memory import conversation, existing, opened

    messages = _messages(chosen)
    budget = {"budget": Budget(total=chosen.budget)} if chosen.budget is not None else {}
    with (opened if chosen.session else existing)(chosen) as ctx:
        chat = conversation(ctx, chosen, chosen.session, files=chosen.file, **budget)
        prepared = chat.prepare(messages) if chosen.session else chat.peek(messages)
    if chosen.json:
        terminal.json(_as_json(prepared))
    elif chosen.explain:
        terminal.line(prepared.context.explain())
    elif block := _block(prepared.context, chosen.only):
        terminal.line(block.removesuffix("\n"))


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


def _block(context: ContextRecord, only: str | None) -> str:
    texts = {"stable": context.stable, "turn": context.part, None: context.text}
    return texts[only]


def _as_json(prepared: Prepared) -> dict[str, Any]:
    context = prepared.context
    return {
        "messages": prepared.messages,
        "stable": context.stable,
        "turn": context.part,
        "tokens": context.tokens,
        "limit": context.limit,
        "summary": context.summary(),
        "tools": list(prepared.tools),
        "used": [used.stored() | {"title": used.title} for used in context.used],
        "left_out": context.left_out,
        "degraded": context.degraded,
    }

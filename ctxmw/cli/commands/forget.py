"""`ctxmw forget`: remove records for good."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import InvalidValue, NotFound
from . import DONE, FAILED
from .terminal import Terminal

if TYPE_CHECKING:
    from ...middleware import ContextMiddleware

HELP = "remove records and every copy of them"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="such as m3k7qza: see search")
    parser.add_argument("--source", help="everything of this source")
    parser.add_argument("--session", metavar="ID", help="everything of this conversation")
    parser.add_argument("--everything", action="store_true", help="all there is of the user")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print the count as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Forget what is named, after a question when it is more than single records."""
    from .memory import existing

    many = {"source": chosen.source, "session": chosen.session}
    given = {name: value for name, value in many.items() if value is not None}
    if len(given) + bool(chosen.refs) + chosen.everything != 1:
        raise InvalidValue("say what to forget: refs, or --source, or --session, or --everything.")
    with existing(chosen) as ctx:
        if chosen.refs:
            gone = _each(ctx, chosen.refs)
        else:
            user = chosen.user or ctx.user or ""
            what = "everything" if chosen.everything else _named(given)
            if not _is_sure(chosen, terminal, f"Forget {what} of the user {user!r}?"):
                terminal.error("nothing was forgotten.")
                return FAILED
            gone = ctx.forget(user=user, **given)
    terminal.told(f"forgotten: {gone}", {"forgotten": gone}, as_json=chosen.json)
    return DONE


def _each(ctx: ContextMiddleware, refs: list[str]) -> int:
    if missing := [ref for ref in refs if not ctx.get([ref])]:
        named = ", ".join(map(repr, missing))
        raise NotFound(f"there is no record {named}: see ctxmw search. Nothing was forgotten.")
    gone = 0
    for ref in refs:
        with suppress(NotFound):  # it went with one before it
            gone += ctx.forget(ref)
    return gone


def _named(given: dict[str, str]) -> str:
    return " and ".join(f"all of the {name} {value!r}" for name, value in given.items())


def _is_sure(chosen: argparse.Namespace, terminal: Terminal, question: str) -> bool:
    if not chosen.yes and not terminal.is_watched:
        raise InvalidValue(f"{question} Nobody is here to ask: say --yes.")
    return chosen.yes or terminal.confirmed(question)

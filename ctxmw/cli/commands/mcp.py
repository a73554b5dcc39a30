"""`ctxmw mcp`: the memory for editors and assistants."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import threading
import tomllib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValue, MissingPackage
from . import port
from .terminal import Terminal
from .until_told import until_told

if TYPE_CHECKING:
    from ...middleware import ContextMiddleware
    from ...workspace.project import Place

HELP = "serve the memory to editors and assistants by the Model Context Protocol"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--http", action="store_true", help="over HTTP instead of a pipe")
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, this machine only")
    parser.add_argument("--port", type=port, default=8765, help="default: 8765")
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--token", help="the bearer token that clients must send; also CTXMW_TOKEN; default: made"
    )
    who.add_argument(
        "--tokens", metavar="FILE", help='many users: TOML with lines such as ada = "TOKEN"'
    )
    who.add_argument(
        "--no-token", action="store_true", help="let in whoever is on this machine; loopback only"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], help="another host that clients may ask for"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], help="a site whose pages may connect"
    )
    parser.add_argument(
        "--untrusted",
        action="store_true",
        help="what clients remember is a stranger's words: never in the system prompt",
    )
    parser.add_argument(
        "--capture",
        action="store_true",
        help="give the model a tool to hand over what was said, for clients that do not",
    )
    parser.add_argument(
        "--while-piped",
        action="store_true",
        help="with --http: end when standard input does, as when the program that began it is gone",
    )


# From the first line: a signal may come while much is still to be imported.
@until_told()
def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Serve until the client goes away, or until told to end."""
    try:
        from ctxmw_mcp import run_http, run_stdio
    except MissingPackage:
        raise
    except ImportError as error:
        raise MissingPackage('ctxmw mcp needs a package: pip install "ctxmw[mcp]"') from error
    from ..resident.injected import injections
    from ..resident.listener import Listener
    from .memory import here, settings_of

    settings = settings_of(chosen)
    if not chosen.http:
        # Its own look at the folder goes on as long as it serves.
        with settings.open(index_folders=False) as ctx:
            place = here(chosen, ctx)
            hooks = Listener(injections(ctx, settings))
            with _code_kept(ctx, place, settings.index_folders), hooks:
                run_stdio(ctx, **_about(chosen, place))
        return
    tokens = _tokens(chosen, settings.user, terminal)
    # With tokens nobody is the user unless a token says so.
    whose = {} if tokens is None else {"user": None}
    with settings.open(**whose) as ctx:
        where = f"http://{chosen.host}:{chosen.port}/mcp"
        if chosen.while_piped:
            _end_with_input()
        run_http(
            ctx,
            tokens=tokens,
            host=chosen.host,
            port=chosen.port,
            allow_hosts=chosen.allow_host,
            allow_origins=chosen.allow_origin,
            ready=lambda: terminal.note(f"serving on {where} (Ctrl-C ends it)"),
            **_about(chosen, here(chosen, ctx)),
        )


def _about(chosen: argparse.Namespace, place: Place) -> dict[str, Any]:
    return {
        "project": place.project,
        "language": place.language,
        # What stands in a folder of this machine is not for whoever has a token.
        "cwd": None if chosen.tokens else Path.cwd(),
        "trust": "untrusted" if chosen.untrusted else "trusted",
        "capture": chosen.capture,
    }


def _end_with_input() -> None:
    """Tell this process to end when nobody is left at the other side of standard input."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="ctxmw-piped", daemon=True).start()


def _code_kept(
    ctx: ContextMiddleware, place: Place, wanted: bool
) -> AbstractContextManager[object]:
    """Return what keeps the code of the project at hand known; nothing outside of a project."""
    if place.root is None or place.project is None or not wanted:
        return nullcontext()
    return ctx.keep_code(place.root, project=place.project)


def _tokens(chosen: argparse.Namespace, user: str, terminal: Terminal) -> dict[str, str] | None:
    """Return whose each token is; None when none is asked for."""
    if chosen.no_token:
        return None
    if chosen.tokens:
        return _read(Path(chosen.tokens))
    token = chosen.token or os.environ.get("CTXMW_TOKEN")
    if not token:
        token = secrets.token_urlsafe(32)
        terminal.note(f"clients must send: Authorization: Bearer {token}")
    return {token: user}


def _read(path: Path) -> dict[str, str]:
    try:
        users = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue(f"{path} is not valid TOML: {error}.") from error
    wrong = [user for user, token in users.items() if not isinstance(token, str)]
    if wrong or not users:
        raise InvalidValue(f'{path} must have a line such as ada = "TOKEN" for each user.')
    if len(set(users.values())) < len(users):
        raise InvalidValue(f"{path} gives one token to several users: give each their own.")
    return {token: user for user, token in users.items()}

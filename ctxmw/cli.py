"""The `ctxmw` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from . import __version__
from .errors import CtxmwError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 an error of ours, 2 wrong usage."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return 0
    try:
        run: Callable[[argparse.Namespace], int] = chosen.run
        return run(chosen)
    except CtxmwError as error:
        print(f"ctxmw: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ctxmw", description="A memory for agents.")
    parser.add_argument("--version", action="version", version=f"ctxmw {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    demo = commands.add_parser("demo", help="show the memory at work in a small story")
    demo.set_defaults(run=_demo)
    reindex = commands.add_parser("reindex", help="embed everything anew after a change of model")
    reindex.add_argument("--store", help="the memory's file; default: in the data folder")
    reindex.add_argument("--user", default="local", help="whose records (default: local)")
    reindex.add_argument("--embedder", default="wordllama", help="default: wordllama")
    reindex.add_argument("--index", default="numpy", help="numpy, chroma or chroma://HOST:PORT")
    reindex.set_defaults(run=_reindex)
    return parser


def _demo(_: argparse.Namespace) -> int:
    from . import demo

    demo.run(print)
    return 0


def _reindex(chosen: argparse.Namespace) -> int:
    from .middleware import ContextMiddleware

    options = {"user": chosen.user, "embedder": chosen.embedder, "index": chosen.index}
    with ContextMiddleware.open(chosen.store, **options) as ctx:
        done = ctx.reindex(progress=_bar if sys.stderr.isatty() else None)
    print(f"embedded {done} records of {chosen.user} with {chosen.embedder}")
    return 0


def _bar(done: int, total: int) -> None:
    filled = 30 * done // max(1, total)
    end = "\n" if done == total else ""
    line = f"\r[{'#' * filled}{'.' * (30 - filled)}] {done}/{total}"
    print(line, end=end, file=sys.stderr, flush=True)

"""`ctxmw reindex`: embed everything anew."""

from __future__ import annotations

import argparse

from ...text.cleaning import counted
from .terminal import Terminal

HELP = "embed everything anew after a change of model"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--embedder",
        default="wordllama",
        help="wordllama (the default), minilm, or MODULE:NAME of an embedder or of what makes one",
    )
    parser.add_argument(
        "--index",
        default="numpy",
        help="numpy (the default), chroma, chroma://HOST:PORT or pgvector",
    )
    parser.add_argument("--json", action="store_true", help="print the count as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Embed every record of the user."""
    from ...search.vectors.embedders import embedder_at
    from .memory import existing

    with existing(chosen, embedder=embedder_at(chosen.embedder), index=chosen.index) as ctx:
        done = ctx.reindex(progress=terminal.progress())
        user = ctx.user
    said = f"embedded {counted(done, 'record')} of {user} with {chosen.embedder}"
    about = {"embedded": done, "user": user, "embedder": chosen.embedder}
    terminal.told(said, about, as_json=chosen.json)

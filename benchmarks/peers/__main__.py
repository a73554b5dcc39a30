"""ctxmw and what one would use instead, in one run on the same turns and questions.

    make peers                                     # an environment with the peers in it
    .venv-peers/bin/python -m benchmarks.peers --data DIR [--json FILE] [--page FOLDER]

Parts: recall, growth, prefix, compaction, footprint, faults; `--only` picks some. DIR holds
conversations as `python -m benchmarks.retrieval` takes them; without it, recall and compaction are
left out. A system whose packages are missing is left out, and said so.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Figure, Line

PARTS = ("recall", "growth", "prefix", "compaction", "footprint", "faults")
PACKAGES = (
    *("ctxmw", "chromadb", "llama-index-core", "mem0ai", "mempalace", "langgraph", "langchain"),
    *("langchain-core", "wordllama", "tiktoken"),
)
NOT_TO_BE_HAD = {
    "mem0's BM25": "its encoder fetches a model at first use; without one mem0 goes on by vectors",
    "mem0 with infer=True, LangMem, Graphiti, Zep": "each needs an LLM for every message",
    "Hindsight 1.1": (
        "installs (6.5 GB), and can do without an LLM; its embedder and reranker are models "
        "that it fetches at first use, and it was not tried with others in their place"
    ),
    "agentmemory 0.4": (
        "does not import as it installs (pluggy is missing), and embeds by a model that it fetches"
    ),
    "LangGraph's SQLite store with an index": "needs loadable SQLite extensions",
}


BENCHMARK = Benchmark(
    name="peers",
    about=__doc__,
    data="conversations with known evidence that others wrote, and made-up ones",
    seed=7,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, help="a folder of conversations, *.jsonl")
    parser.add_argument("--page", type=Path, help="write the page and its plots to this folder")
    parser.add_argument("--embedder", choices=("wordllama", "minilm"), default="wordllama")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    chosen = parser.parse_args()
    # Peers log every insert at INFO.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    results = compare(chosen)
    BENCHMARK.tell(lines(results), chosen, _files(chosen))
    if chosen.page:
        from . import report

        report.write(results, chosen.page)


def compare(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run the parts that were chosen and return all figures."""
    from .entries import ENTRIES

    results: dict[str, Any] = {
        "command": "python -m benchmarks.peers " + " ".join(_shown(sys.argv[1:])),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "embedder": chosen.embedder,
        "turns": chosen.turns,
        "versions": _versions(),
        "settings": {entry.name: entry.setting for entry in ENTRIES},
        "missing": dict(NOT_TO_BE_HAD),
    }
    for part in chosen.only:
        results[part] = _PARTS[part](chosen, results["missing"])
    return results


def lines(results: dict[str, Any]) -> Iterator[Line]:
    """Yield all figures as rows, and what could not be run."""
    for part in PARTS:
        by_file = part in ("recall", "compaction")
        groups = results.get(part, {})
        for group, rows in groups.items() if by_file else [("", groups)]:
            for name, figures in rows.items():
                yield Line(name, dict(_flat(figures)), table=f"{part} {group}".strip())
    for name, why in results["missing"].items():
        yield Line(name, {}, table="could not be run", notes=(why,))


def _flat(figures: dict[str, Any], above: str = "") -> Iterator[tuple[str, Figure]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name} ")
        else:
            yield f"{above}{name}", value


def _recall(chosen: argparse.Namespace, missing: dict[str, str]) -> dict[str, Any]:
    from .entries import ENTRIES
    from .recall import score

    figures: dict[str, Any] = {}
    for path in _files(chosen):
        rows = figures[path.stem] = {}
        for entry in ENTRIES:
            if _absent(entry, missing):
                continue
            rows[entry.name] = _tried(partial(score, entry, path, chosen.embedder, chosen.most))
            _say("recall", path.stem, entry.name, rows[entry.name])
    return figures


def _growth(chosen: argparse.Namespace, missing: dict[str, str]) -> dict[str, Any]:
    from .entries import ENTRIES
    from .growth import grow

    figures = {}
    for entry in ENTRIES:
        if not _absent(entry, missing):
            figures[entry.name] = _tried(
                lambda e=entry: grow(e, chosen.sizes, chosen.embedder, 100)
            )
            _say("growth", entry.name, figures[entry.name])
    return figures


def _prefix(chosen: argparse.Namespace, _: dict[str, str]) -> dict[str, Any]:
    from .prompts import WAYS, share

    figures = {}
    for name in WAYS:
        figures[name] = _tried(partial(share, name, chosen.turns, chosen.embedder))
        _say("prefix", name, figures[name])
    return figures


def _compaction(chosen: argparse.Namespace, _: dict[str, str]) -> dict[str, Any]:
    from benchmarks.compaction import WAYS, score

    figures: dict[str, Any] = {}
    for path in _files(chosen):
        rows = figures[path.stem] = {}
        for name, way in WAYS.items():
            rows[name] = _tried(partial(score, path, way, chosen.most))
            _say("compaction", path.stem, name, rows[name])
    return figures


def _footprint(_: argparse.Namespace, __: dict[str, str]) -> dict[str, Any]:
    from .footprint import INSTALLS, measure

    figures = {}
    for name in INSTALLS:
        figures[name] = _tried(partial(measure, name))
        _say("footprint", name, figures[name])
    return figures


def _faults(chosen: argparse.Namespace, _: dict[str, str]) -> dict[str, Any]:
    from .faults import FAULTS, run

    figures = {}
    for fault in FAULTS:
        name = fault.__name__.replace("_", " ")
        figures[name] = _tried(partial(run, fault, chosen.embedder))
        _say("fault", name, figures[name])
    return figures


_PARTS: dict[str, Callable[[argparse.Namespace, dict[str, str]], dict[str, Any]]] = {
    "recall": _recall,
    "growth": _growth,
    "prefix": _prefix,
    "compaction": _compaction,
    "footprint": _footprint,
    "faults": _faults,
}


def _files(chosen: argparse.Namespace) -> list[Path]:
    return sorted(chosen.data.glob("*.jsonl")) if chosen.data else []


def _absent(entry: Any, missing: dict[str, str]) -> bool:
    absent = entry.missing()
    if absent:
        missing[entry.name] = f"{', '.join(absent)} not installed: make peers"
    return bool(absent)


def _tried(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a part of the comparison gives; one that fails does not end the others."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - what a peer raises is a result
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def _say(*what: object) -> None:
    *names, figures = what
    print(*names, json.dumps(figures), file=sys.stderr, flush=True)


def _shown(arguments: list[str]) -> list[str]:
    """Return the arguments without the folders of whoever ran it."""
    return [Path(word).name if "/" in word else word for word in arguments]


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    main()

"""The one language of the benchmarks: rows go in, a table comes out, and with --json FILE a file.

A benchmark says once what it is, what its data are and where its chance begins; then it yields rows
while it measures. Every row is printed as soon as it is there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME, CELL = 46, 8
"""How wide the name of a row is, and a figure at least."""

Figure = float | str | None


@dataclass(frozen=True, slots=True)
class Line:
    """What was measured of one thing. Rows with other columns begin a new table."""

    name: str
    figures: Mapping[str, Figure]
    table: str = ""
    """What the table is about that the row stands in."""
    notes: tuple[str, ...] = ()
    """What stands below it: what was missed, or an example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What is measured, and on what."""

    name: str
    about: str
    """The docstring of its module; --help shows all of it."""
    data: str
    seed: int | None
    """Where chance begins; None: nothing is left to chance."""

    def parser(self) -> argparse.ArgumentParser:
        """Return a parser that knows `--json FILE` and tells data and seed."""
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks.{self.name}",
            description=self.about,
            epilog=f"data: {self.data}\nseed: {_seed(self.seed)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here too")
        return parser

    def tell(
        self, rows: Iterable[Line], chosen: argparse.Namespace, read: Sequence[Path] = ()
    ) -> list[Line]:
        """Print rows as they come, write them where that was asked for, and return them.

        `read` are the files that were given; `--seed`, where a benchmark takes it, is told.
        """
        seed = getattr(chosen, "seed", self.seed)
        names = f" ({', '.join(path.name for path in read)})" if read else ""
        command = " ".join(["python -m", f"benchmarks.{self.name}", *_without_folders(sys.argv)])
        print(f"{command}\ndata: {self.data}{names}\nseed: {_seed(seed)}", flush=True)
        kept = list(_printed(rows))
        if chosen.json:
            told = {
                "benchmark": self.name,
                "command": command,
                "data": f"{self.data}{names}",
                "seed": seed,
                **_where(),
                "rows": [asdict(row) for row in kept],
            }
            chosen.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        return kept


def _printed(rows: Iterable[Line]) -> Iterable[Line]:
    before: tuple[str, ...] | None = None
    for row in rows:
        columns = (row.table, *row.figures)
        if columns != before:
            print(f"\n{_spread(row.table, {name: name for name in row.figures})}")
            before = columns
        print(_spread(row.name, row.figures), flush=True)
        for note in row.notes:
            print(f"    {note}", flush=True)
        yield row


def _spread(name: str, figures: Mapping[str, Figure]) -> str:
    cells = [f"{shown(value):>{max(CELL, len(column))}}" for column, value in figures.items()]
    return "  ".join([f"{name:<{NAME}}", *cells]).rstrip()


def shown(value: Figure) -> str:
    """Return a figure as a table has it."""
    if value is None:
        return "-"
    if isinstance(value, str | int):
        return f"{value:,}" if isinstance(value, int) else value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _seed(seed: int | None) -> str:
    return "none, nothing is left to chance" if seed is None else str(seed)


def _without_folders(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without the folders of whoever ran it."""
    return [Path(word).name if "/" in word else word for word in arguments[1:]]


def _where() -> dict[str, Figure]:
    return {
        "commit": _git("describe", "--always", "--dirty", "--exclude=*"),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None

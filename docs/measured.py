"""Writes docs/benchmarks/index.md from its template and from what the benchmarks told.

    python -m docs.measured                                  # write the page
    python -m docs.measured --run --data DIR [--only NAME]   # measure first, then write it

docs/benchmarks/figures has a file for each run, as `--json FILE` of a benchmark leaves it: commit,
date, command and rows. In the template, `[[run :: row :: {figure} ms]]` is a row of a run in words;
`[[run]]` tells on which commit it was measured, and when.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "benchmarks"
FIGURES = HERE / "figures"
TEMPLATE = HERE / "page.template"
PAGE = HERE / "index.md"
ABSENT = "not measured"
RUNS = {
    "retrieval-search": "retrieval --data {data}",
    "retrieval-prepare": "retrieval --data {data} --via prepare",
    "realmem": "realmem --data {data}/realmem/realmem-dev.jsonl --ways balanced",
    "metrics": "metrics --data {data} --most 2",
    "precision": "precision",
    "small-talk": "small_talk --data {data} --list small_talk_held_out",
    "learning": "learning --data {data}/learning",
    "public-sentences": "public_sentences --data {data}",
    "people": "people --part held",
    "feedback": "feedback --data {data} --most 2",
    "code-commits": "code_requests --data {data}/code/code-dev.jsonl --trees {trees}",
    "code-questions": (
        "code_requests --data benchmarks/data/code_questions_apart.jsonl --trees {trees}"
    ),
    "code-languages": (
        "code_requests --data benchmarks/data/code_questions_languages.jsonl --trees {trees}"
    ),
    "code-plain": (
        "code_requests --data benchmarks/data/code_questions_languages.jsonl --trees {trees} "
        "--control"
    ),
    "code-index": "code_index",
    "tools": (
        "tools --catalog {data}/tools/sealtools-tools.jsonl "
        "--requests {data}/tools/sealtools-dev.jsonl --unrelated {data}/realtalk-dev.jsonl"
    ),
    "compaction": "compaction --data {data}",
    "long-runs": "long_runs",
    "length": "length",
    "prefix": "prefix",
    "prepare": "prepare",
    "langchain": "langchain --memories 5000",
    "load": "load",
    "inject": "inject",
    "scale": "scale --spread 0 --sizes 1000 10000 100000",
    "torture": "torture --seconds 60",
}
"""Every run of the page but `peers`, which has an environment and a page of its own."""
_PLACE = re.compile(r"\[\[(?P<run>[\w-]+)(?: :: (?P<row>.+?) :: (?P<words>.+?))?\]\]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", action="store_true", help="run the benchmarks first")
    parser.add_argument("--data", type=Path, help="a folder with the public sets")
    parser.add_argument("--trees", type=Path, help="a folder with unpacked packages")
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    chosen = parser.parse_args()
    for name in chosen.only if chosen.run else ():
        measure(name, chosen.data, chosen.trees)
    PAGE.write_text(page(), encoding="utf-8")


def measure(name: str, data: Path | None, trees: Path | None) -> None:
    """Run one benchmark and keep what it tells; one that fails does not end the others."""
    line = RUNS[name]
    if ("{data}" in line and data is None) or ("{trees}" in line and trees is None):
        print(f"{name}: left out, it needs --data or --trees", file=sys.stderr)
        return
    words = shlex.split(line.format(data=data, trees=trees))
    module, *arguments = [*words, "--json", str(FIGURES / f"{name}.json")]
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{module}", *arguments], check=False)
    if done.returncode:
        print(f"{name}: ended with {done.returncode}", file=sys.stderr)


def page() -> str:
    """Return the page."""
    return _PLACE.sub(_filled, TEMPLATE.read_text(encoding="utf-8"))


def row_of(run: str, name: str) -> dict[str, Any] | None:
    """Return the figures of a row; "table / name" tells rows of one name apart."""
    told = _told(run)
    table, _, own = name.rpartition(" / ")
    for row in told["rows"] if told else ():
        if row["name"] == own and (not table or row["table"] == table):
            figures: dict[str, Any] = row["figures"]
            return figures
    return None


def _filled(place: re.Match[str]) -> str:
    run, row, words = place.group("run", "row", "words")
    if row is None:
        told = _told(run)
        return f"`{told['commit']}`, {told['date']}" if told else ABSENT
    figures = row_of(run, row)
    if figures is None:
        return ABSENT
    try:
        return str(words).format_map(figures)
    except KeyError:
        return ABSENT


def _told(run: str) -> dict[str, Any] | None:
    file = FIGURES / f"{run}.json"
    if not file.exists():
        return None
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return told


if __name__ == "__main__":
    main()

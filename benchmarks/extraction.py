"""How well the rules tell what is worth remembering: precision and recall by kind, and the time.

    python -m benchmarks.extraction [--part 1] [--misses]

A line of benchmarks/data/extraction_N.tsv is who says it, what it states ("-": nothing) and the
text. What is found counts when it has the kind of the label; each thing found beyond that is
wrong. An assistant is taken to have used tools. Part 1 was written before the rules and used to
make them. Parts 2 and 3 were written when the rules were done; measured for the first time, they
gave precision 0.986 and 0.983 and recall 0.932 and 0.853. The rules have learned from them since.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.report import Benchmark, Line
from benchmarks.timing import percentiles
from ctxmw.learning.statements.reading import statements

DATA = Path(__file__).parent / "data"
NOTHING = "-"


@dataclass(frozen=True)
class Labelled:
    """One message, and what it states."""

    role: str
    kind: str
    text: str


BENCHMARK = Benchmark(
    name="extraction", about=__doc__, data="benchmarks/data/extraction_*.tsv, ours", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--part", type=int, action="append", help="which parts; all by default")
    parser.add_argument("--misses", action="store_true", help="show what was missed or made up")
    chosen = parser.parse_args()
    files = [
        path
        for path in sorted(DATA.glob("extraction_*.tsv"))
        if not chosen.part or int(path.stem.rpartition("_")[2]) in chosen.part
    ]
    told = (score(path.stem, list(read(path)), show=chosen.misses) for path in files)
    BENCHMARK.tell(chain(chain.from_iterable(told), cost()), chosen, files)


def read(path: Path) -> Iterator[Labelled]:
    for line in path.read_text(encoding="utf-8").splitlines():
        role, kind, text = line.split("\t")
        yield Labelled(role, kind, text.replace("\\n", "\n"))


def found_in(line: Labelled) -> list[str]:
    return [stated.kind for stated in statements(line.text, line.role, working=True)]


def score(name: str, lines: list[Labelled], *, show: bool = False) -> Iterator[Line]:
    """Yield precision and recall of one part, by kind and over all."""
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    there = Counter(line.kind for line in lines if line.kind != NOTHING)
    wrong = []
    for line in lines:
        kinds = found_in(line)
        found.update(kinds)
        right[line.kind] += line.kind in kinds
        if kinds != [line.kind] and (kinds or line.kind != NOTHING):
            wrong.append(f"{line.role}: {line.text!r} is {line.kind}, found {kinds}")
    traps = sum(line.kind == NOTHING for line in lines)
    title = f"{name}: {len(lines)} messages, {traps} traps"
    for kind in sorted(there | found):
        yield Line(kind, _figures(right[kind], found[kind], there[kind]), title)
    notes = tuple(wrong) if show else ()
    yield Line("all", _figures(right.total(), found.total(), there.total()), title, notes)


def cost() -> Iterator[Line]:
    """Yield what reading one message costs."""
    lines = list(read(DATA / "extraction_1.tsv"))
    reply = " ".join(line.text for line in lines if line.role == "assistant") * 2
    question = " ".join(line.text for line in lines[20:23])
    times = []
    for _ in range(200):
        started = time.thread_time()
        statements(question, "user")
        statements(reply[:2000], "assistant")
        times.append(1000 * (time.thread_time() - started))
    yield Line("a question, an answer of 2,000 characters", percentiles(times), "ms of CPU")


def _figures(right: int, found: int, there: int) -> dict[str, float | None]:
    return {
        "precision": round(right / found, 3) if found else None,
        "recall": round(right / there, 3) if there else None,
        "right": right,
        "there": there,
        "found": found,
    }


if __name__ == "__main__":
    main()

"""How well the rules tell what is worth remembering: precision and recall by kind, and the time.

    python -m benchmarks.extraction [--part 1] [--misses]

A line of benchmarks/data/extraction_N.tsv is who says it, what it states ("-": nothing) and the
text. What is found counts when it has the kind of the label; each thing found beyond that is
wrong. An assistant is taken to have used tools. Part 1 was written before the rules and used to
make them. Parts 2 and 3 were written when the rules were done; measured for the first time, they
gave precision 0.986 and 0.983 and recall 0.932 and 0.853. The rules have learned from them since.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import report
from ctxmw.learning.statements.reading import statements

DATA = Path(__file__).parent / "data"
NOTHING = "-"


@dataclass(frozen=True)
class Labelled:
    """One message, and what it states."""

    role: str
    kind: str
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", type=int, action="append", help="which parts; all by default")
    parser.add_argument("--misses", action="store_true", help="show what was missed or made up")
    chosen = parser.parse_args()
    for path in sorted(DATA.glob("extraction_*.tsv")):
        if not chosen.part or int(path.stem.rpartition("_")[2]) in chosen.part:
            score(path.stem, list(read(path)), show=chosen.misses)
    cost()


def read(path: Path) -> Iterator[Labelled]:
    for line in path.read_text(encoding="utf-8").splitlines():
        role, kind, text = line.split("\t")
        yield Labelled(role, kind, text.replace("\\n", "\n"))


def found_in(line: Labelled) -> list[str]:
    return [stated.kind for stated in statements(line.text, line.role, working=True)]


def score(name: str, lines: list[Labelled], *, show: bool = False) -> tuple[float, float]:
    """Print precision and recall of one part, by kind and over all; return the latter."""
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    there = Counter(line.kind for line in lines if line.kind != NOTHING)
    for line in lines:
        kinds = found_in(line)
        found.update(kinds)
        right[line.kind] += line.kind in kinds
        if show and kinds != [line.kind] and (kinds or line.kind != NOTHING):
            print(f"  {line.role}: {line.text!r} is {line.kind}, found {kinds}")
    traps = sum(line.kind == NOTHING for line in lines)
    print(f"{name}: {len(lines)} messages, {traps} of them traps")
    for kind in sorted(there | found):
        print(_line(kind, right[kind], found[kind], there[kind]))
    print(_line("all", right.total(), found.total(), there.total()))
    return right.total() / max(1, found.total()), right.total() / max(1, there.total())


def cost() -> None:
    """Print what reading one message costs."""
    lines = list(read(DATA / "extraction_1.tsv"))
    reply = " ".join(line.text for line in lines if line.role == "assistant") * 2
    question = " ".join(line.text for line in lines[20:23])
    times = []
    for _ in range(200):
        started = time.thread_time()
        statements(question, "user")
        statements(reply[:2000], "assistant")
        times.append(1000 * (time.thread_time() - started))
    print(report("CPU: a question, and an answer of 2,000 characters", times))


def _line(kind: str, right: int, found: int, there: int) -> str:
    precision = f"{right / found:.3f}" if found else "    -"
    recall = f"{right / there:.3f}" if there else "    -"
    return (
        f"  {kind:<12} precision {precision}  recall {recall}  ({right} of {there}, {found} found)"
    )


if __name__ == "__main__":
    main()

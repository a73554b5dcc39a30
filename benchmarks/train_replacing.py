"""Train the weights by which a message is judged to take the place of what was said before.

    python -m benchmarks.train_replacing [--check]

Reads benchmarks/data/replacing.tsv: pairs of a statement and a later message that were written for
it, each with whether the message replaces it or both stay. Beside these each message stands with
statements of other pairs that it has something in common with: it replaces none of them. Writes
ctxmw/learning/subjects/replacing.json, the same for the same pairs. With --check nothing is
written: an eighth of the statements is judged by weights of the others, eight times.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import Benchmark, Line
from benchmarks.train_lasting import DATA, Marked, Vector
from ctxmw.learning.statements.reading import told_sentences
from ctxmw.learning.subjects import replacing
from ctxmw.learning.subjects.replacing import Told, has_in_common, marks_of_pair

PAIRS = DATA / "replacing.tsv"
WEIGHTS = Path(replacing.__file__).parent / "replacing.json"
OFTEN = 2
"""How many pairs must have a mark for it to count."""
SHRINK, LEAST = 3e-4, 0.02
OTHERS, WEIGHT_OF_OTHERS = 6, 0.1
"""Statements of other pairs beside which each message stands, and how much each of them counts."""
PARTS = 8

BENCHMARK = Benchmark(
    name="train_replacing", about=__doc__, data="pairs that were written for it", seed=0
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs, read into marks."""

    replaces: Vector
    written: Vector
    """1 for a pair that was written as such, 0 for one with a statement of another."""
    part: Vector
    names: tuple[str, ...]
    marked: Marked


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    chosen = parser.parse_args()
    pairs = _read()
    rows = _checked(pairs) if chosen.check else [_written(pairs)]
    BENCHMARK.tell(rows, chosen, [PAIRS])


def _read() -> Pairs:
    lines = [line.split("\t") for line in PAIRS.read_text("utf-8").splitlines()]
    told = [Told.of([one.text for one in told_sentences(later)]) for _, _, later in lines]
    firsts = list(dict.fromkeys(first for _, first, _ in lines))
    pairs = [
        (one, first, label == "replaces", 1.0)
        for one, (label, first, _) in zip(told, lines, strict=True)
        # The others are not judged either.
        if has_in_common(one, first)
    ]
    for at, (one, (_, own, _)) in enumerate(zip(told, lines, strict=True)):
        others = [first for first in _turned(firsts, at) if first != own]
        beside = [first for first in others if has_in_common(one, first)][:OTHERS]
        pairs += [(one, first, False, 0.0) for first in beside]
    found = [marks_of_pair(one, first) for one, first, _, _ in pairs]
    often = Counter(mark for marks in found for mark in marks)
    names = tuple(sorted(mark for mark, n in often.items() if n >= OFTEN))
    return Pairs(
        np.array([float(replaces) for _, _, replaces, _ in pairs]),
        np.array([written for _, _, _, written in pairs]),
        np.array([firsts.index(first) % PARTS for _, first, _, _ in pairs]),
        names,
        Marked(found, {name: at for at, name in enumerate(names)}),
    )


def _turned(firsts: Sequence[str], at: int) -> Sequence[str]:
    at %= len(firsts)
    return [*firsts[at:], *firsts[:at]]


def _weights(pairs: Pairs, counts: Vector) -> Vector:
    return pairs.marked.trained(
        pairs.replaces, counts * np.where(pairs.written > 0, 1.0, WEIGHT_OF_OTHERS), shrink=SHRINK
    )


def _written(pairs: Pairs) -> Line:
    column = _weights(pairs, np.ones(len(pairs.replaces)))
    kept = {
        name: round(float(weight), 2)
        for name, weight in zip(pairs.names, column, strict=True)
        if abs(weight) >= LEAST
    }
    text = json.dumps(kept, ensure_ascii=False, indent=0, separators=(",", ":"))
    WEIGHTS.write_text(f"{text}\n", encoding="utf-8")
    kilobytes = round(WEIGHTS.stat().st_size / 1000)
    return Line("written", {"pairs": len(column), "marks": len(kept), "kB": kilobytes})


def _checked(pairs: Pairs) -> Iterator[Line]:
    judged = np.zeros(len(pairs.replaces))
    for left_out in range(PARTS):
        here = pairs.part == left_out
        weights = _weights(pairs, (~here).astype(float))
        judged[here] = pairs.marked.likelihood(weights)[here]
    for sure in (0.5, 0.7, 0.8, 0.85, 0.9):
        told = judged > sure
        stays = pairs.replaces == 0
        shares = {
            "found %": round(100 * float(told[~stays].mean()), 1),
            "wrongly %": round(100 * float(told[stays & (pairs.written > 0)].mean()), 1),
            "of others %": round(100 * float(told[pairs.written == 0].mean()), 1),
        }
        yield Line(f"likelier than {sure}", shares)


if __name__ == "__main__":
    main()

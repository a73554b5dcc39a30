"""Train the weights by which a sentence is judged to tell something that lasts.

    python -m benchmarks.train_lasting [--check]

Reads benchmarks/data/lasting*.tsv: sentences that were written for it, each with its label, F for a
fact about the speaker, P for a preference or habit, R for a request that holds on, N for what
teaches nothing. Writes ctxmw/learning/lasting/weights.json, the same for the same sentences.
With --check nothing is written: a fifth of the sentences is judged by weights of the others, five
times.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Benchmark, Line
from ctxmw.learning.lasting import judging
from ctxmw.learning.lasting.marks import NAMED_KINDS, marks_of, spoken_words

DATA = Path(__file__).parent / "data"
EXAMPLES = tuple(DATA / f"{name}.tsv" for name in ("lasting", "lasting_at_work", "lasting_by_many"))
"""What people tell in passing, what they say while they have something done, and what many kinds
of people say of their lives and their work, in the spelling of chats."""
WEIGHTS = Path(judging.__file__).parent / "weights.json"
OFTEN = 2
"""How many sentences must have a word, or a mark, for it to count."""
STEPS, RATE, SHRINK = 300, 0.05, 1e-5
LEAST = 0.2
"""Marks that weigh less are left out."""
Vector = NDArray[np.float64]


class Marked:
    """Sentences as a sparse matrix of their marks."""

    def __init__(self, found: Sequence[set[str]], columns: dict[str, int]) -> None:
        at = [
            (row, columns[mark], 3 / np.sqrt(len(marks)))
            for row, marks in enumerate(found)
            for mark in sorted(marks)
            if mark in columns
        ]
        rows, self._columns, self._values = (np.array(part) for part in zip(*at, strict=True))
        self._rows, self._shape = rows, (len(found), len(columns))

    def likelihood(self, weights: Vector) -> Vector:
        added = weights[self._columns] * self._values
        sums = np.bincount(self._rows, added, minlength=self._shape[0])
        return np.asarray(1 / (1 + np.exp(-sums)))

    def trained(self, wanted: Vector, counts: Vector) -> Vector:
        """Return the weights of a logistic regression; `counts` says which rows are looked at."""
        weights = np.zeros(self._shape[1])
        mean, square = np.zeros_like(weights), np.zeros_like(weights)
        for step in range(1, STEPS + 1):
            error = (self.likelihood(weights) - wanted) * counts
            pulled = error[self._rows] * self._values
            slope = np.bincount(self._columns, pulled, minlength=self._shape[1]) / counts.sum()
            slope += SHRINK * weights
            mean = 0.9 * mean + 0.1 * slope
            square = 0.999 * square + 0.001 * slope**2
            right, wide = mean / (1 - 0.9**step), square / (1 - 0.999**step)
            weights -= RATE * right / (np.sqrt(wide) + 1e-8)
        return weights


BENCHMARK = Benchmark(
    name="train_lasting", about=__doc__, data="sentences that were written for it", seed=0
)


@dataclass(frozen=True, slots=True)
class Examples:
    """The sentences, read into marks."""

    labels: NDArray[np.str_]
    known: frozenset[str]
    """Words that count."""
    names: tuple[str, ...]
    """Marks that count."""
    marked: Marked

    @property
    def lasts(self) -> Vector:
        return (self.labels != "N").astype(float)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    chosen = parser.parse_args()
    examples = _read()
    rows = _checked(examples) if chosen.check else [_written(examples)]
    BENCHMARK.tell(rows, chosen, EXAMPLES)


def _read() -> Examples:
    lines = [line for file in EXAMPLES for line in file.read_text("utf-8").splitlines()]
    labels, texts = zip(*(line.split("\t") for line in lines), strict=True)
    spoken = [spoken_words(text) for text in texts]
    words = Counter(word for one in spoken for word in set(one) if word[0].isalpha())
    known = frozenset({word for word, n in words.items() if n >= OFTEN} - NAMED_KINDS)
    found = [marks_of(text, one, known) for one, text in zip(spoken, texts, strict=True)]
    often = Counter(mark for marks in found for mark in marks)
    names = tuple(sorted(mark for mark, n in often.items() if n >= OFTEN))
    marked = Marked(found, {name: at for at, name in enumerate(names)})
    return Examples(np.array(labels), known, names, marked)


def _written(examples: Examples) -> Line:
    marked, label, lasts = examples.marked, examples.labels, examples.lasts
    columns = [
        marked.trained(lasts, np.ones(len(label))),
        marked.trained((label == "F").astype(float), lasts),
        marked.trained((label == "R").astype(float), lasts),
    ]
    marks = {
        name: [round(float(column[at]), 1) for column in columns]
        for at, name in enumerate(examples.names)
    }
    marks = {name: weights for name, weights in marks.items() if max(map(abs, weights)) >= LEAST}
    kept = {"words": " ".join(sorted(examples.known)), "marks": marks}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    WEIGHTS.write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
    kilobytes = round(WEIGHTS.stat().st_size / 1000)
    return Line("written", {"sentences": len(label), "marks": len(marks), "kB": kilobytes})


def _checked(examples: Examples) -> Iterator[Line]:
    marked, lasts = examples.marked, examples.lasts
    fifth = np.random.default_rng(BENCHMARK.seed).integers(0, 5, len(lasts))
    judged = np.zeros(len(lasts))
    for left_out in range(5):
        weights = marked.trained(lasts, (fifth != left_out).astype(float))
        here = fifth == left_out
        judged[here] = marked.likelihood(weights)[here]
    for sure in (0.5, 0.7, 0.9):
        told = judged > sure
        shares = {
            "found %": round(100 * float(told[lasts > 0].mean()), 1),
            "wrongly %": round(100 * float(told[lasts == 0].mean()), 1),
        }
        yield Line(f"likelier than {sure}", shares)


if __name__ == "__main__":
    main()

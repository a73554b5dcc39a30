"""How much of what an answer needs is within a token budget, on conversations with known evidence.

    python -m benchmarks.retrieval --data DIR [--json FILE] [--embedder NAME] [--via search|prepare]
        [--store sqlite|postgres] [--index numpy|pgvector] [--appetite lean|balanced|full] [--means]

Scores every *.jsonl in DIR through the public API. One conversation a line: {"conv", "items":
[{"id", "session", "ts", "speaker", "text"}], "questions": [{"qid", "question", "category",
"evidence": [item ids]}]}. A gold item counts when its id is claimed and most of its words are in
the text (80 % of its trigrams; 40 % of a text over 200 tokens). Tokens are cl100k_base. Questions
without evidence are not scored, and of LoCoMo only categories 1 to 4. Of a question with "before",
only so many items were said when it is asked.

Through `prepare`, "part" tells the recall of the default turn's part and "tokens" its mean size: a
ceiling of 1,200 tokens, and a stop where the next hit is not worth its own. With --means the stop
is moved, and recall told for parts of 300, 450, 600 and 800 tokens on average.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.report import Benchmark, Line
from benchmarks.stores import Opener, stores, take_store
from benchmarks.timing import percentile
from ctxmw import Arriving, Budget, ContextMiddleware
from ctxmw.evaluation.measure import BUDGETS, found_within, part_for, tell
from ctxmw.evaluation.measure import carried as is_carried
from ctxmw.evaluation.transcripts import Utterance, said_moment
from ctxmw.search.ranking.candidates import LEAST
from ctxmw.tokens.counter import counter_for
from ctxmw.values.budget import APPETITES

NUMBERS = count()
PART = 1200
"""Tokens that a turn's part may take by default."""
MEANS = (300, 450, 600, 800)
STOPS = (-6.5, -7.0, -7.5, -8.0, -8.5, -9.0, -9.5)
ENCODING = "cl100k_base"
COUNT = counter_for(ENCODING)


BENCHMARK = Benchmark(
    name="retrieval",
    about=__doc__,
    data="conversations with known evidence that others wrote",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--index", default="numpy")
    parser.add_argument("--via", choices=("search", "prepare"), default="search")
    parser.add_argument("--appetite", choices=APPETITES, default="balanced")
    parser.add_argument("--means", action="store_true")
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    take_store(parser)
    chosen = parser.parse_args()
    files = sorted(chosen.data.glob("*.jsonl"))
    with stores(chosen.store) as opener:
        asked = Asked(chosen, opener)
        rows = (row for path in files for row in score_file(path, asked, chosen.most))
        BENCHMARK.tell(rows, chosen, files)


@dataclass(frozen=True)
class Asked:
    """What is measured, and on which stores."""

    chosen: argparse.Namespace
    opener: Opener

    def options(self) -> dict[str, Any]:
        named = {"embedder": self.chosen.embedder, "index": self.chosen.index}
        arriving = Arriving(appetite=self.chosen.appetite)
        return {"deadline": None, "arriving": arriving} | (named if self.chosen.embedder else {})


@dataclass
class Parts:
    """Recall and tokens of many parts."""

    recall: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def told(self) -> dict[str, float]:
        return {
            "part": round(100 * statistics.mean(self.recall), 1),
            **{f"tokens p{at}": percentile(self.tokens, at / 100) for at in (10, 50, 90)},
            "tokens": round(statistics.mean(self.tokens)),
        }


@dataclass
class Tally:
    recall: dict[int, list[float]] = field(default_factory=lambda: {b: [] for b in BUDGETS})
    by_category: dict[str, list[float]] = field(default_factory=dict)
    latency: list[float] = field(default_factory=list)
    part: Parts = field(default_factory=Parts)
    stopped: dict[float, Parts] = field(default_factory=lambda: {at: Parts() for at in STOPS})
    cpu: float = 0.0
    ingest: float = 0.0
    violations: int = 0


def score_file(path: Path, asked: Asked, most: int | None) -> Iterator[Line]:
    tally = Tally()
    lines = path.read_text(encoding="utf-8").splitlines()[:most]
    for conversation in map(json.loads, lines):
        score_conversation(conversation, path.stem, asked, tally)
    figures = {
        "questions": len(tally.recall[BUDGETS[0]]),
        **{f"rec@{b}": round(100 * statistics.mean(tally.recall[b]), 1) for b in BUDGETS},
        **_parts(tally, asked.chosen),
        "ms p50": round(percentile(tally.latency, 0.5), 2),
        "ms p99": round(percentile(tally.latency, 0.99), 2),
        "ms CPU": round(1000 * tally.cpu / max(1, len(tally.latency)), 2),
        "ingest s": round(tally.ingest, 2),
        "violations": tally.violations,
    }
    kinds = [
        f"category {name}: {100 * statistics.mean(values):.1f} at {BUDGETS[1]} tokens"
        for name, values in sorted(tally.by_category.items())
    ]
    yield Line(path.stem, figures, table="% of the evidence", notes=tuple(kinds))


def _parts(tally: Tally, chosen: argparse.Namespace) -> dict[str, float | None]:
    if chosen.via != "prepare":
        return {}
    told: dict[str, float | None] = dict(tally.part.told())
    if chosen.means:
        told |= {f"at {mean}": _at(mean, tally.stopped) for mean in MEANS}
    return told


def _at(mean: int, stopped: dict[float, Parts]) -> float | None:
    """Return the recall of parts of so many tokens on average, between those that were measured."""
    points = sorted(
        (statistics.mean(parts.tokens), statistics.mean(parts.recall)) for parts in stopped.values()
    )
    for (low, less), (high, more) in pairwise(points):
        if low <= mean <= high and high > low:
            return round(100 * (less + (more - less) * (mean - low) / (high - low)), 1)
    return None


def score_conversation(conversation: dict[str, Any], stem: str, asked: Asked, tally: Tally) -> None:
    items = {item["id"]: item for item in conversation["items"]}
    said = list(items.values())
    known = 0
    now = max(map(said_at, said))
    store = asked.opener(f"c{next(NUMBERS)}")
    clock = lambda: now + timedelta(hours=1)  # noqa: E731 - a clock is one expression
    with ContextMiddleware(store, model=ENCODING, clock=clock, **asked.options()) as ctx:
        questions = list(scored(conversation["questions"], stem))
        for question in sorted(questions, key=lambda one: one.get("before", 0)):
            before = question.get("before", len(said))
            if before > known:
                started = time.perf_counter()
                ingest(ctx, said[known:before])
                tally.ingest += time.perf_counter() - started
                known, now = before, max(map(said_at, said[:before]))
            score_question(ctx, question, items, asked, tally)


def score_question(
    ctx: ContextMiddleware,
    question: dict[str, Any],
    items: dict[str, dict[str, Any]],
    asked: Asked,
    tally: Tally,
) -> None:
    gold = [(ref, items[ref]["text"]) for ref in question["evidence"]]

    def measured(budget: int) -> tuple[float, int]:
        block, claimed = ask(ctx, question["question"], budget, asked.chosen.via)
        tokens = COUNT(block)
        tally.violations += tokens > budget
        found = sum(ref in claimed and carried(text, block) for ref, text in gold)
        return found / len(gold), tokens

    for budget in BUDGETS:
        started, used = time.perf_counter(), time.process_time()
        recall, _ = measured(budget)
        tally.latency.append(1000 * (time.perf_counter() - started))
        tally.cpu += time.process_time() - used
        tally.recall[budget].append(recall)
        if budget == BUDGETS[1]:
            tally.by_category.setdefault(question["category"], []).append(recall)
    if asked.chosen.via == "prepare":
        _add(tally.part, *measured(PART))
        for least, parts in tally.stopped.items() if asked.chosen.means else ():
            with patch.dict(LEAST, {asked.chosen.appetite: least}):
                _add(parts, *measured(PART))


def _add(parts: Parts, recall: float, tokens: int) -> None:
    parts.recall.append(recall)
    parts.tokens.append(tokens)


def ingest(ctx: ContextMiddleware, items: Sequence[dict[str, Any]]) -> None:
    kept = ("id", "session", "speaker", "text")
    tell(ctx, [Utterance(at=said_at(one), **{name: one[name] for name in kept}) for one in items])


def ask(ctx: ContextMiddleware, query: str, budget: int, via: str) -> tuple[str, set[str]]:
    """Return the block that would be injected, and the ids of the messages it claims to hold."""
    if via == "search":
        return found_within(ctx, query, budget)
    part, shown = part_for(ctx, query, Budget().with_turn_limit(budget))
    return part, set(shown)


def scored(questions: list[dict[str, Any]], stem: str) -> Iterator[dict[str, Any]]:
    for question in questions:
        adversarial = stem.startswith("locomo") and str(question["category"]) == "5"
        if question["evidence"] and not adversarial:
            yield question


def carried(text: str, block: str) -> bool:
    return is_carried(text, block, COUNT)


def said_at(item: dict[str, Any]) -> datetime:
    return said_moment(item["ts"], item["id"])


if __name__ == "__main__":
    main()

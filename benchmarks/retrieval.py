"""How much of what an answer needs is within a token budget, on conversations with known evidence.

    python -m benchmarks.retrieval --data DIR [--json FILE] [--embedder NAME] [--via search|prepare]
        [--store sqlite|postgres] [--index numpy|pgvector]

Scores every *.jsonl in DIR through the public API. One conversation a line: {"conv", "items":
[{"id", "session", "ts", "speaker", "text"}], "questions": [{"qid", "question", "category",
"evidence": [item ids]}]}. A gold item counts when its id is claimed and most of its words are in
the text (80 % of its trigrams; 40 % of a text over 200 tokens). Tokens are cl100k_base. Questions
without evidence are not scored, and of LoCoMo only categories 1 to 4.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, groupby
from pathlib import Path
from typing import Any

from benchmarks.stores import Opener, stores, take_store
from benchmarks.timing import percentile
from ctxmw import Budget, ContextMiddleware
from ctxmw.tokens.counter import counter_for

NUMBERS = count()
BUDGETS = (500, 1000, 2000)
LONG_ITEM = 200
ENCODING = "cl100k_base"
COUNT = counter_for(ENCODING)
FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%B-%d-%Y")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--index", default="numpy")
    parser.add_argument("--via", choices=("search", "prepare"), default="search")
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    take_store(parser)
    chosen = parser.parse_args()
    results = {}
    with stores(chosen.store) as opener:
        for path in sorted(chosen.data.glob("*.jsonl")):
            asked = Asked(chosen.via, chosen.embedder, chosen.index, opener)
            results[path.stem] = score_file(path, asked, chosen.most)
            print(path.stem, json.dumps(results[path.stem]), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps({"results": results}, indent=2) + "\n")


@dataclass(frozen=True)
class Asked:
    """What is measured: by which call, with which embedder and index, on which stores."""

    via: str
    embedder: str | None
    index: str
    opener: Opener


@dataclass
class Tally:
    recall: dict[int, list[float]] = field(default_factory=lambda: {b: [] for b in BUDGETS})
    by_category: dict[str, list[float]] = field(default_factory=dict)
    latency: list[float] = field(default_factory=list)
    ingest: float = 0.0
    violations: int = 0


def score_file(path: Path, asked: Asked, most: int | None) -> dict[str, Any]:
    tally = Tally()
    lines = path.read_text(encoding="utf-8").splitlines()[:most]
    for conversation in map(json.loads, lines):
        score_conversation(conversation, path.stem, asked, tally)
    return {
        "questions": len(tally.latency) // len(BUDGETS),
        **{f"rec@{b}": round(100 * statistics.mean(tally.recall[b]), 1) for b in BUDGETS},
        "rec@1000 by category": {
            name: round(100 * statistics.mean(values), 1)
            for name, values in sorted(tally.by_category.items())
        },
        "latency_ms": {
            "p50": round(percentile(tally.latency, 0.5), 2),
            "p99": round(percentile(tally.latency, 0.99), 2),
        },
        "ingest_s": round(tally.ingest, 2),
        "violations": tally.violations,
    }


def score_conversation(conversation: dict[str, Any], stem: str, asked: Asked, tally: Tally) -> None:
    items = {item["id"]: item for item in conversation["items"]}
    latest = max(map(said_at, items.values()))
    options: dict[str, Any] = {"deadline": None}
    if asked.embedder:
        options |= {"embedder": asked.embedder, "index": asked.index}
    clock = lambda: latest + timedelta(hours=1)  # noqa: E731 - a clock is one expression
    store = asked.opener(f"c{next(NUMBERS)}")
    with ContextMiddleware(store, model=ENCODING, clock=clock, **options) as ctx:
        started = time.perf_counter()
        ingest(ctx, conversation["items"])
        tally.ingest += time.perf_counter() - started
        for question in scored(conversation["questions"], stem):
            for budget in BUDGETS:
                started = time.perf_counter()
                block, claimed = ask(ctx, question["question"], budget, asked.via)
                tally.latency.append(1000 * (time.perf_counter() - started))
                tally.violations += COUNT(block) > budget
                gold = question["evidence"]
                found = sum(ref in claimed and carried(items[ref]["text"], block) for ref in gold)
                tally.recall[budget].append(found / len(gold))
                if budget == BUDGETS[1]:
                    of = tally.by_category.setdefault(question["category"], [])
                    of.append(found / len(gold))


def ingest(ctx: ContextMiddleware, items: list[dict[str, Any]]) -> None:
    for session, group in groupby(items, key=lambda item: item["session"]):
        messages = [
            {
                "role": item["speaker"] if item["speaker"] in ("user", "assistant") else "user",
                "content": item["text"],
                "name": "" if item["speaker"] in ("user", "assistant") else item["speaker"],
                "id": item["id"],
                "at": said_at(item),
            }
            for item in group
        ]
        ctx.session(session).capture(messages)


def ask(ctx: ContextMiddleware, query: str, budget: int, via: str) -> tuple[str, set[str]]:
    """Return the block that would be injected, and the ids of the messages it claims to hold."""
    if via == "search":
        hits = ctx.search(query, budget=budget)
        return "\n".join(hit.text for hit in hits), {
            getattr(hit.record, "message_id", "") for hit in hits
        }
    lanes = dict.fromkeys(("universal", "language", "project", "reserve", "done", "decided"), 0)
    only_turn = Budget(total=budget, turn=1, open=0, pinned=0, index=0, **lanes)
    chat = ctx.session(budget=only_turn)
    context = chat.prepare([{"role": "user", "content": query}], capture=False).context
    refs = [used.ref for used in context.used if used.shown in ("full", "brief")]
    return context.part, {record.message_id for record in ctx.get(refs)}


def scored(questions: list[dict[str, Any]], stem: str) -> Iterator[dict[str, Any]]:
    for question in questions:
        adversarial = stem.startswith("locomo") and str(question["category"]) == "5"
        if question["evidence"] and not adversarial:
            yield question


def carried(text: str, block: str) -> bool:
    grams = trigrams(text)
    held = trigrams(block) | {(word,) for word in words(block)}
    share = len(grams & held) / len(grams) if grams else 1.0
    return share >= (0.8 if COUNT(text) <= LONG_ITEM else 0.4)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def trigrams(text: str) -> set[tuple[str, ...]]:
    said = words(text)
    if len(said) < 3:
        return {(word,) for word in said}
    return set(zip(said, said[1:], said[2:], strict=False))


def said_at(item: dict[str, Any]) -> datetime:
    for form in FORMS:
        try:
            return datetime.strptime(item["ts"], form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime.fromisoformat(item["ts"]).replace(tzinfo=UTC)


if __name__ == "__main__":
    main()

"""Whether ratings help: half of the questions are rated, and all are asked before and after.

    python -m benchmarks.feedback --data DIR [--budget 500] [--noise 0.1] [--most N] [--json FILE]
    python -m benchmarks.feedback --data DIR --by use

Of every conversation in DIR (the files of `benchmarks.retrieval`) each second question is asked in
a conversation of its own, and what the turn brought is rated: 1 where it is evidence, -1 where it
is not, and the opposite in one case of ten. Recall within so many tokens is measured before and
after, for the questions that were rated, for those that were not, and for another user who was told
the same and rated nothing.

With `--by use` nobody rates. Each second question is answered three times with the words of its
evidence, as far as the prompt has them: what is taken up rises by itself.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.report import Benchmark, Line
from benchmarks.retrieval import ENCODING, carried, ingest, said_at, scored
from benchmarks.stores import stores
from ctxmw import ContextMiddleware
from ctxmw.evaluation.measure import found_within
from ctxmw.values.records import Turn

GROUPS = ("rated", "unrated", "another user")


BENCHMARK = Benchmark(
    name="feedback",
    about=__doc__,
    data="conversations with known evidence that others wrote",
    seed=7,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=BENCHMARK.seed)
    parser.add_argument("--by", choices=("ratings", "use"), default="ratings")
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    chosen = parser.parse_args()
    files = sorted(chosen.data.glob("*.jsonl"))
    BENCHMARK.tell(compared(files, chosen), chosen, files)


def compared(files: Sequence[Path], chosen: Any) -> Iterator[Line]:
    """Yield what each group of questions finds before and after."""
    with stores("sqlite") as opener:
        for path in files:
            before, after = defaultdict(list), defaultdict(list)
            lines = path.read_text(encoding="utf-8").splitlines()[: chosen.most]
            for number, line in enumerate(lines):
                store = opener(f"{path.stem}-{number}")
                measure(store, json.loads(line), path.stem, chosen, (before, after))
            for name in GROUPS:
                old, new = share(before[name]), share(after[name])
                figures = {"questions": len(before[name]), "before": old, "after": new}
                yield Line(f"{path.stem}, {name}", figures | {"change": round(new - old, 1)})


def measure(store: Any, told: dict[str, Any], stem: str, chosen: Any, tallies: Any) -> None:
    """Tell two users the same, rate half of one's questions, and measure around that."""
    items = {item["id"]: item for item in told["items"]}
    now = max(map(said_at, items.values())) + timedelta(hours=1)
    questions = list(scored(told["questions"], stem))
    random = Random(chosen.seed)
    users = ("ada", "bob")
    opened = {
        user: ContextMiddleware(store, user=user, model=ENCODING, clock=lambda: now, deadline=None)
        for user in users
    }
    for ctx in opened.values():
        ingest(ctx, list(items.values()))

    def ask_all(tally: Any) -> None:
        for at, question in enumerate(questions):
            group = GROUPS[at % 2]
            tally[group].append(recall(opened["ada"], question, items, chosen.budget))
            if at % 4 == 0:  # the same question of somebody who rated nothing
                tally[GROUPS[2]].append(recall(opened["bob"], question, items, chosen.budget))

    ask_all(tallies[0])
    for question in questions[::2]:
        if chosen.by == "use":
            answer_from_evidence(opened["ada"], question, items)
        else:
            rate_all(opened["ada"], question, random, chosen.noise)
    ask_all(tallies[1])
    store.close()


def rate_all(
    ctx: ContextMiddleware, question: dict[str, Any], random: Random, noise: float
) -> None:
    chat = ctx.session(learn=False)
    prepared = chat.prepare([{"role": "user", "content": question["question"]}])
    record = chat.finish(prepared, {"role": "assistant", "content": "Noted."})
    shown = [used.ref for used in record.used if used.block == "turn" and used.shown != "none"]
    gold = set(question["evidence"])
    for turn in ctx.get(shown):
        if isinstance(turn, Turn):
            right = turn.message_id in gold
            ctx.rate(record, turn.ref, 1 if right != (random.random() < noise) else -1)


def answer_from_evidence(ctx: ContextMiddleware, question: dict[str, Any], items: Any) -> None:
    for _ in range(3):
        chat = ctx.session(learn=False)
        prepared = chat.prepare([{"role": "user", "content": question["question"]}])
        text = prepared.context.text
        told = [items[ref]["text"] for ref in question["evidence"]]
        chat.finish(prepared, " ".join(one for one in told if carried(one, text)) or "No idea.")


def recall(ctx: ContextMiddleware, question: dict[str, Any], items: Any, budget: int) -> float:
    block, claimed = found_within(ctx, question["question"], budget)
    gold = question["evidence"]
    return sum(ref in claimed and carried(items[ref]["text"], block) for ref in gold) / len(gold)


def share(values: list[float]) -> float:
    return round(100 * statistics.mean(values), 1) if values else 0.0


if __name__ == "__main__":
    main()

"""What a part holds for a question of a long project, asked while the project goes on.

    python -m benchmarks.realmem --data FILE [--embedder NAME] [--most N]

FILE has people as `benchmarks.retrieval` reads conversations; each question knows how many items
were said `before` it, and only these are captured; `sessions` are those that an answer needs, and
`evidence` the turns in them that hold most of the words it needs. Both are counted in the default
turn's part, with the stop ("balanced") and without ("full"), and beside them how much of what is
shown people said themselves, and how much of what was said.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from benchmarks.retrieval import COUNT, ENCODING, PART, ask, carried, ingest, said_at
from benchmarks.timing import percentile
from ctxmw import Arriving, ContextMiddleware
from ctxmw.values.budget import Appetite

WAYS: tuple[Appetite, ...] = ("lean", "balanced", "full")


BENCHMARK = Benchmark(
    name="realmem", about=__doc__, data="people's projects that others wrote", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--most", type=int, help="people, for a quick look")
    chosen = parser.parse_args()
    people = [json.loads(line) for line in chosen.data.open(encoding="utf-8")][: chosen.most]
    options = {"embedder": chosen.embedder} if chosen.embedder else {}
    rows = (Line(way, followed(people, way, options).told(), table="%") for way in chosen.ways)
    BENCHMARK.tell(rows, chosen, [chosen.data])


def followed(people: Sequence[dict[str, Any]], way: Appetite, options: dict[str, Any]) -> Shown:
    shown = Shown()
    for person in people:
        follow(person, way, options, shown)
    return shown


@dataclass
class Shown:
    """What many parts held."""

    sessions: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    by_people: int = 0
    by_all: int = 0
    said_by_people: int = 0
    said_by_all: int = 0

    def told(self) -> dict[str, Any]:
        return {
            "questions": len(self.tokens),
            "gold session": round(100 * statistics.mean(self.sessions), 1),
            "gold turn": round(100 * statistics.mean(self.turns), 1),
            **{f"tokens p{at}": percentile(self.tokens, at / 100) for at in (10, 50, 90)},
            "tokens": round(statistics.mean(self.tokens)),
            "user turns, % of shown": round(100 * self.by_people / max(1, self.by_all)),
            "user turns, % of said": round(100 * self.said_by_people / max(1, self.said_by_all)),
        }


def follow(person: dict[str, Any], way: Appetite, options: dict[str, Any], shown: Shown) -> None:
    """Capture what a person said step by step, and ask each question when it came."""
    said = person["items"]
    items = {item["id"]: item for item in said}
    known, now = 0, said_at(said[0])
    arriving = Arriving(appetite=way)
    settings = {"model": ENCODING, "deadline": None, "arriving": arriving, **options}
    clock = lambda: now + timedelta(hours=1)  # noqa: E731 - a clock is one expression
    with ContextMiddleware.open(":memory:", clock=clock, **settings) as ctx:
        for question in sorted(person["questions"], key=lambda one: one["before"]):
            if question["before"] > known:
                new = said[known : question["before"]]
                ingest(ctx, new)
                known, now = question["before"], max(now, *map(said_at, new))
            if question["evidence"]:
                measure(ctx, question, items, shown)
    shown.said_by_people += _tokens([item for item in said if item["speaker"] == "user"])
    shown.said_by_all += _tokens(said)


def measure(
    ctx: ContextMiddleware,
    question: dict[str, Any],
    items: dict[str, dict[str, Any]],
    shown: Shown,
) -> None:
    part, claimed = ask(ctx, question["question"], PART, "prepare")
    told = [items[name] for name in claimed if name in items]
    gold = question["evidence"]
    sessions = {item["session"] for item in told}
    wanted = question["sessions"]
    shown.sessions.append(sum(session in sessions for session in wanted) / len(wanted))
    found = [name for name in gold if name in claimed and carried(items[name]["text"], part)]
    shown.turns.append(len(found) / len(gold))
    shown.tokens.append(COUNT(part))
    lines = [line for line in part.splitlines() if line.startswith("- ")]
    shown.by_people += COUNT("\n".join(line for line in lines if line.startswith("- user")))
    shown.by_all += COUNT("\n".join(lines))


def _tokens(items: Sequence[dict[str, Any]]) -> int:
    return sum(COUNT(item["text"]) for item in items)


if __name__ == "__main__":
    main()

"""What a person's prompts look like after sixty conversations in two months.

    python -m benchmarks.prompts --data FILE [--conversations 60]

FILE has conversations as `benchmarks.retrieval` reads them; the sessions of its first person are
captured one after the other, a day apart, and ended. Printed are the blocks of three prompts,
with the words as they stand, and what is wrong with them: lines that come twice, ids that nothing
can be fetched by, instructions that are missing, and the tokens that "thanks!" carries.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.tokens.counter import counter_for

COUNT = counter_for("cl100k_base")
ASKED = ("thanks!", "What did we speak about last?", "Good morning. Let us go on where we were.")
RULES = (
    ("Always answer in short sentences.", "preference"),
    ("Never send anything to a customer without asking me.", "rule"),
    ("I prefer tea to coffee.", "preference"),
    ("Do not use abbreviations.", "anti_pattern"),
)


BENCHMARK = Benchmark(
    name="prompts", about=__doc__, data="the first conversation of a file", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", type=int, default=60)
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen.data, chosen.conversations), chosen, [chosen.data])


def measured(data: Path, conversations: int) -> Iterator[Line]:
    with data.open(encoding="utf-8") as lines:
        items = json.loads(next(lines))["items"]
    now = [datetime(2026, 1, 5, 9, tzinfo=UTC)]
    with ContextMiddleware.open(":memory:", model="cl100k_base", clock=lambda: now[0]) as ctx:
        for text, kind in RULES:
            ctx.remember(text, kind=kind)
        sessions = [list(group) for _, group in groupby(items, key=lambda item: item["session"])]
        for number, said in enumerate(sessions[:conversations]):
            tell(ctx, f"conversation-{number}", said, now)
            now[0] += timedelta(days=1)
        for number, text in enumerate(ASKED):
            context = ctx.session(f"now-{number}").prepare([{"role": "user", "content": text}])
            yield row_of(ctx, text, context.context.stable, context.context.part)


def tell(
    ctx: ContextMiddleware, name: str, said: Sequence[dict[str, Any]], now: list[datetime]
) -> None:
    """Hold a conversation turn by turn, and end it."""
    chat = ctx.session(name)
    messages: list[dict[str, Any]] = []
    for item in said:
        role = "assistant" if item["speaker"] == "assistant" else "user"
        messages.append({"role": role, "content": item["text"], "at": now[0]})
        now[0] += timedelta(minutes=1)
    chat.capture(messages)
    chat.end()


def row_of(ctx: ContextMiddleware, asked: str, stable: str, part: str) -> Line:
    lines = [line for line in (stable + part).splitlines() if line.startswith(("- ", "  "))]
    twice = [line for line, times in Counter(lines).items() if times > 1]
    ids = set(re.findall(r"^- ([a-z][a-z2-7]{6}) ", stable + part, re.MULTILINE))
    ids |= set(re.findall(r"\(([a-z][a-z2-7]{6}), \d+ tokens in full\)", stable + part))
    unknown = ids - {row.ref for row in ctx.store.get("local", sorted(ids))}
    missing = [text for text, _ in RULES if text not in stable]
    kept = ctx.store.count("local", Find(types=("memory",)))
    figures = {
        "stable": COUNT(stable),
        "part": COUNT(part),
        "memories": kept,
        "lines twice": len(twice),
        "ids unknown": len(unknown),
        "rules missing": len(missing),
    }
    return Line(repr(asked), figures, "tokens", (*missing, *(stable + part).splitlines()))


if __name__ == "__main__":
    main()

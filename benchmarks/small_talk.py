"""How often a message that asks for nothing brings something anyway.

    python -m benchmarks.small_talk --data DIR [--list NAME]

Says each line of a list in a new conversation, after the first conversation of every *.jsonl in DIR
was captured, and counts the prompts that got anything. The lists are in benchmarks/data: the gate
was made with `small_talk_tuned` at hand and changed after a look at what `small_talk_seen_*`
brought; `small_talk_held_out` was written after that and has changed nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.report import Benchmark, Line
from benchmarks.retrieval import ingest, said_at
from ctxmw import ContextMiddleware

LISTS = Path(__file__).parent / "data"


BENCHMARK = Benchmark(
    name="small_talk",
    about=__doc__,
    data="remarks of ours, after conversations that others wrote",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--list", default="small_talk_*", help="the lists to say; default: all")
    chosen = parser.parse_args()
    files = sorted(chosen.data.glob("*.jsonl"))
    lists = sorted(LISTS.glob(f"{chosen.list}.txt"))
    BENCHMARK.tell((row for path in files for row in after(path, lists)), chosen, files)


def after(path: Path, lists: Sequence[Path]) -> Iterator[Line]:
    with path.open(encoding="utf-8") as file:
        conversation = json.loads(file.readline())
    for list_ in lists:
        lines = list_.read_text(encoding="utf-8").splitlines()
        brought = said_after(conversation, lines)
        share = round(100 * sum(brought.values()) / len(lines), 1)
        notes = tuple(repr(line) for line, some in brought.items() if some)
        figures = {"lines": len(lines), "bring something %": share}
        yield Line(f"{list_.stem} after {path.stem}", figures, notes=notes)


def said_after(conversation: dict, lines: list[str]) -> Counter[str]:
    latest = max(map(said_at, conversation["items"]))
    with ContextMiddleware.open(":memory:", clock=lambda: latest, deadline=None) as ctx:
        ingest(ctx, conversation["items"])
        parts = {
            line: ctx.session().peek([{"role": "user", "content": line}]).context.part
            for line in lines
        }
    return Counter({line: int(bool(part)) for line, part in parts.items()})


if __name__ == "__main__":
    main()

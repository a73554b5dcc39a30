"""How many of twenty facts are found that stand somewhere in long records.

    python -m benchmarks.passages [--most TOKENS]

Each fact is in a record of its own, in one of five places, among sentences that say nothing of it,
and is asked for from another conversation: through `prepare`, and through `mem_search`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware, memory_tools

SUBJECTS = (
    "turbine lantern orchard compass saddle violin anchor kettle glacier beacon falcon marble "
    "pepper canyon harbour magnet ribbon tunnel walnut zeppelin"
).split()
SENTENCES = {272: 6, 792: 20, 2_612: 65, 20_000: 500, 50_000: 1_250}
"""Tokens of a record, and of how many sentences it is made."""
FILLER = (
    "The committee met again in the afternoon and went through the remaining points of the agenda "
    "without coming to a decision that anybody in the room was willing to write down."
)


BENCHMARK = Benchmark(
    name="passages", about=__doc__, data="twenty made-up facts in long records", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--most", type=int, default=20_000, help="tokens of the longest records")
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen.most), chosen)


def measured(most: int) -> Iterator[Line]:
    for tokens, sentences in SENTENCES.items():
        for name, (written, told) in WAYS.items() if tokens <= most else ():
            prepared, searched = found(written, told, sentences, len(SUBJECTS))
            figures = {"of": len(SUBJECTS), "prepare": prepared, "mem_search": searched}
            yield Line(f"{tokens:,} tokens, {name}", figures, table="facts found")


def found(
    written: Callable[[int, int], str],
    told: Callable[[ContextMiddleware, int, str], None],
    sentences: int,
    facts: int,
) -> tuple[int, int]:
    """Return how many facts `prepare` brings, and how many `mem_search`."""
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        for at in range(facts):
            told(ctx, at, written(at, sentences))
        prepared, searched = 0, 0
        for at, subject in enumerate(SUBJECTS[:facts]):
            question = f"Who was the {subject} sold to?"
            chat = ctx.session(f"later-{at}")
            prompt = chat.prepare([{"role": "user", "content": question}], capture=False).messages
            prepared += str(7000 + at) in str(prompt)
            search, *_ = memory_tools(ctx.session(f"tool-{at}"))
            searched += str(7000 + at) in search(query=question)
    return prepared, searched


def fact(at: int) -> str:
    return f"The {SUBJECTS[at]} was sold to customer number {7000 + at}."


def prose(at: int, sentences: int) -> str:
    said = [f"{FILLER} Item {number}." for number in range(sentences)]
    said.insert(sentences * (at % 5) // 5, fact(at))
    return " ".join(said)


def one_line_json(at: int, sentences: int) -> str:
    rows = [{"row": number, "note": FILLER} for number in range(sentences)]
    rows.insert(sentences * (at % 5) // 5, {"row": -1, "note": fact(at)})
    return json.dumps(rows)


def as_turn(ctx: ContextMiddleware, at: int, text: str) -> None:
    asked = {"role": "user", "content": "Please read the minutes."}
    ctx.session(f"s{at}").capture([asked, {"role": "assistant", "content": text}])


def as_tool_output(ctx: ContextMiddleware, at: int, text: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ctx.session(f"s{at}").capture(
        [
            {"role": "user", "content": "Please read the minutes."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": text},
            {"role": "assistant", "content": "I have read them."},
        ]
    )


def as_memory(ctx: ContextMiddleware, at: int, text: str) -> None:
    ctx.remember(text, kind="fact", key=f"minutes-{at}")


WAYS = {
    "turn": (prose, as_turn),
    "tool output": (prose, as_tool_output),
    "memory": (prose, as_memory),
    "JSON on one line": (one_line_json, as_tool_output),
}

if __name__ == "__main__":
    main()

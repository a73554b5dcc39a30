"""The five figures by which a memory for assistants is to be judged, each beside its aim.

    python -m benchmarks.metrics [--messages 100] [--saves 20] [--data DIR] [--most N]

latency     how long a message waits for its context: under 200 ms
helpful     contexts that hold what the message is about: over 70 %
waste       tokens of them that are about something else: under 30 %
activity    from a save to when a conversation can know of it: under 50 ms
irrelevant  contexts that hold nothing of what the message is about, and messages about nothing that
            bring something all the same ("unasked"): each under 20 %

Always of code: messages about the installed langchain_core, beside ordinary chat that must bring
none. With --data of conversations too, in the files of `benchmarks.retrieval`: questions whose
evidence is known, beside small talk. Waste is told twice: "waste" is all that is not the very
definition, or the evidence; "not near" is what is no neighbour either (its class, a member, its
file, who calls it), or not even of a session that has evidence. Nobody is asked: "helpful" is what
the labels say.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from benchmarks.code_context import (
    MEMORIES,
    PROJECT,
    asked,
    built,
    code_in,
    defined_in,
    is_near,
    is_wanted,
    is_within,
)
from benchmarks.code_index import copied, saved
from benchmarks.report import Benchmark, Line
from benchmarks.retrieval import COUNT, ENCODING, PART, ingest, said_at, scored
from benchmarks.timing import percentile
from ctxmw import Budget, ContextMiddleware
from ctxmw.evaluation.measure import part_for

T = TypeVar("T")
LISTS = Path(__file__).parent / "data"
FILES = 50
"""Of the project in which files are saved."""
TITLE = "five figures"
AIMS = {
    "messages": None,
    "latency p50 ms": "< 200",
    "p99 ms": None,
    "CPU p50 ms": None,
    "helpful %": "> 70",
    "waste %": "< 30",
    "not near %": None,
    "irrelevant %": "< 20",
    "unasked %": "< 20",
}
BENCHMARK = Benchmark(
    name="metrics",
    about=__doc__,
    data="the installed langchain_core, lists of ours, and with --data conversations of others",
    seed=7,
)


@dataclass(frozen=True, slots=True)
class Brought:
    """What a message was given."""

    milliseconds: float
    cpu: float
    """Of these, what this thread has worked."""
    tokens: int
    wanted: int
    """Tokens of what it is about ..."""
    near: int
    """... and of what stands near to that, this included."""
    is_asking: bool
    """Whether it is about anything that could be given."""
    is_helpful: bool


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--data", type=Path, help="a folder of conversations, *.jsonl")
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    chosen = parser.parse_args()
    files = sorted(chosen.data.glob("*.jsonl")) if chosen.data else []
    BENCHMARK.tell(measured(chosen.messages, chosen.saves, files, chosen.most), chosen, files)


def measured(messages: int, saves: int, files: Sequence[Path], most: int | None) -> Iterator[Line]:
    yield Line("aim", AIMS, table=TITLE)
    yield Line("code", judged(list(code(messages))), table=TITLE)
    for path in files:
        yield Line(path.stem, judged(list(talk(path, most))), table=TITLE)
    yield Line("from a save to activity", activity(saves) | {"aim": "< 50"}, table="ms")


def judged(every: Sequence[Brought]) -> dict[str, Any]:
    """Return four of the five figures; what brings nothing wastes nothing and is no injection."""
    asking = [one for one in every if one.is_asking]
    others = [one for one in every if not one.is_asking]
    answered = [one for one in asking if one.tokens]
    tokens = max(1, sum(one.tokens for one in answered))
    times = [one.milliseconds for one in every]
    return {
        "messages": len(every),
        "latency p50 ms": round(percentile(times, 0.5), 1),
        "p99 ms": round(percentile(times, 0.99), 1),
        "CPU p50 ms": round(percentile([one.cpu for one in every], 0.5), 1),
        "helpful %": _percent(sum(one.is_helpful for one in asking), len(asking)),
        "waste %": round(100 - 100 * sum(one.wanted for one in answered) / tokens, 1),
        "not near %": round(100 - 100 * sum(one.near for one in answered) / tokens, 1),
        "irrelevant %": _percent(sum(not one.near for one in answered), len(answered)),
        "unasked %": _percent(sum(bool(one.tokens) for one in others), len(others)),
    }


def code(messages: int) -> Iterator[Brought]:
    """Say messages about code, and as many lines of ordinary chat as there are."""
    import langchain_core

    root = Path(langchain_core.__file__).parent
    cases = list(built(list(defined_in(root)), messages, Random(BENCHMARK.seed)))
    chat = (LISTS / "ordinary_chat.txt").read_text(encoding="utf-8").splitlines()
    folder = tempfile.TemporaryDirectory()
    with folder, ContextMiddleware.open(Path(folder.name) / "memory.db", deadline=None) as ctx:
        ctx.index_code(root, project=PROJECT)
        for text in MEMORIES:
            ctx.remember(text, kind="decision", scope=f"project:{PROJECT}")
        for case in cases:
            prepared, *took = _timed(partial(asked, ctx, case.message))
            shown, part = code_in(prepared), prepared.context.part
            good = [one for one in shown if is_wanted(one, case) or is_within(one, case, part)]
            near = [one for one in shown if one in good or is_near(ctx, one, case)]
            counts = [sum(one.tokens for one in some) for some in (shown, good, near)]
            yield Brought(*took, *counts, is_asking=True, is_helpful=bool(good))
        for line in chat:
            prepared, *took = _timed(partial(asked, ctx, line))
            tokens = sum(one.tokens for one in code_in(prepared))
            yield Brought(*took, tokens, 0, 0, is_asking=False, is_helpful=False)


def talk(path: Path, most: int | None) -> Iterator[Brought]:
    """Ask what conversations have the evidence for, and make small talk after them."""
    small = (LISTS / "small_talk_held_out.txt").read_text(encoding="utf-8").splitlines()
    for told in map(json.loads, path.read_text(encoding="utf-8").splitlines()[:most]):
        items = {item["id"]: item for item in told["items"]}
        now = max(map(said_at, items.values())) + timedelta(hours=1)
        clock = lambda now=now: now  # noqa: E731 - a clock is one expression
        with ContextMiddleware.open(":memory:", model=ENCODING, clock=clock, deadline=None) as ctx:
            ingest(ctx, told["items"])
            for question in scored(told["questions"], path.stem):
                gold = set(question["evidence"])
                sessions = {items[ref]["session"] for ref in gold}
                near = {ref for ref, item in items.items() if item["session"] in sessions}
                yield _given(ctx, question["question"], gold, near)
            for line in small:
                yield _given(ctx, line, set(), set())


def _given(ctx: ContextMiddleware, text: str, gold: set[str], near: set[str]) -> Brought:
    (part, shown), *took = _timed(partial(part_for, ctx, text, Budget().with_turn_limit(PART)))
    # Headings and other lines that belong to no message count with all of them.
    whole, said = COUNT(part), max(1, sum(shown.values()))
    wanted = sum(tokens for ref, tokens in shown.items() if ref in gold)
    close = sum(tokens for ref, tokens in shown.items() if ref in near)
    shares = (round(whole * wanted / said), round(whole * close / said))
    return Brought(*took, whole, *shares, is_asking=bool(gold), is_helpful=bool(wanted))


def activity(saves: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder / "code", FILES)
        with ContextMiddleware.open(folder / "memory.db") as ctx:
            ctx.index_code(folder / "code", project="many")
            return dict(saved(ctx, folder / "code", saves).figures)


def _timed(call: Callable[[], T]) -> tuple[T, float, float]:
    """Return what a call returns, and its milliseconds by the clock and of this thread."""
    wall, own = time.perf_counter(), time.thread_time()
    returned = call()
    spent = (time.perf_counter() - wall, time.thread_time() - own)
    return returned, 1000 * spent[0], 1000 * spent[1]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


if __name__ == "__main__":
    main()

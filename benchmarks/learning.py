"""What of everyday talk is learned, shown when it matters, and given up when it no longer holds.

    python -m benchmarks.learning [--data DIR] [--json FILE] [--misses] [--part PART] [--only NAME]

Always measured, on messages in benchmarks/data that were written before the rules: statements to
learn (`everyday`), messages that teach nothing (`nothing`), pairs of which the second takes the
place of the first (`changes`), and pairs that look like it and both hold (`stays`). Parts `seen`
and `held` are from when the rules were first made.
Later batches are in other voices: the rules were mended with `fresh_a` at hand, `fresh_b`
was looked at now and then, `fresh_c` not before the rules were done. Of pairs, `fresh_d` was at
hand when changes were first told by what a statement is about, and its third `held_d` was not;
`fresh_e` and its third `held_e`, a seeded draw, are the same of a later day, for all four lists.
A statement is learned when 80 % of its stemmed content words stand in what is current.

With --data, on files that others wrote. `prefeval-dev.jsonl` has a preference and a question a row:
each preference is said in a conversation of its own, the question asked in a later one. One person
has the first 30 rows of a topic; another one those of five topics at once. Learned or shown means
80 % of its stemmed content words in one current memory, or in one line of what the prompt got.
`memorycode-dev.jsonl` has instructions that are changed later: after all of its sessions, the
values of what is current must stand in one line, quoted, and those of what was replaced must not,
unless that line says that it was. `ever quoted` is the share of the current values that the person
gives in quotes at all: the others are never said, said without quotes, or said by the other one.
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.text.terms import content_terms
from ctxmw.values.records import Memory, load_as

HERE = Path(__file__).parent / "data"
ENOUGH = 0.8
"""The share of the content words that must be found in one place."""
ROWS, TOPICS = 30, 5
PARTS = ("seen", "held", "fresh_a", "fresh_b", "fresh_c", "fresh_d", "held_d", "fresh_e", "held_e")
FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
_MARK = "['\"`\u2018\u2019\u201c\u201d]"
_ASKING = re.compile(r"\b(?:please|from now on|keep in mind|don't forget|note that)\b", re.I)
"""What only asks for a statement to be kept, and is no part of it."""
_REPLACED = re.compile(r"\(was:.*|\b(?:replaced|superseded|no longer|formerly)\b.*", re.IGNORECASE)


@dataclass
class Result:
    """What one set gave: shares in percent, means, and what was missed."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)


class Person:
    """Somebody who talks, a day for each conversation."""

    def __init__(self) -> None:
        self._now = FIRST_DAY
        self.ctx = ContextMiddleware.open(":memory:", clock=lambda: self._now, deadline=None)

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *_: object) -> None:
        self.ctx.close()

    def says(self, *texts: str, replies: Sequence[str] = ()) -> None:
        """Have a conversation of these messages, each answered."""
        pairs = zip_longest(texts, replies, fillvalue="All right.")
        messages = [
            {"role": role, "content": text}
            for pair in pairs
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        self.converses(messages)

    def converses(self, messages: Sequence[dict[str, str]]) -> None:
        chat = self.ctx.session(f"day {self._now:%Y-%m-%d}")
        chat.capture(messages)
        chat.end()
        self._now += timedelta(days=1)

    def memories(self, *, live: bool | None = True) -> list[Memory]:
        rows = self.ctx.store.query("local", Find(types=("memory",), live=live))
        return [load_as(row, Memory) for row in rows]

    def is_shown(self, question: str) -> tuple[str, int]:
        """Return what a prompt that asks this gets in a new conversation, and its tokens."""
        context = self.ctx.session("asks").peek([{"role": "user", "content": question}]).context
        return context.text, context.tokens


BENCHMARK = Benchmark(
    name="learning",
    about=__doc__,
    data="lists of ours in benchmarks/data, and with --data PrefEval and MemoryCode",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, help="a folder with the files of others")
    parser.add_argument("--misses", action="store_true", help="print what was missed as well")
    parser.add_argument("--part", choices=PARTS, help="of our own lists; default: all")
    parser.add_argument("--only", action="append", help="which sets, by the start of their name")
    chosen = parser.parse_args()
    rows = (
        Line(
            result.name,
            {name: round(value, 1) for name, value in result.figures.items()},
            notes=tuple(result.misses) if chosen.misses else (),
        )
        for result in measured(chosen.data, chosen.part, chosen.only)
    )
    BENCHMARK.tell(rows, chosen, sorted(chosen.data.glob("*.jsonl")) if chosen.data else ())


def measured(data: Path | None, part: str | None, only: Sequence[str] | None) -> Iterator[Result]:
    """Measure what was asked for, one set after the other."""
    wanted = tuple(only or ("",))
    for of in (part,) if part else PARTS:
        for name, file, measure in _OWN_LISTS:
            if name.startswith(wanted) and any(measured_lines(file, of)):
                yield measure(of)
    prefeval = data / "prefeval-dev.jsonl" if data else None
    if prefeval and prefeval.exists() and "prefeval".startswith(wanted):
        yield from preferences(_rows(prefeval))
    memorycode = data / "memorycode-dev.jsonl" if data else None
    if memorycode and memorycode.exists() and "memorycode".startswith(wanted):
        yield instructions(_rows(memorycode))


def everyday(part: str) -> Result:
    """Of statements to learn: how many are, by language and over all."""
    found: dict[str, list[bool]] = defaultdict(list)
    misses = []
    for language, kind, text, must in measured_lines("everyday", part):
        with Person() as person:
            person.says(text)
            memories = person.memories()
        # A sentence that says two things may be two memories.
        told = " ".join(memory.text for memory in memories)
        learned = _holds(told, _ASKING.sub("", must))
        found["all"].append(learned)
        found[language].append(learned)
        if not learned:
            misses.append(f"{language} {kind}: {text} -> {[one.text for one in memories]}")
    return Result(f"everyday ({part}): learned %", _shares(found), misses)


def nothing(part: str) -> Result:
    """Of messages that teach nothing: how many teach something, and what reading one costs."""
    taught, misses = [], []
    spent = 0.0
    with Person() as person:
        for kind, text in measured_lines("teaches_nothing", part):
            before = {memory.ref for memory in person.memories(live=None)}
            started = time.thread_time()
            person.says(text.replace("\\n", "\n"))
            spent += time.thread_time() - started
            new = [one for one in person.memories(live=None) if one.ref not in before]
            taught.append(bool(new))
            misses += [f"{kind}: {text} -> {one.kind}: {one.text}" for one in new]
    figures = {"of": len(taught), "taught %": _percent(taught), "ms": 1000 * spent / len(taught)}
    return Result(f"nothing ({part})", figures, misses)


def changes(part: str) -> Result:
    """Of changes of mind: in how many both versions are current, or the first never was."""
    both, lost, current, misses = [], [], [], []
    for first, second, _ in measured_lines("changes_of_mind", part):
        with Person() as person:
            person.says(first)
            old = {memory.ref for memory in person.memories()}
            person.says(second)
            live = person.memories()
        both.append(any(memory.ref in old for memory in live))
        lost.append(not old)
        current.append(any(memory.ref not in old for memory in live))
        if both[-1] or lost[-1] or not current[-1]:
            misses.append(f"{first} | {second} -> {[memory.text for memory in live]}")
    figures = {
        "of": len(both),
        "both current": sum(both),
        "first not learned": sum(lost),
        "second current": sum(current),
    }
    return Result(f"changes of mind ({part})", figures, misses)


def stays(part: str) -> Result:
    """Of pairs that look like a change of mind and are none: how many lose the first."""
    lost, unlearned, misses = [], [], []
    for first, second in measured_lines("both_stay", part):
        with Person() as person:
            person.says(first)
            old = {memory.ref for memory in person.memories()}
            person.says(second)
            live = person.memories()
        lost.append(bool(old) and not any(memory.ref in old for memory in live))
        unlearned.append(not old)
        if lost[-1]:
            misses.append(f"{first} | {second} -> {[memory.text for memory in live]}")
    figures = {"of": len(lost), "first lost": sum(lost), "first not learned": sum(unlearned)}
    return Result(f"both stay ({part})", figures, misses)


_OWN_LISTS = (
    ("everyday", "everyday", everyday),
    ("nothing", "teaches_nothing", nothing),
    ("changes", "changes_of_mind", changes),
    ("stays", "both_stay", stays),
)


def preferences(rows: Iterable[dict[str, Any]]) -> Iterator[Result]:
    """PrefEval: one person per topic, and one of five topics."""
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        topics[row["topic"]].append(row)
    first = [rows[:ROWS] for rows in topics.values()]
    whole = [_preferring(rows) for rows in first]
    yield _told("prefeval, a person per topic", whole)
    mixed = [row for rows in zip_longest(*first[:TOPICS]) for row in rows if row]
    yield _told(f"prefeval, a person of {len(mixed)}", [_preferring(mixed)])


def instructions(rows: Iterable[dict[str, Any]]) -> Result:
    """MemoryCode: what of the current and of the replaced instructions a prompt shows."""
    current, replaced, said, tokens, misses = [], [], [], [], []
    for row in rows:
        told = [
            turn["text"] for one in row["sessions"] for turn in one if turn["speaker"] == "user"
        ]
        with Person() as person:
            for session in row["sessions"]:
                person.converses(
                    [{"role": turn["speaker"], "content": turn["text"]} for turn in session]
                )
            shown = [person.is_shown(f"Write a {asked}.") for asked in row["questions"]]
        tokens += [n for _, n in shown]
        for text, _ in shown:
            said += [
                any(_has_values(one, wanted["values"]) for one in told) for wanted in row["current"]
            ]
            for found, wanted in ((current, row["current"]), (replaced, row["superseded"])):
                for one in wanted:
                    found.append(_has_values(text, one["values"]))
                    if found[-1] is (found is replaced):
                        which = "superseded shown" if found is replaced else "current missing"
                        misses.append(f"{row['dialogue']} {which}: {one['text']}")
    figures = {
        "current %": _percent(current),
        "ever quoted %": _percent(said),
        "superseded %": _percent(replaced),
        "tokens": sum(tokens) / len(tokens),
    }
    return Result("memorycode", figures, list(dict.fromkeys(misses)))


@dataclass
class _Preferring:
    learned: list[bool]
    shown: list[bool]
    tokens: list[int]
    misses: list[str]


def _preferring(rows: Sequence[dict[str, Any]]) -> _Preferring:
    with Person() as person:
        for row in rows:
            person.says(row["preference"])
        memories = [memory.text for memory in person.memories()]
        learned = [any(_holds(text, row["preference"]) for text in memories) for row in rows]
        prompts = [person.is_shown(row["question"]) for row in rows]
    shown = [
        any(_holds(line, row["preference"]) for line in text.splitlines())
        for row, (text, _) in zip(rows, prompts, strict=True)
    ]
    lost = [
        f"not learned: {row['preference']}" for row, it in zip(rows, learned, strict=True) if not it
    ]
    hidden = [
        f"not shown: {row['preference']} | {row['question']}"
        for row, it in zip(rows, shown, strict=True)
        if not it
    ]
    return _Preferring(learned, shown, [n for _, n in prompts], [*lost, *hidden])


def _told(name: str, people: Sequence[_Preferring]) -> Result:
    tokens = list(chain.from_iterable(one.tokens for one in people))
    figures = {
        "learned %": _percent(list(chain.from_iterable(one.learned for one in people))),
        "shown %": _percent(list(chain.from_iterable(one.shown for one in people))),
        "tokens": sum(tokens) / len(tokens),
    }
    return Result(name, figures, [miss for one in people for miss in one.misses])


def _holds(text: str, wanted: str) -> bool:
    """Say whether a text has enough of the content words of another."""
    terms = set(content_terms(wanted))
    return len(terms & set(content_terms(text))) >= ENOUGH * len(terms)


def _has_values(text: str, values: Sequence[str]) -> bool:
    """Say whether one line has all the values, each as a whole quoted token."""
    lines = (_REPLACED.sub("", line) for line in text.splitlines())
    return any(all(_quoted(value).search(line) for value in values) for line in lines)


def _quoted(value: str) -> re.Pattern[str]:
    return re.compile(rf"""{_MARK}{re.escape(value)}{_MARK}""")


def _shares(found: dict[str, list[bool]]) -> dict[str, float]:
    return {name: _percent(those) for name, those in found.items()}


def _percent(those: Sequence[bool]) -> float:
    return 100 * sum(those) / max(1, len(those))


def measured_lines(name: str, part: str) -> Iterator[list[str]]:
    """Yield the columns of one of our own lists, of one part of it."""
    for line in (HERE / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        of, *columns = line.split("\t")
        if of == part:
            yield columns


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()

"""What is learned from messages, and given up after others, that somebody wrote without the rules.

    python -m benchmarks.people [--part fresh] [--json FILE] [--misses] [--only NAME]

The four lists, benchmarks/data/people_*.jsonl, were written by somebody who had never seen the
rules, and were committed before anything was tuned to them. Two thirds, `fresh`, may be looked at;
of the third `held` nobody reads a row, and nothing but the score is printed. How things are counted
was fixed before the first figure:

- keep: a message, what of it is worth keeping, and a question of a later conversation. It is
  learned when half of the content words of what is worth keeping stand in one current memory (the
  list gives it in other words than the person's: half is what nearly every message itself has), and
  shown when they stand in one line of what the question brings, as a memory or as a turn.
- nothing: a message that teaches nothing. `taught` counts those that leave a memory.
- changes: a message, a later one that changes what it says, the value before and after. A value is
  current when 80 % of its words stand in one current memory that its own message taught. `right`
  is when the question brings the new value and no line with the old one, unless that line says
  that it was replaced; `right or dated` lets old lines stand that tell an earlier day.
- both stay: two messages that both hold. `first lost` counts those whose first no longer does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks.learning import HERE, Person, Result
from benchmarks.report import Benchmark, Line
from ctxmw.text.terms import content_terms
from ctxmw.values.records import Memory

PARTS = ("fresh", "held")
OF_WHAT_IS_KEPT, OF_A_VALUE = 0.5, 0.8
"""The share of the content words that must stand in one place."""
_OF_THE_LIST = frozenset(content_terms("user users user's team team's want wants"))
"""Words by which the list itself speaks: nobody says "the user" of themselves."""
_REPLACED = re.compile(r"\(was:|\b(?:replaced|superseded|no longer|formerly)\b", re.IGNORECASE)
_DATED = re.compile(r"- \d{4}-\d\d-\d\d\b")
_DAY = re.compile(r"#+ \d{4}-\d\d-\d\d")

BENCHMARK = Benchmark(
    name="people",
    about=__doc__,
    data="lists in benchmarks/data, written by somebody who had not seen the rules",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--part", choices=PARTS, default="fresh")
    parser.add_argument("--misses", action="store_true", help="print what was missed, fresh only")
    parser.add_argument("--only", action="append", help="which lists, by the start of their name")
    chosen = parser.parse_args()
    tells = chosen.misses and chosen.part != "held"
    rows = (
        Line(
            result.name,
            {name: round(value, 1) for name, value in result.figures.items()},
            notes=tuple(result.misses) if tells else (),
        )
        for result in measured(chosen.part, tuple(chosen.only or ("",)))
    )
    BENCHMARK.tell(rows, chosen)


def measured(part: str, only: tuple[str, ...]) -> Iterator[Result]:
    """Measure what was asked for, one list after the other."""
    for name, measure in _LISTS:
        if name.startswith(only):
            rows = (HERE / f"people_{name}.jsonl").read_text(encoding="utf-8").splitlines()
            yield measure(part, [row for row in map(json.loads, rows) if row["part"] == part])


def keep(part: str, rows: Sequence[dict[str, Any]]) -> Result:
    """Of what is worth keeping: how much is learned, and how much is shown when asked."""
    result = Result(f"worth keeping ({part})")
    learned, shown, tokens, taught = [], [], [], []
    for row in rows:
        with Person() as person:
            person.says(row["message"])
            memories = [memory.text for memory in person.memories()]
            text, spent = person.is_shown(row["question"])
        learned.append(any(_keeps(one, row["keep"]) for one in memories))
        shown.append(any(_keeps(line, row["keep"]) for line in text.splitlines()))
        tokens.append(spent)
        taught.append(len(memories))
        if not learned[-1]:
            result.misses.append(f"{row['id']} not learned: {row['message']} -> {memories}")
        if not shown[-1]:
            result.misses.append(f"{row['id']} not shown: {row['message']} | {row['question']}")
    result.figures = {
        "of": len(rows),
        "learned %": _percent(learned),
        "shown %": _percent(shown),
        "tokens": sum(tokens) / len(tokens),
        "memories": sum(taught) / len(taught),
    }
    return result


def nothing(part: str, rows: Sequence[dict[str, Any]]) -> Result:
    """Of messages that teach nothing: how many teach something."""
    result = Result(f"nothing ({part})")
    taught = []
    for row in rows:
        with Person() as person:
            person.says(row["message"])
            memories = person.memories(live=None)
        taught.append(bool(memories))
        result.misses += [
            f"{row['id']} {row['why']}: {row['message']} -> {one.kind}: {one.text}"
            for one in memories
        ]
    result.figures = {"of": len(rows), "taught": sum(taught), "taught %": _percent(taught)}
    return result


def changes(part: str, rows: Sequence[dict[str, Any]]) -> Result:
    """Of changes of mind: what is current afterwards, and what a question then brings."""
    result = Result(f"changes of mind ({part})")
    counts: dict[str, list[bool]] = {}
    for row in rows:
        with Person() as person:
            person.says(row["first"])
            first = person.memories()
            person.says(row["later"])
            live = person.memories()
            text, _ = person.is_shown(row["question"])
        before = {memory.ref for memory in first}
        old = _has(row["old"], (one for one in live if one.ref in before))
        new = _has(row["new"], (one for one in live if one.ref not in before))
        right, dated = _answers(text, row)
        found = {
            "old learned": _has(row["old"], first),
            "old current": old,
            "new current": new,
            "both current": old and new,
            "right": right,
            "right or dated": dated,
        }
        for name, yes in found.items():
            counts.setdefault(name, []).append(yes)
        if old or not new or not right:
            told = [f"{'old' if one.ref in before else 'new'}: {one.text}" for one in live]
            which = ", ".join(name for name, yes in found.items() if yes)
            result.misses.append(
                f"{row['id']} [{which}] {row['first']} | {row['later']}"
                f" | {row['old']} -> {row['new']} | {row['question']} -> {told}"
            )
    result.figures = {"of": len(rows), **{name: sum(those) for name, those in counts.items()}}
    return result


def both_stay(part: str, rows: Sequence[dict[str, Any]]) -> Result:
    """Of pairs that both hold: how many lose the first, and how many of the second are learned."""
    result = Result(f"both stay ({part})")
    lost, unlearned, second = [], [], []
    for row in rows:
        with Person() as person:
            person.says(row["first"])
            before = {memory.ref for memory in person.memories()}
            person.says(row["later"])
            live = person.memories()
        lost.append(not before <= {memory.ref for memory in live})
        unlearned.append(not before)
        second.append(any(memory.ref not in before for memory in live))
        if lost[-1]:
            told = [memory.text for memory in live]
            result.misses.append(f"{row['id']} {row['first']} | {row['later']} -> {told}")
    result.figures = {
        "of": len(rows),
        "first lost": sum(lost),
        "first not learned": sum(unlearned),
        "second current": sum(second),
    }
    return result


_LISTS = (("keep", keep), ("nothing", nothing), ("changes", changes), ("both_stay", both_stay))


def _keeps(text: str, wanted: str) -> bool:
    terms = set(content_terms(wanted)) - _OF_THE_LIST
    return len(terms & set(content_terms(text))) >= OF_WHAT_IS_KEPT * len(terms)


def _has(value: str, memories: Iterable[Memory]) -> bool:
    return any(_holds(memory.text, value) for memory in memories)


def _holds(text: str, value: str) -> bool:
    terms = set(content_terms(value))
    if not terms:
        return value.casefold() in text.casefold()
    return len(terms & set(content_terms(text))) >= OF_A_VALUE * len(terms)


def _answers(text: str, row: dict[str, Any]) -> tuple[bool, bool]:
    """Say whether what is shown has the new value and not the old; and the same but for days."""
    day, told = False, False
    old: list[bool] = []
    later = set(content_terms(row["later"]))
    for line in text.splitlines():
        day = bool(_DAY.match(line)) or (day and not line.startswith("#"))
        told = told or _holds(line, row["new"])
        dated = day or bool(_DATED.match(line))
        terms = set(content_terms(line))
        # The later message names the old value too: "not Leeds people any more".
        of_later = len(terms & later) >= OF_A_VALUE * len(terms)
        if _holds(line, row["old"]) and not of_later and not _REPLACED.search(line):
            old.append(dated)
    return told and not old, told and all(old)


def _percent(those: Sequence[bool]) -> float:
    return 100 * sum(those) / max(1, len(those))


if __name__ == "__main__":
    main()

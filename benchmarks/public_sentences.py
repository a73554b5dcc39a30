"""What is learned of sentences that others wrote, one by one, as people said them to each other.

    python -m benchmarks.public_sentences --data DIR [--misses]

`benchmarks/data/public_sentences.tsv` names 315 sentences of BEAM, LoCoMo, REALTALK and RealMem, a
seeded draw among those of four to forty words that end without a question mark, and a label for
each: L tells something that lasts, N teaches nothing, O may be learned or not. They were labelled
before what is measured was changed. The texts are not ours, so only their places are here; DIR has
the files.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.learning import HERE, Person
from benchmarks.report import Benchmark, Line

FILES = {
    "beam": "beam100k-dev.jsonl",
    "locomo": "locomo-dev.jsonl",
    "realtalk": "realtalk-dev.jsonl",
    "realmem": "realmem/realmem-dev.jsonl",
}
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")


BENCHMARK = Benchmark(
    name="public_sentences",
    about=__doc__,
    data="sentences of conversations that others wrote, with labels of ours",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True, help="a folder with the conversations")
    parser.add_argument("--misses", action="store_true", help="print what was judged otherwise")
    chosen = parser.parse_args()
    read = [chosen.data / file for file in FILES.values()]
    BENCHMARK.tell(measured(chosen.data, misses=chosen.misses), chosen, read)


def measured(data: Path, *, misses: bool = False) -> Iterator[Line]:
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    for name, label, text in sentences_in(data):
        with Person() as person:
            person.says(text)
            learned = [memory.text for memory in person.memories()]
        for of in (name, "all"):
            counts[of, label].append(bool(learned))
        if misses and label != "O" and bool(learned) != (label == "L"):
            missed[name].append(f"{label}: {text} -> {learned}")
    for name in (*FILES, "all"):
        figures: dict[str, float] = {}
        for what, label in (("learned", "L"), ("wrongly taught", "N"), ("either", "O")):
            those = counts[name, label]
            figures[what] = sum(those)
            figures[f"{what} %"] = round(100 * sum(those) / max(1, len(those)), 1)
        yield Line(name, figures, notes=tuple(missed[name]))


def sentences_in(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each sentence with its set and its label."""
    said = {name: _conversations(data / file) for name, file in FILES.items()}
    for line in (HERE / "public_sentences.tsv").read_text(encoding="utf-8").splitlines():
        name, conversation, item, place, label = line.split("\t")
        text = said[name][conversation, item].split("```")[0]
        yield name, label, _BETWEEN.split(text)[int(place)].strip()


def _conversations(path: Path) -> dict[tuple[str, str], str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["conv"], str(one["id"])): one["text"] for row in rows for one in row["items"]}


if __name__ == "__main__":
    main()

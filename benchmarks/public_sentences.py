"""What is learned of sentences that others wrote, one by one, as people said them to each other.

    python -m benchmarks.public_sentences --data DIR [--misses]

`benchmarks/data/public_sentences.tsv` names 315 sentences of BEAM, LoCoMo, REALTALK and RealMem, a
seeded draw among those of four to forty words that end without a question mark, and a label for
each: L tells something that lasts, N teaches nothing, O may be learned or not. They were labelled
before what is measured was changed. The texts are not ours, so only their places are here; DIR has
the files.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.learning import HERE, Person

FILES = {
    "beam": "beam100k-dev.jsonl",
    "locomo": "locomo-dev.jsonl",
    "realtalk": "realtalk-dev.jsonl",
    "realmem": "realmem/realmem-dev.jsonl",
}
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder with the conversations")
    parser.add_argument("--misses", action="store_true", help="print what was judged otherwise")
    chosen = parser.parse_args()
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for name, label, text in sentences_in(chosen.data):
        with Person() as person:
            person.says(text)
            learned = [memory.text for memory in person.memories()]
        for of in (name, "all"):
            counts[of, label].append(bool(learned))
        if chosen.misses and label != "O" and bool(learned) != (label == "L"):
            print(f"    {label} {name}: {text} -> {learned}")
    for name in (*FILES, "all"):
        figures = (
            f"{what} {sum(those)} of {len(those)} ({100 * sum(those) / max(1, len(those)):.1f} %)"
            for what, label in (("learned", "L"), ("wrongly taught", "N"), ("either", "O"))
            for those in (counts[name, label],)
        )
        print(f"{name:<10} {'  '.join(figures)}")


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

"""Whether requests in anybody's words bring the code they are about, within a turn's part.

    python -m benchmarks.code_requests --data FILE --trees DIR [--package NAME] [--most N] [--show]
    python -m benchmarks.code_requests --data FILE --trees DIR --control
    python -m benchmarks.code_requests --chat --trees DIR

FILE has a request a line: {"package", "version", "query" or "question", "files": the paths that are
wanted, and optionally "also": paths that are welcome, "held_back": whether it is reported apart}.
benchmarks/data/code_questions*.jsonl are such. `--control` asks plain BM25 over whole files,
to compare with. `--chat` says ordinary chat and small talk instead and counts what brings code.

Nothing is downloaded here. DIR holds a folder for each package, NAME-VERSION in lower case, made by
hand outside the project, as in

    pip download --no-deps --only-binary :all: starlette==0.20.4
    unzip starlette-0.20.4-py3-none-any.whl -d DIR/starlette-0.20.4
    npm pack @reduxjs/toolkit@2.2.5
    tar xzf reduxjs-toolkit-2.2.5.tgz --strip-components 1 -C DIR/reduxjs-toolkit-2.2.5
    apt-get download golang-github-labstack-echo-dev librust-rustls-dev      (dpkg -x unpacks them)
    cp -r usr/share/gocode/src/github.com/labstack/echo DIR/echo-4.2.1
    cp -r usr/share/cargo/registry/rustls-0.20.8 DIR/

and without what was built (mobx, @trpc/server: no `dist`).

A path counts when it stands among the first ten that the part prints. No history of git is read:
a clone would hold the answers.
"""

from __future__ import annotations

import json
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from benchmarks.source_trees import PlainRanking, neighbours, read_tree
from ctxmw import ContextMiddleware
from ctxmw.tokens.counter import Counter, counter_for

DATA = Path(__file__).parent / "data"
PATHS = 10
CODE = ("module", "class", "function", "method", "constant", "file")
_PATH = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)*\.\w{1,4}\b")


@dataclass(slots=True)
class Tally:
    """What was measured over the requests of one package."""

    requests: int = 0
    recall: float = 0.0
    """The share of wanted files among the first ten paths, summed up."""
    recall_3: float = 0.0
    some: int = 0
    """Requests with at least one of them."""
    silent: int = 0
    tokens: list[int] = field(default_factory=list)
    near: list[float] = field(default_factory=list)
    """Where one file is wanted, the share of tokens on it or a file it has to do with."""
    items: int = 0
    unwanted: int = 0
    lines: int = 0
    """Files that get a line and no more."""
    lines_unwanted: int = 0
    milliseconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        n = max(1, self.requests)
        return {
            "requests": self.requests,
            "recall at 3": round(100 * self.recall_3 / n, 1),
            "recall at 10": round(100 * self.recall / n, 1),
            "some wanted": round(100 * self.some / n, 1),
            "silent": round(100 * self.silent / n, 1),
            "tokens p50": statistics.median(self.tokens or [0]),
            "tokens near": round(100 * statistics.fmean(self.near or [0]), 1),
            "items": round(self.items / n, 1),
            "items unwanted": round(100 * self.unwanted / max(1, self.items), 1),
            "lines": round(self.lines / n, 1),
            "lines unwanted": round(100 * self.lines_unwanted / max(1, self.lines), 1),
            "prepare ms p50": round(statistics.median(self.milliseconds or [0]), 1),
        }


BENCHMARK = Benchmark(
    name="code_requests",
    about=__doc__,
    data="requests with the files they are about, and the trees of released packages",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, default=DATA / "code_questions.jsonl")
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--package", help="only this one")
    parser.add_argument("--most", type=int, help="requests a package, for a quick look")
    parser.add_argument("--control", action="store_true", help="ask plain BM25 instead")
    parser.add_argument("--chat", action="store_true", help="say what is not about code")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in chosen.data.read_text("utf-8").splitlines()]
    by_package: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if chosen.package in (None, row["package"]):
            by_package[row["package"], row["version"]].append(row)
    told = (
        row
        for (package, version), asked in by_package.items()
        for row in of_package(package, version, asked[: chosen.most], chosen)
    )
    BENCHMARK.tell(told, chosen, [chosen.data])


def of_package(
    package: str, version: str, asked: Sequence[dict[str, Any]], chosen: Any
) -> Iterator[Line]:
    tree = chosen.trees / folder_of(package, version)
    if chosen.control:
        ranking = PlainRanking(read_tree(existing(tree)))
        for name, some in _apart(package, asked):
            yield Line(name, control(ranking, some), table="plain BM25, %")
        return
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), tree) as ctx:
        if chosen.chat:
            yield from chat(ctx, package, show=chosen.show)
            return
        near = neighbours(read_tree(tree), tree)
        for name, some in _apart(package, asked):
            tally = measured(ctx, some, near)
            # What fails among those held back is not looked at.
            shown = chosen.show and not some[0].get("held_back")
            yield Line(name, tally.row(), table="%", notes=tuple(tally.missed) if shown else ())


def _apart(
    package: str, asked: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the requests of a package, then those held back, each with a name."""
    for name, held in ((package, False), (f"{package} (held back)", True)):
        some = [row for row in asked if bool(row.get("held_back")) is held]
        if some:
            yield name, some


def control(ranking: PlainRanking, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return which share of the wanted files is among the first of another ranking."""
    found = [(ranking.first(row.get("query") or row["question"], PATHS), row) for row in rows]
    return {"requests": len(rows)} | {
        f"recall at {most}": round(
            100 * statistics.fmean(_share(first[:most], row["files"]) for first, row in found), 1
        )
        for most in (3, PATHS)
    }


def _share(printed: Iterable[str], wanted: Sequence[str]) -> float:
    return len(set(wanted) & set(printed)) / len(set(wanted))


def folder_of(package: str, version: str) -> str:
    return f"{package.removeprefix('@').replace('/', '-')}-{version}".lower()


@contextmanager
def opened(folder: Path, tree: Path) -> Iterator[ContextMiddleware]:
    """Yield a memory that knows a tree."""
    existing(tree)
    with ContextMiddleware.open(folder / "memory.db", deadline=None) as ctx:
        ctx.index_code(tree, project="bench")
        yield ctx


def existing(tree: Path) -> Path:
    if not tree.is_dir():
        raise SystemExit(f"there is no folder {tree}: see the beginning of this file.")
    return tree


def measured(
    ctx: ContextMiddleware, rows: Iterable[Mapping[str, Any]], near: Mapping[str, set[str]]
) -> Tally:
    tally = Tally()
    count = counter_for()
    for row in rows:
        began = time.perf_counter()
        text = row.get("query") or row["question"]
        context = said(ctx, text)
        tally.milliseconds.append(1000 * (time.perf_counter() - began))
        wanted, welcome = set(row["files"]), {*row["files"], *row.get("also", ())}
        shares = spent(context.part, near.keys(), count)
        printed = list(shares)[:PATHS]
        hit = wanted & set(printed)
        tally.requests += 1
        tally.recall += len(hit) / len(wanted)
        tally.recall_3 += len(wanted & set(printed[:3])) / len(wanted)
        tally.some += bool(hit)
        tally.silent += not printed
        tally.tokens.append(context.tokens)
        if len(wanted) == 1 and shares:
            (gold,) = wanted
            close = {gold} | near[gold] if gold in near else {gold}
            tally.near.append(
                sum(tokens for path, tokens in shares.items() if path in close)
                / sum(shares.values())
            )
        for one in context.used:
            if one.kind in CODE and one.shown != "none":
                wrong = path_of(one.name) not in welcome
                # A file that gets but a line is told apart from what is shown of others.
                if one.kind == "file" and "\n" not in text_of(context.part, path_of(one.name)):
                    tally.lines += 1
                    tally.lines_unwanted += wrong
                else:
                    tally.items += 1
                    tally.unwanted += wrong
        if not hit:
            tally.missed.append(f"{text[:110]!r} wants {sorted(wanted)}, got {printed[:5]}")
    return tally


def chat(ctx: ContextMiddleware, package: str, *, show: bool) -> Iterator[Line]:
    for file in sorted([DATA / "ordinary_chat.txt", *DATA.glob("small_talk_*.txt")]):
        lines = file.read_text("utf-8").splitlines()
        brought = tuple(line for line in lines if said(ctx, line).part)
        figures = {"lines": len(lines), "bring code": round(100 * len(brought) / len(lines), 1)}
        yield Line(f"{package}: {file.stem}", figures, "%", brought if show else ())


def said(ctx: ContextMiddleware, text: str) -> Any:
    messages = [{"role": "user", "content": text}]
    return ctx.session(project="bench").prepare(messages, capture=False).context


def path_of(name: str) -> str:
    """Return the file of an item: "login in shop/auth.py:12", "shop/auth.py"."""
    return name.rpartition(" in ")[2].partition(":")[0]


def text_of(part: str, path: str) -> str:
    """Return what is printed of a file."""
    _, _, rest = part.partition(f"\n- {path}: ")
    return rest.partition("\n- ")[0].partition("\n</")[0].partition("\n##")[0]


def spent(part: str, known: Iterable[str], count: Counter) -> dict[str, float]:
    """Return the tokens on each file, in the order in which they are printed first.

    A line belongs to the file that began the item it stands in.
    """
    paths = frozenset(known)
    shares: dict[str, float] = {}
    owner: str | None = None
    for line in part.splitlines():
        if line.startswith(("- ", "* ")):
            found = [path for path in _PATH.findall(line) if path in paths]
            owner = found[0] if found else None
        if owner is not None:
            shares[owner] = shares.get(owner, 0.0) + count(line)
    return shares


if __name__ == "__main__":
    main()

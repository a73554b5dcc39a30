"""Whether requests in anybody's words bring the code they are about, within a turn's part.

    python -m benchmarks.code_requests --data FILE --trees DIR [--package NAME] [--most N] [--show]
    python -m benchmarks.code_requests --chat --trees DIR

FILE has a request a line: {"package", "version", "query" or "question", "files": the paths that are
wanted, and optionally "also": paths that are welcome, "held_back": whether it is reported apart}.
benchmarks/data/code_questions.jsonl is one. `--chat` says ordinary chat and small talk instead and
counts what brings code.

Nothing is downloaded here. DIR holds a folder for each package, NAME-VERSION in lower case, made by
hand outside the project, as in

    pip download --no-deps --only-binary :all: starlette==0.20.4
    unzip starlette-0.20.4-py3-none-any.whl -d DIR/starlette-0.20.4
    npm pack @reduxjs/toolkit@2.2.5
    tar xzf reduxjs-toolkit-2.2.5.tgz --strip-components 1 -C DIR/reduxjs-toolkit-2.2.5

A path counts when it stands among the first ten that the part prints. No history of git is read:
a clone would hold the answers.
"""

from __future__ import annotations

import ast
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
from posixpath import normpath
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.tokens.counter import Counter, counter_for

DATA = Path(__file__).parent / "data"
PATHS = 10
CODE = ("module", "class", "function", "method", "constant", "file")
_PATH = re.compile(r"[\w@.+-]+(?:/[\w@.+-]+)*\.\w{1,4}\b")
_FROM = re.compile(r"""(?:from|import|require\()\s*["'](\.[^"']+)["']""")


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
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), tree) as ctx:
        if chosen.chat:
            yield from chat(ctx, package, show=chosen.show)
            return
        near = neighbours(tree)
        for apart in sorted({bool(row.get("held_back")) for row in asked}):
            some = [row for row in asked if bool(row.get("held_back")) is apart]
            name = f"{package} (held back)" if apart else package
            tally = measured(ctx, some, near)
            # What fails among those held back is not looked at.
            missed = tuple(tally.missed) if chosen.show and not apart else ()
            yield Line(name, tally.row(), table="%", notes=missed)


def folder_of(package: str, version: str) -> str:
    return f"{package.removeprefix('@').replace('/', '-')}-{version}".lower()


@contextmanager
def opened(folder: Path, tree: Path) -> Iterator[ContextMiddleware]:
    """Yield a memory that knows a tree."""
    if not tree.is_dir():
        raise SystemExit(f"there is no folder {tree}: see the beginning of this file.")
    with ContextMiddleware.open(folder / "memory.db", deadline=None) as ctx:
        ctx.index_code(tree, project="bench")
        yield ctx


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


def neighbours(tree: Path) -> dict[str, set[str]]:
    """Return for each file of a tree those it imports and those that import it, read anew here."""
    files = {
        file.relative_to(tree).as_posix(): file.read_text("utf-8", errors="replace")
        for file in sorted(tree.rglob("*"))
        if file.suffix in (".py", ".ts", ".tsx", ".js", ".mjs", ".jsx") and file.is_file()
    }
    modules = {re.sub(r"(/__init__)?\.py$", "", path).replace("/", "."): path for path in files}
    near: dict[str, set[str]] = {path: set() for path in files}
    for path, text in files.items():
        targets = python(path, text, modules) if path.endswith(".py") else script(path, text, files)
        for target in targets:
            near[path].add(target)
            near[target].add(path)
    return near


def python(path: str, text: str, modules: Mapping[str, str]) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    package = path.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (modules[name] for name in names if name in modules)


def script(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    folder = path.rpartition("/")[0] or "."
    for spelled in _FROM.findall(text):
        target = normpath(f"{folder}/{spelled}")
        ends = ("", ".ts", ".tsx", ".js", "/index.ts", "/index.js")
        yield from [target + end for end in ends if target + end in files][:1]


if __name__ == "__main__":
    main()

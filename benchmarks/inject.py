"""What hooks, editors and programs wait for: ctxmw from a standing start.

    python -m benchmarks.inject [--files 500] [--memories 1000] [--rounds 7] [--beside FOLDER]

In a project of that many files: CPU of the whole process, of user and system together: what a hook
that runs before every prompt takes from the machine, however busy that is. `inject` is measured
alone, and with `ctxmw serve` at hand; of the latter also how long its answer takes. Of a program:
`import ctxmw`, and all up to the first prompt of a new memory.
`--beside` measures another checkout of ctxmw in the same run, round by round.

Modules are compiled already, as they are after any first start; one line tells what it costs where
Python may not keep them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.code_index import copied
from benchmarks.report import Benchmark, Line
from benchmarks.timing import keeps_compiled, percentiles

MESSAGE = "How does the parser read a token from the stream?"
GOALS = {
    "inject, with serve": 250.0,
    "inject, alone": 250.0,
    "mcp, to its first answer": 800.0,
    "serve, an answer": 50.0,
    "import ctxmw": 300.0,
    "import, open, first prompt": 500.0,
}
ANSWERS = 20
"""How often a process that serves is asked in a round."""
NOT_LOADED = ("asyncio", "chromadb", "http.client", "mcp", "starlette", "tree_sitter", "wordllama")


BENCHMARK = Benchmark(
    name="inject",
    about=__doc__,
    data="Python files of the installed packages, and made-up memories",
    seed=7,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--beside", type=Path, help="another checkout of ctxmw")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder / "code", chosen.files)
        trees = {"": None, **({"beside: ": chosen.beside} if chosen.beside else {})}
        places = {
            told: Place(folder, tree, home=folder / f"home{at}")
            for at, (told, tree) in enumerate(trees.items())
        }
        for place in places.values():
            place.fill(chosen.memories)
            place.cpu(*place.inject)  # compiles what is compiled once
        BENCHMARK.tell(started(places, chosen.rounds), chosen)


def started(places: Mapping[str, Place], rounds: int) -> Iterator[Line]:
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for told, place in places.items():
            for what, taken in measured(place):
                times.setdefault(told + what, []).append(taken)
    own = places[""]
    what = "inject, where compiled modules cannot be kept"
    times[what] = [own.cpu(*own.inject, environment=_UNCOMPILED) for _ in range(rounds)]
    for what, some in times.items():
        yield Line(what, {**percentiles(some), "goal p50": GOALS.get(what)}, table="ms of CPU")
    heavy = ", ".join(loaded(own)) or "none"
    yield Line("heavy modules loaded by inject", {"which": heavy}, notes=(", ".join(NOT_LOADED),))


class Place:
    """A project, a store, and a checkout of ctxmw to ask."""

    def __init__(self, folder: Path, tree: Path | None, home: Path) -> None:
        self.folder = folder
        # Each has a store of its own: an older checkout cannot read what a later one writes.
        self.store = home.with_suffix(".db")
        where = ["--store", str(self.store), "--project", "shop"]
        self.inject = [sys.executable, "-m", "ctxmw", "inject", MESSAGE, *where]
        self.serve = [sys.executable, "-m", "ctxmw", "serve", *where]
        self.mcp = [sys.executable, "-m", "ctxmw", "mcp", *where]
        self.home = home
        self._tree = tree

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        own = {"CTXMW_HOME": str(self.home), "CTXMW_INDEX_FOLDERS": "false"}
        kept = keeps_compiled(self.folder) if more is None else dict(more)
        paths = [self._tree, self._tree / "adapters"] if self._tree else []
        return {
            **os.environ,
            **own,
            **kept,
            **({"PYTHONPATH": os.pathsep.join(map(str, paths))} if paths else {}),
        }

    def fill(self, memories: int) -> None:
        """Make the store: memories, and the code of the project."""
        arguments = [str(self.store), str(memories), str(self.folder / "code")]
        subprocess.run(
            [sys.executable, "-c", _FILL, *arguments],
            check=True,
            cwd=self.folder,
            env=self.environment(),
        )

    def cpu(self, *command: str, environment: Mapping[str, str] | None = None) -> float:
        """Return the milliseconds of CPU that a process takes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder / "code",
            env=self.environment(environment),
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def measured(place: Place) -> Iterator[tuple[str, float]]:
    """Yield what one round of each takes."""
    python = [sys.executable, "-c"]
    yield "python alone", place.cpu(*python, "pass")
    yield "import ctxmw", place.cpu(*python, "import ctxmw")
    with tempfile.TemporaryDirectory() as folder:
        yield "import, open, first prompt", place.cpu(*python, _FIRST_PROMPT, f"{folder}/memory.db")
    yield "inject, alone", place.cpu(*place.inject)
    yield "mcp, to its first answer", first_answer(place)
    with serving(place) as served:
        if served is not None:
            yield "inject, with serve", place.cpu(*place.inject)
            before = spent_by(served)
            yield "serve, an answer by the clock", answered(place)
            yield "serve, an answer", (spent_by(served) - before) / ANSWERS


def first_answer(place: Place) -> float:
    """Return the CPU that an MCP server takes until it has said what it is."""
    asked = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # It ends when its input does, after it has answered.
    subprocess.run(
        place.mcp,
        input=f"{line}\n",
        text=True,
        check=True,
        capture_output=True,
        cwd=place.folder / "code",
        env=place.environment(),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


@contextmanager
def serving(place: Place) -> Iterator[int | None]:
    """Have the number of a process that serves until the end of the block; None: it cannot."""
    process = subprocess.Popen(
        place.serve,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=place.folder / "code",
        env=place.environment(),
    )
    try:
        while process.poll() is None and not list(place.home.glob("serving/*.json")):
            time.sleep(0.05)
        yield process.pid if process.poll() is None else None
    finally:
        process.terminate()
        process.wait()


def spent_by(process: int) -> float:
    """Return the milliseconds of CPU that a process has taken so far (Linux)."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = int(after_name[11]) + int(after_name[12])
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def answered(place: Place) -> float:
    """Return how long one of the answers of a process that serves takes, by the clock."""
    code = (
        "import sys, time\n"
        "from ctxmw.cli.main import parser_for\n"
        "from ctxmw.cli.commands.inject import _question\n"
        "from ctxmw.cli.resident.caller import ask\n"
        "question = _question(parser_for(sys.argv[1:]).parse_args(sys.argv[1:]))\n"
        "began = time.perf_counter()\n"
        f"assert all(ask(question) for _ in range({ANSWERS}))\n"
        f"print(1000 * (time.perf_counter() - began) / {ANSWERS})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *place.inject[3:]],
        check=True,
        capture_output=True,
        text=True,
        cwd=place.folder / "code",
        env=place.environment(),
    )
    return float(done.stdout)


_FIRST_PROMPT = """
import sys
from ctxmw import ContextMiddleware
with ContextMiddleware.open(sys.argv[1], user="local") as ctx:
    ctx.session("first").prepare([{"role": "user", "content": "How should I write tests?"}])
"""
_FILL = """
import sys
from random import Random
from ctxmw import ContextMiddleware
store, memories, folder = sys.argv[1:]
random = Random(7)
words = [f"{one}{two}" for one in ("token", "order", "cart", "user") for two in range(500)]
with ContextMiddleware.open(store, user="local") as ctx:
    for number in range(int(memories)):
        ctx.remember(f"Fact {number}: " + " ".join(random.choices(words, k=8)) + ".")
    ctx.index_code(folder, project="shop")
"""
_UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.devnull}


def loaded(place: Place) -> list[str]:
    """Return which of the heavy modules an inject imports after all."""
    code = (
        "import sys\nfrom ctxmw.cli.main import main\n"
        "main(sys.argv[1:])\n"
        f"print(*[name for name in {NOT_LOADED!r} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *place.inject[3:]]
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=place.folder / "code",
        env=place.environment(),
    )
    return done.stderr.split()


if __name__ == "__main__":
    main()

"""What `ctxmw inject` costs a shell: cold start to output, over many memories.

python -m benchmarks.inject [--memories 10000] [--rounds 7]

CPU of the whole process, of user and system together: what a hook that runs before every prompt
takes from the machine, however busy that is. Modules are compiled already, as they are after any
first start; one line tells what it costs where Python may not keep them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from benchmarks.prepare import fill_memories
from benchmarks.search import Zipf
from benchmarks.timing import keeps_compiled, percentile, report
from ctxmw import ContextMiddleware

MESSAGE = "How does the AuthService check a login token?"
GOAL = 1200.0
NOT_LOADED = ("asyncio", "chromadb", "http.client", "mcp", "starlette", "tree_sitter", "wordllama")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        random = Random(7)
        with ContextMiddleware.open(path) as ctx:
            fill_memories(ctx, chosen.memories, Zipf(random, 17_000), random)
        where = ["--store", str(path), "--project", "shop"]
        python = [sys.executable, "-c"]
        inject = [sys.executable, "-m", "ctxmw", "inject", MESSAGE, *where]
        # The first search of a store leaves a copy of its index there; the first of a machine, a
        # copy of the token table and the compiled modules. Nobody waits for these twice.
        first = cpu(inject, folder)
        print(f"{chosen.memories} memories; CPU of a process")
        steps = {
            "python alone": [*python, "pass"],
            "ctxmw --version (imports the core)": [sys.executable, "-m", "ctxmw", "--version"],
            "... and the settings": [*python, "import ctxmw.settings.settings"],
            "... and opens the store": [*python, _OPEN.format(path=str(path))],
            "ctxmw inject, cold start to output": inject,
        }
        for name, command in steps.items():
            times = [cpu(command, folder) for _ in range(chosen.rounds)]
            print(report(name, times))
        reached = "reached" if percentile(times, 0.5) < GOAL else "missed"
        print(f"the very first inject, which compiles every module: {first:.0f} ms")
        print(f"goal {GOAL:.0f} ms at the median: {reached}")
        uncompiled = [cpu(inject, folder, _UNCOMPILED) for _ in range(chosen.rounds)]
        print(report("where compiled modules cannot be kept", uncompiled))
        print(f"loaded on the way: {', '.join(loaded(path)) or 'none'} of {', '.join(NOT_LOADED)}")


_OPEN = (
    "from ctxmw.settings.settings import Settings\n"
    "with Settings.load(store={path!r}).open() as ctx:\n    pass"
)
_UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.devnull}


def cpu(command: list[str], folder: str, environment: dict[str, str] | None = None) -> float:
    """Return the milliseconds of CPU that a process takes."""
    chosen = os.environ | (environment or keeps_compiled(Path(folder)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=chosen)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def loaded(path: Path) -> list[str]:
    """Return which of the heavy modules an inject imports after all."""
    code = (
        "import sys\nfrom ctxmw.cli.main import main\n"
        f"main(['inject', {MESSAGE!r}, '--store', {str(path)!r}])\n"
        f"print(*[name for name in {NOT_LOADED!r} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=path.parent)
    return done.stderr.split()


if __name__ == "__main__":
    main()

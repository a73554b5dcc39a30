"""How long it takes to index a project, to see one change, and to hear of a save.

    python -m benchmarks.code_index [--files 1000] [--saves 40]

Copies that many Python files of the installed packages into a folder and indexes it.
"""

from __future__ import annotations

import shutil
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.report import Benchmark, Line
from benchmarks.timing import percentiles
from ctxmw import ContextMiddleware

BENCHMARK = Benchmark(
    name="code_index", about=__doc__, data="Python files of the installed packages", seed=7
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--saves", type=int, default=40)
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen.files, chosen.saves), chosen)


def measured(files: int, saves: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = copied(folder / "code", files)
        yield Line("copied", {"files": files, "MB": round(size / 1e6, 1)})
        with ContextMiddleware.open(folder / "memory.db") as ctx:
            yield from indexed(ctx, folder / "code")
            yield loaded(folder)
            yield saved(ctx, folder / "code", saves)


def copied(folder: Path, n: int) -> int:
    root = Path(sysconfig.get_paths()["purelib"])
    files = sorted(path for path in root.rglob("*.py") if path.stat().st_size < 500_000)
    size = 0
    for number, path in enumerate(Random(BENCHMARK.seed).sample(files, min(n, len(files)))):
        target = folder / f"part{number % 50}" / f"{path.stem}_{number}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        size += path.stat().st_size
    return size


def indexed(ctx: ContextMiddleware, folder: Path) -> Iterator[Line]:
    for what in ("first", "again, nothing changed", "again, one file changed"):
        if what.endswith("one file changed"):
            file = next(folder.rglob("*.py"))
            file.write_text(
                file.read_text(encoding="utf-8") + "\n\ndef added(): pass\n", encoding="utf-8"
            )
        wall, cpu = time.perf_counter(), time.process_time()
        found = ctx.index_code(folder, project="many")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        figures = {
            "s": round(wall, 2),
            "s of CPU": round(cpu, 2),
            "files": found.files,
            "definitions": found.entities,
            "read": found.read,
            "left out": len(found.skipped),
        }
        yield Line(what, figures, table="indexing")


def loaded(folder: Path) -> Line:
    with ContextMiddleware.open(folder / "memory.db") as other:
        cpu = time.process_time()
        other.session(project="many").prepare([{"role": "user", "content": "What is `added`?"}])
        return Line("first prompt of a process", {"s of CPU": round(time.process_time() - cpu, 2)})


def saved(ctx: ContextMiddleware, folder: Path, n: int) -> Line:
    """Measure from the end of a save to the activity that a conversation can read."""
    heard: dict[str, float] = {}
    file = folder / "saved.py"
    with ctx.watch(folder, project="many") as watch:
        tell = watch._notice

        def told(activity: dict[str, object], **who: str) -> None:
            tell(activity, **who)
            heard.update(dict.fromkeys(map(str, activity["symbols"]), time.perf_counter()))

        watch._notice = told
        times = []
        for number in range(n):
            file.write_text(f"def saved_{number}(): pass\n", encoding="utf-8")
            began = time.perf_counter()
            while f"saved_{number}" not in heard and time.perf_counter() - began < 5:
                time.sleep(0.001)
            times.append(1000 * (heard[f"saved_{number}"] - began))
            time.sleep(0.1)
    return Line("save to activity", percentiles(times), table="ms")


if __name__ == "__main__":
    main()

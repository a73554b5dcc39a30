"""How long it takes to index a project, to see one change, and to hear of a save.

    python -m benchmarks.code_index [--files 1000] [--saves 40]

Copies that many Python files of the installed packages into a folder and indexes it.
"""

from __future__ import annotations

import argparse
import shutil
import sysconfig
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.timing import report
from ctxmw import ContextMiddleware


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--saves", type=int, default=40)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = copied(folder / "code", chosen.files)
        print(f"{chosen.files} Python files, {size / 1e6:.1f} MB")
        with ContextMiddleware.open(folder / "memory.db") as ctx:
            indexed(ctx, folder / "code")
            loaded(folder)
            saved(ctx, folder / "code", chosen.saves)


def copied(folder: Path, n: int) -> int:
    root = Path(sysconfig.get_paths()["purelib"])
    files = sorted(path for path in root.rglob("*.py") if path.stat().st_size < 500_000)
    size = 0
    for number, path in enumerate(Random(7).sample(files, min(n, len(files)))):
        target = folder / f"part{number % 50}" / f"{path.stem}_{number}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        size += path.stat().st_size
    return size


def indexed(ctx: ContextMiddleware, folder: Path) -> None:
    for what in ("first", "again, nothing changed", "again, one file changed"):
        if what.endswith("one file changed"):
            file = next(folder.rglob("*.py"))
            file.write_text(
                file.read_text(encoding="utf-8") + "\n\ndef added(): pass\n", encoding="utf-8"
            )
        wall, cpu = time.perf_counter(), time.process_time()
        found = ctx.index_code(folder, project="many")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        told = f"{found.files} files, {found.entities} definitions, {found.read} read"
        print(f"{what:<26} {wall:6.2f} s, {cpu:6.2f} s CPU: {told}, {len(found.skipped)} left out")


def loaded(folder: Path) -> None:
    with ContextMiddleware.open(folder / "memory.db") as other:
        cpu = time.process_time()
        other.session(project="many").prepare([{"role": "user", "content": "What is `added`?"}])
        print(f"first prompt of a process  {time.process_time() - cpu:6.2f} s CPU")


def saved(ctx: ContextMiddleware, folder: Path, n: int) -> None:
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
    print(report("save to activity", times))


if __name__ == "__main__":
    main()

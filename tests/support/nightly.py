"""New random cases of the stateful test: `make nightly CASES=50000`.

The suite repeats the same cases every time; here they are drawn anew. A case that fails is made
small, printed, and kept in .hypothesis, where the next run begins with it. Then it is written down
as a plain test.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from pathlib import Path

from hypothesis import settings

from tests.behaviour.test_session_machine import Conversations, of_two_processes, run
from tests.support.exploring import exploring

BATCH = 500
"""Hypothesis remembers every case of a batch, and gets slower with each."""
STEPS = 40
APART = 500
"""In one case of so many the second opening is in a process of its own: that takes longer."""
IN_MEMORY = Path("/dev/shm")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.nightly", description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000, help="how many, 2000 unless told")
    cases = parser.parse_args(arguments).cases
    settings.register_profile("nightly", exploring())
    settings.load_profile("nightly")
    folder = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="ctxmw-nightly-", dir=folder) as home:
        os.environ |= {"CTXMW_HOME": home, "CTXMW_DEADLINE": "0", "TMPDIR": home}
        tempfile.tempdir = home
        # Most of what there is stays: to look through it again and again takes a tenth of the time.
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)
        explore(Conversations, cases)
        with of_two_processes() as conversations:
            explore(conversations, -(-cases // APART))
    print("Nothing was found.")


def explore(machine: type[Conversations], cases: int) -> None:
    """Run so many cases, and say how many there were."""
    ran, began = 0, time.monotonic()

    class Counted(machine):
        def teardown(self) -> None:
            nonlocal ran
            ran += 1
            super().teardown()

    # A case that fails is printed and kept under this name.
    Counted.__name__ = Counted.__qualname__ = machine.__name__
    for left in range(cases, 0, -BATCH):
        run(Counted, examples=min(left, BATCH), steps=STEPS)
        took = time.monotonic() - began
        print(f"{machine.__name__}: {ran} cases, {ran / took:.1f} a second", flush=True)


if __name__ == "__main__":
    main()

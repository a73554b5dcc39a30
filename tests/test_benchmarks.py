"""Every benchmark can be started: it imports, and tells what it takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_RUN = ("__init__", "stores", "timing")
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in NOT_RUN)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_starts_and_tells_what_it_takes(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout

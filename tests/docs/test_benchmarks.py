"""Every benchmark can be started: it imports, and tells what it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.timing import keeps_compiled

ROOT = Path(__file__).parents[2]
NOT_RUN = ("__init__", "stores", "timing")
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in NOT_RUN)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_starts_and_tells_what_it_takes(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout


def test_a_cold_start_is_measured_with_modules_that_are_compiled_already(tmp_path):
    (tmp_path / "greeting.py").write_text("print('hello')\n")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | keeps_compiled(tmp_path)
    command = [sys.executable, "-c", "import greeting"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert list((tmp_path / "compiled").rglob("greeting.*.pyc"))

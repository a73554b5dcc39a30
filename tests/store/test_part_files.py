"""A file comes into its place whole, and what a killed process left is cleared away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from ctxmw import ContextMiddleware
from ctxmw.store.part_files import part_of

KILLED = """
import sys
from pathlib import Path
from ctxmw.store.part_files import part_of
with part_of(Path(sys.argv[1])) as file:
    file.write("half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.part"))


def _write_half(file: IO[str]) -> None:
    file.write("half")
    raise OSError("the disk is full")


def leave_a_part(path: Path) -> None:
    """Have a process killed while it writes."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "writing\n"
        finally:
            process.kill()
    assert len(parts(path.parent)) == 1


def test_the_next_export_to_a_place_removes_what_a_killed_one_left(tmp_path):
    leave_a_part(tmp_path / "backup.jsonl")
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.export(tmp_path / "backup.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["backup.jsonl"]


def test_what_is_being_written_is_left_alone(tmp_path):
    path = tmp_path / "backup.jsonl"
    with part_of(path) as first:
        first.write("first")
        with part_of(path) as second:
            second.write("second")
            assert len(parts(tmp_path)) == 2
        assert path.read_text() == "second"
        assert len(parts(tmp_path)) == 1
    assert path.read_text() == "first"
    assert parts(tmp_path) == []


def test_files_of_others_are_left_alone(tmp_path):
    others = ("backup.jsonl.part", "backup.jsonl12345678.part", "other.jsonl.ctxmw-12345678.part")
    for name in others:
        (tmp_path / name).write_text("mine")
    with part_of(tmp_path / "backup.jsonl") as file:
        file.write("whole")
    assert {path.name for path in parts(tmp_path)} == set(others)


def test_a_failure_changes_nothing_and_leaves_nothing(tmp_path):
    path = tmp_path / "backup.jsonl"
    path.write_text("before")
    with pytest.raises(OSError, match="full"), part_of(path) as file:
        _write_half(file)
    assert path.read_text() == "before"
    assert parts(tmp_path) == []
